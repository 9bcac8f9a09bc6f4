package grpcserver

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// worked is a conversation of the system's message, a task, and so many calls with long results, under a policy with settings
// of its own for the window.
func worked(t *testing.T, s *sidecar, id string, calls int) {
	t.Helper()
	_, err := s.conversations.CreateConversation(t.Context(), &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: id, Policy: &pb.Policy{
		Pruning:    &pb.PruningPolicy{ProtectTokens: new(int32(500)), MinimumTokens: new(int32(500)), ProtectedTools: &pb.NameList{}},
		Compaction: &pb.CompactionPolicy{KeepRecent: new(int32(6)), PromptId: new("")},
		Rewrite:    &pb.RewritePolicy{Mode: pb.RewriteMode_REWRITE_MODE_EAGER},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	say := func(role pb.Role, p *pb.Part) {
		mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: id, Message: &pb.Message{Role: role, Parts: []*pb.Part{p}}})
	}
	say(pb.Role_ROLE_SYSTEM, textPart("be careful"))
	say(pb.Role_ROLE_USER, textPart("Read the parts. You must never delete a file."))
	for i := range calls {
		say(pb.Role_ROLE_ASSISTANT, callPart("k", "read"))
		say(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "k", Output: &pb.ToolResult_Text{
			Text: strings.Repeat(fmt.Sprintf("part %d of /srv/data%d.csv was read. ", i, i), 12),
		}}))
		mustBuild(t, s, &pb.BuildContextRequest{ConversationId: id})
	}
}

