package soak

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// serveModel serves a model that writes summaries, mostly, and returns the flags of a sidecar that asks it.
func serveModel(t *testing.T) []string {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		n := asked.Add(1)
		time.Sleep(time.Duration(n%20) * 10 * time.Millisecond)
		if n%7 == 6 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"{\"summary\":\"The agent read, and goes on.\"}"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(server.Close)
	return []string{"--openai-url", server.URL, "--summary-models", "openai/m", "--default-max-wait", "100ms"}
}

// note counts what happened to the window.
func (a *agent) note(events []*pb.LifecycleEvent) {
	for _, e := range events {
		switch e.GetType() {
		case pb.EventType_EVENT_TYPE_SUMMARIZED:
			a.done.summaries.Add(1)
		case pb.EventType_EVENT_TYPE_PRUNED:
			a.done.pruned.Add(1)
		}
	}
}

// compact asks for a smaller view.
func (a *agent) compact(ctx context.Context) error {
	if len(a.record) == 0 {
		return nil
	}
	reply, err := a.Context.CompactConversation(ctx, &pb.CompactConversationRequest{
		ConversationId: a.conversation, Options: &pb.CompactionOptions{KeepRecent: new(a.random.Int32N(10))},
	})
	if process.Reason(err) == "NOTHING_TO_COMPACT" {
		return nil
	}
	if err != nil {
		return err
	}
	a.done.compactions.Add(1)
	a.note(reply.GetEvents())
	return nil
}

// rewind takes back the last turns: they stay on record.
func (a *agent) rewind(ctx context.Context) error {
	if len(a.turns) < 2 {
		return nil
	}
	a.turns = a.turns[:len(a.turns)-1-a.random.IntN(min(3, len(a.turns)-1))]
	from := a.turns[len(a.turns)-1]
	_, err := a.Context.RewindConversation(ctx, &pb.RewindConversationRequest{ConversationId: a.conversation, FromIndex: from})
	if err != nil {
		return err
	}
	a.turns = a.turns[:len(a.turns)-1]
	a.done.rewinds.Add(1)
	return a.turn(ctx)
}
