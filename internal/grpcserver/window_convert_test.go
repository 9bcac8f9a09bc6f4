package grpcserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"pgregory.net/rapid"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

func drawWindowPolicy(t *rapid.T, p *pb.Policy) {
	number, flag := rapid.Ptr(rapid.Int32Range(0, 9), true), rapid.Ptr(rapid.Bool(), true)
	p.Pruning = &pb.PruningPolicy{
		Enabled: flag.Draw(t, "pruning"), ProtectTokens: number.Draw(t, "protect"), MinimumTokens: number.Draw(t, "minimum"),
		MaxPartTokens: number.Draw(t, "part"), ProtectedTools: drawNames(t), ProtectedToolPrefixes: drawNames(t),
	}
	if rapid.Bool().Draw(t, "erase?") {
		p.Pruning.EraseAfter = durationpb.New(0)
	}
	p.Compaction = &pb.CompactionPolicy{
		Strategy: pb.CompactionStrategy(rapid.IntRange(0, 3).Draw(t, "strategy")), ThresholdMessages: number.Draw(t, "threshold"),
		PreparePercent: number.Draw(t, "prepare"), KeepRecent: number.Draw(t, "keep"), TailPercent: number.Draw(t, "tail"),
		TargetPercent: number.Draw(t, "compaction's target"), MinShrinkPercent: number.Draw(t, "shrink"), FanOut: number.Draw(t, "fan"),
		SummaryTokens: number.Draw(t, "summary"), PromptId: rapid.Ptr(words(), true).Draw(t, "prompt"), CountReasoning: flag.Draw(t, "reasoning"),
	}
	if proto.Size(p.GetPruning()) == 0 {
		p.Pruning = nil
	}
	if proto.Size(p.GetCompaction()) == 0 {
		p.Compaction = nil
	}
}

// drawNames draws none, an empty list, or a list.
func drawNames(t *rapid.T) *pb.NameList {
	if rapid.Bool().Draw(t, "names?") {
		return nil
	}
	return &pb.NameList{Names: rapid.SliceOfN(words(), 0, 2).Draw(t, "names")}
}