func listed(t *testing.T, s *sidecar, id string, view pb.ListView) *pb.ListMessagesResponse {
	t.Helper()
	out, err := s.conversations.ListMessages(t.Context(), &pb.ListMessagesRequest{ConversationId: id, View: view})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestServer_CompactConversation_SummaryReachesEverything(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	worked(t, s, "c", 20)
	req := &pb.CompactConversationRequest{ConversationId: "c", RequestId: "r"}
	first, err := s.contexts.CompactConversation(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	made := first.GetResult().GetSummaries()
	if len(made) != 1 || made[0].GetModel() != "" || !strings.Contains(made[0].GetText(), "never delete a file") || first.GetResult().GetTokensSaved() <= 0 {
		t.Fatalf("made %v", first)
	}
	summary := made[0]
	if r := first.GetResult().GetCompactedRange(); r.GetStartIndex() > summary.GetStartIndex() || r.GetEndIndex() != summary.GetEndIndex() {
		t.Errorf("range %v of %v", r, summary)
	}
	if e := first.GetEvents(); len(e) != 1 || e[0].GetType() != pb.EventType_EVENT_TYPE_SUMMARIZED || e[0].GetSummaryId() != summary.GetId() ||
		e[0].GetEndIndex() != summary.GetEndIndex() || e[0].GetReason() != pb.DecisionReason_DECISION_REASON_COMPACT_REQUEST {
		t.Errorf("events %v", e)
	}
	again, err := s.contexts.CompactConversation(ctx, req)
	if err != nil || !again.GetDuplicate() || !proto.Equal(again.GetResult(), first.GetResult()) || again.GetRevision() != first.GetRevision() {
		t.Errorf("the retry %v, %v", again, err)
	}
	_, err = s.contexts.CompactConversation(ctx, &pb.CompactConversationRequest{ConversationId: "c"})
	wantReason(t, err, codes.FailedPrecondition, "NOTHING_TO_COMPACT")
	checkShown(t, s, summary)
}

// checkShown looks for a summary wherever it can be seen.
func checkShown(t *testing.T, s *sidecar, summary *pb.Summary) {
	t.Helper()
	built := mustBuild(t, s, &pb.BuildContextRequest{ConversationId: "c"})
	shown, decided := 0, 0
	for _, m := range built.GetMessages() {
		if m.GetOrigin().GetSummaryId() == summary.GetId() {
			shown++
		}
	}
	for _, d := range built.GetDecisions() {
		if d.GetSummaryId() == summary.GetId() && d.GetEndIndex() == summary.GetEndIndex() {
			decided++
		}
	}
	if shown != 1 || decided != 1 || built.GetCompaction().GetSummaryId() != summary.GetId() || built.GetTokens().GetSavedByCompaction() <= 0 {
		t.Errorf("shown %d times, decided %d times, %v %v", shown, decided, built.GetCompaction(), built.GetTokens())
	}
	if current := listed(t, s, "c", pb.ListView_LIST_VIEW_CURRENT).GetSummaries(); len(current) != 1 || !proto.Equal(current[0], summary) {
		t.Errorf("listed %v", current)
	}
	original := listed(t, s, "c", pb.ListView_LIST_VIEW_ORIGINAL)
	if v := original.GetMessages()[summary.GetEndIndex()-1].GetView(); v.GetSummaryId() != summary.GetId() || len(original.GetSummaries()) != 0 {
		t.Errorf("the original's view %v, %d summaries", v, len(original.GetSummaries()))
	}
}

func TestServer_RewindConversation_TakesBackAndDissolves(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	worked(t, s, "c", 20)
	compacted, err := s.contexts.CompactConversation(ctx, &pb.CompactConversationRequest{ConversationId: "c"})
	if err != nil {
		t.Fatal(err)
	}
	summary := compacted.GetResult().GetSummaries()[0]
	req := &pb.RewindConversationRequest{ConversationId: "c", FromIndex: 10, RequestId: "r"}
	got, err := s.contexts.RewindConversation(ctx, req)
	if err != nil || got.GetStartIndex() != 10 || got.GetEndIndex() != 42 || len(got.GetDissolvedSummaries()) != 1 || got.GetDissolvedSummaries()[0] != summary.GetId() {
		t.Fatalf("%v, %v", got, err)
	}
	if e := got.GetEvents(); len(e) != 1 || e[0].GetType() != pb.EventType_EVENT_TYPE_HIDDEN || e[0].GetEndIndex() != 42 || !e[0].GetView().GetHidden() {
		t.Errorf("events %v", e)
	}
	again, err := s.contexts.RewindConversation(ctx, req)
	if err != nil || !again.GetDuplicate() || again.GetStartIndex() != 10 || again.GetEndIndex() != 42 || again.GetRevision() != got.GetRevision() {
		t.Errorf("the retry %v, %v", again, err)
	}
	_, err = s.contexts.RewindConversation(ctx, &pb.RewindConversationRequest{ConversationId: "c", FromIndex: 20})
	wantReason(t, err, codes.FailedPrecondition, "ALREADY_REWOUND")
	_, err = s.contexts.RewindConversation(ctx, &pb.RewindConversationRequest{ConversationId: "c", FromIndex: 42})
	wantReason(t, err, codes.NotFound, "MESSAGE_NOT_FOUND")
	for i, m := range listed(t, s, "c", pb.ListView_LIST_VIEW_ORIGINAL).GetMessages() {
		if m.GetView().GetHidden() != (i >= 10) {
			t.Errorf("message %d: %v", i, m.GetView())
		}
	}
	wantUndone(t, s, "c", got, summary.GetId())
	if _, err := s.contexts.RewindConversation(ctx, &pb.RewindConversationRequest{ConversationId: "c", FromIndex: 10}); err != nil {
		t.Fatal(err)
	}
	if left := listed(t, s, "c", pb.ListView_LIST_VIEW_CURRENT); len(left.GetSummaries()) != 0 || len(left.GetMessages()) != 10 {
		t.Errorf("%d messages and %d summaries are left", len(left.GetMessages()), len(left.GetSummaries()))
	}
}

// TestServer_ExportImport_WindowRoundTripIsTheIdentity: what was pruned and summarized comes along.
func TestServer_ExportImport_WindowRoundTripIsTheIdentity(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	worked(t, s, "original", 20)
	if _, err := s.contexts.CompactConversation(ctx, &pb.CompactConversationRequest{ConversationId: "original"}); err != nil {
		t.Fatal(err)
	}
	first := export(t, s, "original")
	for _, want := range []string{
		`"EDIT_SUMMARIZE"`, `"DECISION_REASON_PRUNED"`, `"factsJson":`, `"tokensRecorded":`, `"protectedTools":[]`, `"promptId":""`,
	} {
		if !bytes.Contains(first, []byte(want)) {
			t.Errorf("the export has no %s", want)
		}
	}
	if _, err := importAs(ctx, s, "copy", first, 1000); err != nil {
		t.Fatal(err)
	}
	if second := export(t, s, "copy"); !bytes.Equal(first, second) {
		t.Errorf("the copy exports to other bytes:\n%s", firstDifference(first, second))
	}
	req := &pb.BuildContextRequest{ConversationId: "original", Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT, DryRun: true}
	one := mustBuild(t, s, req)
	req.ConversationId = "copy"
	other := mustBuild(t, s, req)
	if one.GetRendered().GetContentSha256() != other.GetRendered().GetContentSha256() || one.GetCompaction().GetUsedTokens() != other.GetCompaction().GetUsedTokens() {
		t.Error("the copy builds another context")
	}
	if _, err := s.contexts.CompactConversation(ctx, &pb.CompactConversationRequest{
		ConversationId: "copy", Options: &pb.CompactionOptions{KeepRecent: new(int32(0)), TargetTokens: new(int32(1))},
	}); err != nil {
		t.Errorf("the copy cannot be compacted: %v", err)
	}
}

func TestServer_ImportConversation_BadWindowCreatesNothing(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	worked(t, s, "c", 20)
	if _, err := s.contexts.CompactConversation(ctx, &pb.CompactConversationRequest{ConversationId: "c"}); err != nil {
		t.Fatal(err)
	}
	good := string(export(t, s, "c"))
	for name, c := range map[string]struct{ old, new string }{
		"policy's limit": {`"protectTokens":500`, `"protectTokens":-1`},
		"policy's name":  {`"protectedTools":[]`, `"protectedTools":[""]`},
		"facts":          {`"factsJson":"{`, `"factsJson":"`},
		"dropped facts":  {`"factsJson":"{`, `"factsJson":"{\"dropped\":-1,`},
	} {
		changed := strings.Replace(good, c.old, c.new, 1)
		if changed == good {
			t.Errorf("%s: the case changes nothing", name)
		}
		_, err := importAs(ctx, s, "new", []byte(changed), 1<<20)
		if v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); !strings.Contains(v["chunk"], "line ") && v["chunk"] != "edit 17 does not fit the record" {
			t.Errorf("%s: violations %v", name, v)
		}
	}
}

func TestServer_WatchEvents_TellsOfTheWindow(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	worked(t, s, "c", 20)
	if _, err := s.contexts.CompactConversation(ctx, &pb.CompactConversationRequest{ConversationId: "c"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.contexts.RewindConversation(ctx, &pb.RewindConversationRequest{ConversationId: "c", FromIndex: 40}); err != nil {
		t.Fatal(err)
	}
	stream, err := s.conversations.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: "c"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[pb.EventType]int{}
	for seen[pb.EventType_EVENT_TYPE_HIDDEN] == 0 {
		next, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		e := next.GetEvent()
		seen[e.GetType()]++
		if e.GetEndIndex() <= e.GetMessageIndex() {
			t.Errorf("an event that ends before it begins: %v", e)
		}
	}
	if seen[pb.EventType_EVENT_TYPE_SUMMARIZED] != 1 || seen[pb.EventType_EVENT_TYPE_PRUNED] == 0 || seen[pb.EventType_EVENT_TYPE_ADDED] != 42 {
		t.Errorf("seen %v", seen)
	}
}

// wantUndone undoes a rewind that had dissolved a summary, twice.
func wantUndone(t *testing.T, s *sidecar, id string, of *pb.RewindConversationResponse, summary string) {
	t.Helper()
	req := &pb.UndoRewindRequest{ConversationId: id, RequestId: "u"}
	got, err := s.contexts.UndoRewind(t.Context(), req)
	if err != nil || got.GetStartIndex() != of.GetStartIndex() || got.GetEndIndex() != of.GetEndIndex() || got.GetRevision() != of.GetRevision()+1 ||
		len(got.GetRevivedSummaries()) != 1 || got.GetRevivedSummaries()[0] != summary {
		t.Fatalf("%v, %v", got, err)
	}
	if e := got.GetEvents(); len(e) != 1 || e[0].GetType() != pb.EventType_EVENT_TYPE_REWIND_UNDONE || e[0].GetView().GetHidden() {
		t.Errorf("events %v", e)
	}
	again, err := s.contexts.UndoRewind(t.Context(), req)
	if err != nil || !again.GetDuplicate() || again.GetStartIndex() != got.GetStartIndex() || again.GetRevision() != got.GetRevision() {
		t.Errorf("the retry %v, %v", again, err)
	}
	_, err = s.contexts.UndoRewind(t.Context(), &pb.UndoRewindRequest{ConversationId: id})
	wantReason(t, err, codes.FailedPrecondition, "NOTHING_TO_UNDO")
}
