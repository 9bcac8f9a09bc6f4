package grpcserver

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// TestServer_CorrectMessage_ReachesEverything: the answer, its retry, listings, the context, its explanation and the events.
func TestServer_CorrectMessage_ReachesEverything(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	worked(t, s, "c", 20)
	made, err := s.contexts.CompactConversation(ctx, &pb.CompactConversationRequest{ConversationId: "c"})
	if err != nil {
		t.Fatal(err)
	}
	summary := made.GetResult().GetSummaries()[0].GetId()
	mustBuild(t, s, &pb.BuildContextRequest{ConversationId: "c"})
	req := &pb.CorrectMessageRequest{
		ConversationId: "c", Target: &pb.CorrectMessageRequest_MessageId{MessageId: "m3"}, Reason: "read again", RequestId: "r",
		Corrections: []*pb.Correction{{Content: &pb.Correction_Json{Json: `{"read": "anew"}`}}},
	}
	got, err := s.contexts.CorrectMessage(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if json := got.GetMessage().GetParts()[0].GetToolResult().GetJson(); json != `{"read": "anew"}` || got.GetMessage().GetView().GetEditId() == "" {
		t.Errorf("answered %v", got.GetMessage())
	}
	if d := got.GetDissolvedSummaries(); len(d) != 1 || d[0] != summary || got.GetRewriteTokens() <= 0 {
		t.Errorf("dissolves %v, rewrites %d", d, got.GetRewriteTokens())
	}
	e := got.GetEvents()
	if len(e) != 1 || e[0].GetType() != pb.EventType_EVENT_TYPE_CORRECTED || e[0].GetCorrectionReason() != "read again" || e[0].GetExpandReason() != "" ||
		e[0].GetReason() != pb.DecisionReason_DECISION_REASON_CORRECTION_REQUEST || e[0].GetMessageIndex() != 3 {
		t.Errorf("events %v", e)
	}
	again, err := s.contexts.CorrectMessage(ctx, req)
	if err != nil || !again.GetDuplicate() || again.GetRevision() != got.GetRevision() || len(again.GetEvents())+len(again.GetDissolvedSummaries()) > 0 {
		t.Errorf("the retry %v, %v", again, err)
	}
	text := listed(t, s, "c", pb.ListView_LIST_VIEW_ORIGINAL).GetMessages()[3].GetParts()[0].GetToolResult().GetText()
	if !strings.HasPrefix(text, "part 0 of /srv") {
		t.Errorf("the record says %q", text)
	}
	for _, m := range listed(t, s, "c", pb.ListView_LIST_VIEW_CURRENT).GetMessages() {
		if strings.Contains(m.String(), "/srv/data0.csv") {
			t.Errorf("the view says %v", m)
		}
	}
	built := mustBuild(t, s, &pb.BuildContextRequest{ConversationId: "c"})
	if built.GetPrefix().GetBrokenBy() != pb.PrefixBreak_PREFIX_BREAK_CORRECTED {
		t.Errorf("prefix %v", built.GetPrefix())
	}
	_, err = s.contexts.CorrectMessage(ctx, &pb.CorrectMessageRequest{
		ConversationId: "c", Target: &pb.CorrectMessageRequest_MessageIndex{MessageIndex: 2}, Corrections: []*pb.Correction{{Content: &pb.Correction_Text{Text: "x"}}},
	})
	wantReason(t, err, codes.FailedPrecondition, "NOT_CORRECTABLE")
}
