package grpcserver

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// comesBack exports a conversation, imports it under another name, and holds the copy's export to the original's.
func comesBack(t *testing.T, s *sidecar, id, name string) {
	t.Helper()
	first := export(t, s, id)
	if _, err := importAs(t.Context(), s, name, first, 1000); err != nil {
		t.Fatal(err)
	}
	if second := export(t, s, name); !bytes.Equal(first, second) {
		t.Errorf("the copy exports to other bytes:\n%s", firstDifference(first, second))
	}
}

// TestServer_ExportImport_Rewound_ComesBack: what was taken back, and what was said after it.
func TestServer_ExportImport_Rewound_ComesBack(t *testing.T) {
	for name, from := range map[string]int32{"a unit": 40, "a result": 41, "a summary": 10, "all but the system": 1, "all": 0} {
		t.Run(name, func(t *testing.T) {
			s, ctx := start(t, realEngine(t)), t.Context()
			worked(t, s, "c", 20)
			if _, err := s.contexts.CompactConversation(ctx, &pb.CompactConversationRequest{ConversationId: "c"}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.contexts.RewindConversation(ctx, &pb.RewindConversationRequest{ConversationId: "c", FromIndex: from}); err != nil {
				t.Fatal(err)
			}
			comesBack(t, s, "c", "copy")
			if name == "a result" { // the call waits for another one
				result := appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "k", Output: &pb.ToolResult_Text{Text: "other"}}))
				mustAppend(t, s, result)
			}
			pinned := userText("go on otherwise")
			pinned.Pinned = true
			mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: "c", Message: pinned})
			mustAppend(t, s, appendOf(pb.Role_ROLE_ASSISTANT, callPart("k", "read")))
			mustAppend(t, s, appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "k"})))
			mustBuild(t, s, &pb.BuildContextRequest{ConversationId: "c"})
			comesBack(t, s, "c", "again")
		})
	}
}

// writer is a model that writes the same summary again and again.
type writer struct{}

func (writer) Complete(context.Context, summarize.Call) (summarize.Answer, error) {
	return summarize.Answer{Text: `{"summary":"` + strings.Repeat("It was done. ", 40) + `"}`}, nil
}

// TestServer_ExportImport_Draft_IsLeftBehind: what is being prepared belongs to a process, not to an export.
func TestServer_ExportImport_Draft_IsLeftBehind(t *testing.T) {
	s := start(t, realEngine(t, func(o *engine.Options) {
		o.Summaries = summarize.New(summarize.Options{Providers: map[string]summarize.Model{"x": writer{}}, Models: []string{"x/y"}})
		t.Cleanup(o.Summaries.Close)
	}))
	_, err := s.conversations.CreateConversation(t.Context(), &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: "c", Policy: &pb.Policy{Fit: &pb.FitPolicy{MaxContextTokens: new(int32(4000))}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for state := pb.CompactionState(0); state != pb.CompactionState_COMPACTION_STATE_READY; {
		mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: "c", Message: userText(strings.Repeat("we go on ", 20))})
		built := mustBuild(t, s, &pb.BuildContextRequest{ConversationId: "c"})
		if state = built.GetCompaction().GetState(); built.GetCompaction().GetSummaryId() != "" {
			t.Fatal("published before it was seen")
		}
		time.Sleep(time.Millisecond)
	}
	comesBack(t, s, "c", "copy")
}
