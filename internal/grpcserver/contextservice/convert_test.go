package contextservice

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func TestToReceipts_Citations(t *testing.T) {
	cited := engine.Cited{Citation: conversation.Citation{ContentID: "c1-abc", TotalChars: 2_000_000}, Text: "[c1-abc] Zürich is a city", Excerpt: "Zürich is a city", How: "ask retrieve_content"}
	got := toReceipts(&engine.AppendResult{
		Messages: make([]conversation.Message, 3), Citations: [][]engine.Cited{nil, {cited, cited}},
	})
	want := []*pb.Receipt{{}, {Citations: []*pb.Citation{convert.ToCitation(cited), convert.ToCitation(cited)}}, {}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

// TestToReceipts_ThousandsOfCitations_FitAnyClient: what is committed must be told, in an answer that every client takes.
func TestToReceipts_ThousandsOfCitations_FitAnyClient(t *testing.T) {
	cited := engine.Cited{Citation: conversation.Citation{ContentID: "c1-abc", TotalBytes: 2_100_000, TotalChars: 2_000_000}, Text: strings.Repeat("x", 2000), Excerpt: strings.Repeat("x", 500)}
	cited.Citation.SourceURL = strings.Repeat("u", 2048)
	result := &engine.AppendResult{Messages: make([]conversation.Message, 16)}
	for range result.Messages {
		list := make([]engine.Cited, 1000)
		for i := range list {
			list[i] = cited
		}
		result.Citations = append(result.Citations, list)
	}
	out := &pb.BatchAppendMessagesResponse{Receipts: toReceipts(result)}
	if n := proto.Size(out); n > paging.DefaultReplyBytes {
		t.Errorf("%d bytes", n)
	}
	first, last := out.GetReceipts()[0].GetCitations()[0], out.GetReceipts()[15].GetCitations()[999]
	if first.GetText() == "" || first.GetSourceUrl() == "" || last.GetText() != "" || last.GetContentId() != "c1-abc" || last.GetTotalBytes() == 0 {
		t.Errorf("the first %v, the last %v", first, last)
	}
}

func TestToBuildResponse_SavedByCiting(t *testing.T) {
	got := toBuildResponse(&engine.BuildResult{Tokens: engine.TokenReport{SavedByCiting: 7}})
	if got.GetTokens().GetSavedByCiting() != 7 {
		t.Errorf("got %v", got.GetTokens())
	}
}

func TestFromSpan_BeyondAnyMessage_IsTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		span *pb.Span
		want conversation.Range
	}{
		"both ends":     {&pb.Span{StartIndex: 2, EndIndex: new(int64(9))}, conversation.Range{First: 2, End: 9}},
		"nothing":       {&pb.Span{StartIndex: 2, EndIndex: new(int64(2))}, conversation.Range{First: 2, End: 2}},
		"without end":   {&pb.Span{StartIndex: 2}, conversation.Range{First: 2, End: schema.MaxIndex}},
		"of no message": {&pb.Span{StartIndex: 1 << 40, EndIndex: new(int64(1 << 41))}, conversation.Range{First: schema.MaxIndex, End: schema.MaxIndex}},
	} {
		_, got := fromSpan(&pb.ExpandMessageRequest{Range: &pb.ExpandMessageRequest_Lines{Lines: c.span}})
		if got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestDetail_EveryNumber_IsTheAPIs: every reason of the API has words, and the one behind the last has none.
func TestDetail_EveryNumber_IsTheAPIs(t *testing.T) {
	last := conversation.Reason(len(pb.DecisionReason_name) - 1)
	if detail(last) == "" || detail(last+1) != "" {
		t.Errorf("the API's last reason is %d: %q, then %q", last, detail(last), detail(last+1))
	}
	for n, name := range pb.DecisionReason_name {
		if n != 0 && detail(conversation.Reason(n)) == "" {
			t.Errorf("%s has no words", name)
		}
	}
}

func TestFromOverride_EveryField(t *testing.T) {
	got := fromOverride(&pb.ExpirationOverride{
		Turns: new(int32(1)), Mode: 2, CompactMode: 1, CompactLength: new(int32(3)), CompactPromptId: "p",
		PreserveOriginalContent: new(false), DisableExpiration: true,
	})
	want := &conversation.ExpirationOverride{Expiration: conversation.Expiration{
		Turns: new(int32(1)), Mode: conversation.ExpirationRemove, CompactMode: conversation.CompactFirstChars, CompactLength: new(int32(3)),
		CompactPromptID: "p", PreserveOriginal: new(false),
	}, Disable: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if fromOverride(nil) != nil {
		t.Error("no override is one")
	}
}

func TestFromExtra_Additions(t *testing.T) {
	parts := []*pb.Part{{Content: &pb.Part_Text{Text: "x"}}}
	own := []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: "x"}}}
	got := fromExtra(&pb.AppendMessageRequest{AdditionalContent: []*pb.AdditionalContent{
		{Plugin: "p", Header: "h", DisplayOnCurrentMessage: true, Parts: parts},
		{Plugin: "n", SaveToChatHistory: &pb.AdditionalContent_Never{Never: &pb.Never{}}, Parts: parts},
		{Plugin: "a", SaveToChatHistory: &pb.AdditionalContent_Always{Always: &pb.Always{}}, Parts: parts},
		{Plugin: "k", SaveToChatHistory: &pb.AdditionalContent_KeepLast{KeepLast: 4}, Parts: parts},
	}})
	want := engine.AppendExtra{Additions: []conversation.Addition{
		{Plugin: "p", Header: "h", Display: true, Parts: own},
		{Plugin: "n", Parts: own},
		{Plugin: "a", Retention: conversation.Retention{Kind: conversation.RetentionPermanent}, Parts: own},
		{Plugin: "k", Retention: conversation.Retention{Kind: conversation.RetentionKeepLast, Last: 4}, Parts: own},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestToExpandResponse_EveryField(t *testing.T) {
	r := &engine.ExpandResult{
		Message:  &engine.MessageInView{Message: conversation.Message{Index: 3}},
		Returned: &conversation.Range{First: 1, End: 5}, TotalChars: 9,
		Children: []engine.ExpandedChild{
			{Message: &engine.MessageInView{Message: conversation.Message{Index: 4}}, Range: conversation.Range{First: 4, End: 5}},
			{Summary: 2, Range: conversation.Range{First: 5, End: 8}},
		},
		Events: []conversation.Event{{Type: conversation.EventExpanded, Index: 3}}, Revision: 6, RewriteTokens: 7, Duplicate: true,
	}
	got := toExpandResponse(r)
	want := &pb.ExpandMessageResponse{
		Message: convert.ToMessageInView(r.Message), Returned: &pb.Span{StartIndex: 1, EndIndex: new(int64(5))}, TotalChars: 9,
		Children: []*pb.ExpandedChild{
			{Child: &pb.ExpandedChild_Message{Message: convert.ToMessageInView(r.Children[0].Message)}, StartIndex: 4, EndIndex: 5},
			{Child: &pb.ExpandedChild_SummaryId{SummaryId: "s2"}, StartIndex: 5, EndIndex: 8},
		},
		Events: []*pb.LifecycleEvent{convert.ToEvent(r.Events[0])}, Revision: 6, RewriteTokens: 7, Duplicate: true,
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestToBuildResponse_WhatIsNew(t *testing.T) {
	got := toBuildResponse(&engine.BuildResult{
		Tokens:       engine.TokenReport{SavedByExpiry: 1, SavedByRetention: 2},
		Prefix:       engine.PrefixReport{BrokenBy: engine.BreakRetention, Rewrite: engine.RewriteReport{Reread: 3, Saved: 4, Cost: .5, SavedPerTurn: .25, BreakEvenTurns: 2}},
		Degradations: []engine.Degradation{{Asked: "a", Reason: "b", Done: "c"}},
	})
	if d := got.GetDegradations(); len(d) != 1 || d[0].GetAsked() != "a" || d[0].GetReason() != "b" || d[0].GetDone() != "c" {
		t.Errorf("degradations %v", d)
	}
	if got.GetTokens().GetSavedByExpiry() != 1 || got.GetTokens().GetSavedByRetention() != 2 || got.GetPrefix().GetBrokenBy() != pb.PrefixBreak_PREFIX_BREAK_RETENTION {
		t.Errorf("got %v", got)
	}
	want := &pb.RewriteReport{RereadTokens: 3, SavedTokensPerTurn: 4, Cost: .5, SavedPerTurn: .25, BreakEvenTurns: new(int32(2))}
	if diff := cmp.Diff(want, got.GetPrefix().GetRewrite(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	none := toBuildResponse(&engine.BuildResult{}).GetPrefix().GetRewrite()
	grown := toBuildResponse(&engine.BuildResult{Prefix: engine.PrefixReport{Rewrite: engine.RewriteReport{Saved: -1, BreakEvenTurns: -1}}}).GetPrefix().GetRewrite()
	if none != nil || grown == nil || grown.BreakEvenTurns != nil {
		t.Errorf("%v, %v", none, grown)
	}
}

func TestToDecision_Summarized_NamesTheSummary(t *testing.T) {
	got := toDecision(conversation.Decision{
		First: 2, Last: 40, Kind: conversation.DecisionSummarized, Reason: conversation.ReasonOverflow, Before: 9, After: 3, EditSeq: 12, Summary: 7,
	})
	want := &pb.Decision{
		StartIndex: 2, EndIndex: 41, Kind: pb.DecisionKind_DECISION_KIND_SUMMARIZED, Reason: pb.DecisionReason_DECISION_REASON_OVERFLOW,
		Detail: "the view outgrew its budget", TokensBefore: 9, TokensAfter: 3, EditId: "e12", SummaryId: "s7",
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestToDecision_Synthetic_IsOfNoMessage(t *testing.T) {
	got := toDecision(conversation.Decision{First: -1, Last: -1, Kind: conversation.DecisionRepaired, Reason: conversation.ReasonOpenerAdded})
	if got.GetStartIndex() != -1 || got.GetEndIndex() != -1 {
		t.Errorf("its range is not empty: %v", got)
	}
}

func TestToBuildResponse_Window(t *testing.T) {
	got := toBuildResponse(&engine.BuildResult{
		Manifest: conversation.Manifest{Window: conversation.Window{Start: 5}},
		Tokens:   engine.TokenReport{Budget: 300, Total: 100, Summaries: 11, SavedByPruning: 12, SavedByCompaction: 13},
		Prefix:   engine.PrefixReport{BrokenBy: engine.BreakSummarized},
		Compaction: engine.CompactionStatus{
			Used: 271, Reported: true, State: engine.CompactionReady, Summary: 7, OwnCalls: engine.ModelUsage{Calls: 1, Tokens: conversation.CallTokens{Input: 2, CacheRead: 4, CacheWrite: 5, Output: 3}, Cost: 0.5},
		},
	})
	want := &pb.CompactionStatus{
		UsedPercent: 91, WindowStartIndex: 5, UsedTokens: 271, Reported: true, State: pb.CompactionState_COMPACTION_STATE_READY, SummaryId: "s7",
		OwnCalls: &pb.ModelUsage{Calls: 1, InputTokens: 2, OutputTokens: 3, Cost: 0.5, CacheReadTokens: 4, CacheWriteTokens: 5},
	}
	if diff := cmp.Diff(want, got.GetCompaction(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	if r := got.GetTokens(); r.GetSummaries() != 11 || r.GetSavedByPruning() != 12 || r.GetSavedByCompaction() != 13 ||
		got.GetPrefix().GetBrokenBy() != pb.PrefixBreak_PREFIX_BREAK_SUMMARIZED {
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
		Id: "s7", StartIndex: 2, EndIndex: 40, Level: 3, Children: []string{"s4", "s6"}, Text: "done", Tokens: 9, Model: "openai/m", EditId: "e12", OriginalErased: true,
	}
}

func TestToCompactResponse_EveryField(t *testing.T) {
	r := &engine.CompactResult{
		Summaries: []engine.SummaryInView{fullSummary()}, Range: conversation.Range{First: 2, End: 40}, Saved: 1 << 40,
		Events:       []conversation.Event{{Type: conversation.EventSummarized, Index: 2, Last: 39, Summary: 7}},
		Degradations: []engine.Degradation{{Asked: "a"}}, Revision: 5, Duplicate: true,
	}
	want := &pb.CompactConversationResponse{
		Result: &pb.CompactionResult{Summaries: []*pb.Summary{wantSummary()}, CompactedRange: &pb.MessageRange{StartIndex: 2, EndIndex: new(int32(40))}, TokensSaved: 1 << 40},
		Events: []*pb.LifecycleEvent{convert.ToEvent(r.Events[0])}, Degradations: []*pb.Degradation{{Asked: "a"}}, Revision: 5, Duplicate: true,
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
		StartIndex: 2, EndIndex: 40, DissolvedSummaries: []string{"s7", "s9"}, Events: []*pb.LifecycleEvent{convert.ToEvent(r.Events[0])}, Revision: 5, Duplicate: true,
	}
	if diff := cmp.Diff(want, toRewindResponse(r), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}
