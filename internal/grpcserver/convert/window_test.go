package convert

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
		ListTokens: number.Draw(t, "list"), LivePrefix: flag.Draw(t, "live"), SummaryInputTokens: number.Draw(t, "input"),
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

func TestFromModelProfile_FullProfile_ComesBack(t *testing.T) {
	want := &pb.ModelProfile{
		Model: "m", ContextWindowTokens: new(int32(1)), ReservedOutputTokens: new(int32(2)), Counter: "chars4",
		Factor: new(1.5), MediaTokens: new(int32(3)), InputPrice: new(4.0), CacheReadPrice: new(5.0),
		CacheWritePrice: new(6.0), OutputPrice: new(7.0), CacheLifetime: durationpb.New(8), ReasoningBinding: pb.ReasoningBinding_REASONING_BINDING_DROPS,
	}
	if diff := cmp.Diff(want, ToModelProfile(FromModelProfile(want)), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestToEvent_Ranges_EndBehindTheLastMessage(t *testing.T) {
	for name, c := range map[string]struct {
		event conversation.Event
		end   int32
		about string
		view  *pb.MessageView
	}{
		"one message": {conversation.Event{Type: conversation.EventPruned, Index: 5, Level: conversation.Cleared}, 6, "",
			&pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_CLEARED}},
		"summarized": {conversation.Event{Type: conversation.EventSummarized, Index: 2, Last: 9, Summary: 4, EditSeq: 3}, 10, "s4",
			&pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_FULL, EditId: "e3", SummaryId: "s4"}},
		"hidden": {conversation.Event{Type: conversation.EventHidden, Index: 2, Last: 9}, 10, "",
			&pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_FULL, Hidden: true}},
		"failed": {conversation.Event{Type: conversation.EventCompactionFailed, Index: 0, Last: 9, Summary: 4}, 10, "s4",
			&pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_FULL}},
		"no message": {conversation.Event{Type: conversation.EventContentStored, Index: -1, Last: -1}, -1, "", nil},
	} {
		got := ToEvent(c.event)
		if got.GetMessageIndex() != c.event.Index || got.GetEndIndex() != c.end || got.GetSummaryId() != c.about {
			t.Errorf("%s: %v", name, got)
		}
		if diff := cmp.Diff(c.view, got.GetView(), protocmp.Transform()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestToMessageInView_SummarizedAndHidden(t *testing.T) {
	got := ToMessageInView(&engine.MessageInView{Summary: 7, Hidden: true}).GetView()
	if got.GetSummaryId() != "s7" || !got.GetHidden() {
		t.Errorf("got %v", got)
	}
	if got := ToMessageInView(&engine.MessageInView{}).GetView(); got.GetSummaryId() != "" || got.GetHidden() {
		t.Errorf("got %v", got)
	}
}

func TestToContextMessages_OriginOfEachKind(t *testing.T) {
	got := ToContextMessages([]provider.Message{
		{Index: 3}, {Index: 4, Last: 6}, {Index: -1, Summary: 7}, {Index: -1, Synthetic: "opener"}, {Index: 9, Synthetic: "result_late"},
	})
	for i, want := range []struct {
		origin *pb.Origin
		end    int32
	}{
		{&pb.Origin{Source: &pb.Origin_MessageIndex{MessageIndex: 3}}, 4},
		{&pb.Origin{Source: &pb.Origin_MessageIndex{MessageIndex: 4}}, 7},
		{&pb.Origin{Source: &pb.Origin_SummaryId{SummaryId: "s7"}}, 0},
		{&pb.Origin{Source: &pb.Origin_Synthetic{Synthetic: "opener"}}, 0},
		{&pb.Origin{Source: &pb.Origin_Synthetic{Synthetic: "result_late"}}, 0},
	} {
		if !proto.Equal(got[i].GetOrigin(), want.origin) || got[i].GetEndIndex() != want.end {
			t.Errorf("message %d: %v", i, got[i])
		}
	}
	if shown := ToContextMessages([]provider.Message{{}, {Shortened: true}}); shown[0].GetShortened() || !shown[1].GetShortened() {
		t.Errorf("%v", shown)
	}
}