func TestToDecision_Summarised_NamesTheSummary(t *testing.T) {
	got := toDecision(conversation.Decision{
		First: 2, Last: 40, Kind: conversation.DecisionSummarised, Reason: conversation.ReasonOverflow, Before: 9, After: 3, EditSeq: 12, Summary: 7,
	})
	want := &pb.Decision{
		FirstIndex: 2, LastIndex: 40, Kind: pb.DecisionKind_DECISION_KIND_SUMMARISED, Reason: pb.DecisionReason_DECISION_REASON_OVERFLOW,
		Detail: "the view outgrew its budget", TokensBefore: 9, TokensAfter: 3, EditId: "e12", SummaryId: "s7",
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestToEvent_Ranges_EndAtTheLastMessage(t *testing.T) {
	for name, c := range map[string]struct {
		event conversation.Event
		last  int32
		about string
		view  *pb.MessageView
	}{
		"one message": {conversation.Event{Type: conversation.EventPruned, Index: 5, Level: conversation.Cleared}, 5, "",
			&pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_CLEARED}},
		"summarised": {conversation.Event{Type: conversation.EventSummarised, Index: 2, Last: 9, Summary: 4, EditSeq: 3}, 9, "s4",
			&pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_FULL, EditId: "e3", SummaryId: "s4"}},
		"hidden": {conversation.Event{Type: conversation.EventHidden, Index: 2, Last: 9}, 9, "",
			&pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_FULL, Hidden: true}},
		"failed": {conversation.Event{Type: conversation.EventCompactionFailed, Index: 0, Last: 9, Summary: 4}, 9, "s4",
			&pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_FULL}},
	} {
		got := toEvent(c.event)
		if got.GetLastIndex() != c.last || got.GetSummaryId() != c.about {
			t.Errorf("%s: %v", name, got)
		}
		if diff := cmp.Diff(c.view, got.GetView(), protocmp.Transform()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestToMessageInView_SummarisedAndHidden(t *testing.T) {
	got := toMessageInView(&engine.MessageInView{Summary: 7, Hidden: true}).GetView()
	if got.GetSummaryId() != "s7" || !got.GetHidden() {
		t.Errorf("got %v", got)
	}
	if got := toMessageInView(&engine.MessageInView{}).GetView(); got.GetSummaryId() != "" || got.GetHidden() {
		t.Errorf("got %v", got)
	}
}

func TestToContextMessages_OriginOfEachKind(t *testing.T) {
	got := toContextMessages([]provider.Message{{Index: 3}, {Index: -1, Summary: 7}, {Index: -1, Synthetic: "opener"}})
	for i, want := range []*pb.Origin{
		{Source: &pb.Origin_MessageIndex{MessageIndex: 3}},
		{Source: &pb.Origin_SummaryId{SummaryId: "s7"}},
		{Source: &pb.Origin_Synthetic{Synthetic: "opener"}},
	} {
		if !proto.Equal(got[i].GetOrigin(), want) {
			t.Errorf("message %d: %v", i, got[i].GetOrigin())
		}
	}
	if shown := toContextMessages([]provider.Message{{}, {Shortened: true}}); shown[0].GetShortened() || !shown[1].GetShortened() {
		t.Errorf("%v", shown)
	}
}

func TestToBuildResponse_Window(t *testing.T) {
	got := toBuildResponse(&engine.BuildResult{
		Manifest: conversation.Manifest{Window: conversation.Window{Start: 5}},
		Tokens:   engine.TokenReport{Budget: 300, Total: 100, Summaries: 11, SavedByPruning: 12, SavedByCompaction: 13},
		Prefix:   engine.PrefixReport{BrokenBy: engine.BreakSummarised},
		Compaction: engine.CompactionStatus{
			Used: 271, Reported: true, State: engine.CompactionReady, Summary: 7, OwnCalls: engine.ModelUsage{Calls: 1, Input: 2, Output: 3, Cost: 0.5},
		},
	})
	want := &pb.CompactionStatus{
		UsedPercent: 91, WindowStartIndex: 5, UsedTokens: 271, Reported: true, State: pb.CompactionState_COMPACTION_STATE_READY, SummaryId: "s7",
		OwnCalls: &pb.ModelUsage{Calls: 1, InputTokens: 2, OutputTokens: 3, Cost: 0.5},
	}
	if diff := cmp.Diff(want, got.GetCompaction(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	if r := got.GetTokens(); r.GetSummaries() != 11 || r.GetSavedByPruning() != 12 || r.GetSavedByCompaction() != 13 ||
		got.GetPrefix().GetBrokenBy() != pb.PrefixBreak_PREFIX_BREAK_SUMMARISED {
		t.Errorf("got %v", got)
	}
}

// fullSummary sets every field of a summary, and wantSummary is what the API says of it.
func fullSummary() engine.SummaryInView {
	return engine.SummaryInView{
		ID: 7, Range: conversation.Range{First: 2, End: 40}, Level: 3, Children: []int64{4, 6}, Text: "done", Tokens: 9, Model: "openai/m", EditSeq: 12, Erased: true,
	}
}

func wantSummary() *pb.Summary {
	return &pb.Summary{
		Id: "s7", FirstIndex: 2, LastIndex: 39, Level: 3, Children: []string{"s4", "s6"}, Text: "done", Tokens: 9, Model: "openai/m", EditId: "e12", OriginalErased: true,
	}
}

func TestToCompactResponse_EveryField(t *testing.T) {
	r := &engine.CompactResult{
		Summaries: []engine.SummaryInView{fullSummary()}, Range: conversation.Range{First: 2, End: 40}, Saved: 1 << 40,
		Events:       []conversation.Event{{Type: conversation.EventSummarised, Index: 2, Last: 39, Summary: 7}},
		Degradations: []engine.Degradation{{Asked: "a"}}, Revision: 5, Duplicate: true,
	}
	want := &pb.CompactConversationResponse{
		Result: &pb.CompactionResult{Summaries: []*pb.Summary{wantSummary()}, CompactedRange: &pb.Range{Start: 2, End: 40}, TokensSaved: 1 << 40},
		Events: []*pb.LifecycleEvent{toEvent(r.Events[0])}, Degradations: []*pb.Degradation{{Asked: "a"}}, Revision: 5, Duplicate: true,
	}
	if diff := cmp.Diff(want, toCompactResponse(r), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestToRewindResponse_EveryField(t *testing.T) {
	r := &engine.RewindResult{
		Range: conversation.Range{First: 2, End: 40}, Dissolved: []int64{7, 9},
		Events: []conversation.Event{{Type: conversation.EventHidden, Index: 2, Last: 39}}, Revision: 5, Duplicate: true,
	}
	want := &pb.RewindConversationResponse{
		FirstIndex: 2, LastIndex: 39, DissolvedSummaries: []string{"s7", "s9"}, Events: []*pb.LifecycleEvent{toEvent(r.Events[0])}, Revision: 5, Duplicate: true,
	}
	if diff := cmp.Diff(want, toRewindResponse(r), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}
