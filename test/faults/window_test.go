package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// models is a server of the models that write summaries: it outlives the sidecars.
type models struct {
	url   string
	calls atomic.Int64
	// asked, if set, is called before each answer.
	asked atomic.Pointer[func()]
}

// What a model's summary begins and ends with: half of one is none.
const (
	summaryBegins = "Summary-begins."
	summaryEnds   = "Summary-ends."
)

func serveModels(t *testing.T) *models {
	t.Helper()
	m := &models{}
	said := summaryBegins + " " + strings.Repeat("The parts were read. ", 40) + summaryEnds
	summary, err := json.Marshal(map[string]string{"summary": said})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		n := m.calls.Add(1)
		if asked := m.asked.Load(); asked != nil {
			(*asked)()
		}
		time.Sleep(time.Duration(n%8) * 5 * time.Millisecond)
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{
			"message": map[string]string{"role": "assistant", "content": string(summary)}, "finish_reason": "stop",
		}}})
	}))
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

func (m *models) flags() []string {
	return []string{"--openai-url", m.url, "--summary-models", "openai/m"}
}

// compact asks for a compaction that leaves little.
func (o *op) compact(ctx context.Context, c *process.Client) (outcome, error) {
	reply, err := c.Context.CompactConversation(ctx, &pb.CompactConversationRequest{
		ConversationId: o.conversation, RequestId: o.request, Options: &pb.CompactionOptions{KeepRecent: new(int32(2))},
	})
	return outcome{first: reply.GetResult().GetCompactedRange().GetStartIndex(), revision: reply.GetRevision(), duplicate: reply.GetDuplicate()}, err
}

// rewind takes back what the writer said last, and what others have said since.
func (o *op) rewind(ctx context.Context, c *process.Client) (outcome, error) {
	reply, err := c.Context.RewindConversation(ctx, &pb.RewindConversationRequest{
		ConversationId: o.conversation, RequestId: o.request, FromIndex: o.target,
	})
	return outcome{first: reply.GetStartIndex(), revision: reply.GetRevision(), duplicate: reply.GetDuplicate()}, err
}

// search notes the needles in a line of an export.
func (s *state) search(line []byte) {
	for _, found := range needles.FindAll(line, -1) {
		s.needles[string(found)] = true
	}
}

// summary demands that one is whole.
func (s *state) summary(e *edit) error {
	s.summaries++
	text := e.Summary.Text
	if text == "" {
		return fmt.Errorf("the summary of messages %d-%d has no text", e.Range.Start, e.Range.End-1)
	}
	if e.Summary.Model == "" {
		return nil
	}
	s.models++
	if !strings.HasPrefix(text, summaryBegins) || !strings.Contains(text, summaryEnds) {
		return fmt.Errorf("half a summary of messages %d-%d: %.80q", e.Range.Start, e.Range.End-1, text)
	}
	return nil
}
