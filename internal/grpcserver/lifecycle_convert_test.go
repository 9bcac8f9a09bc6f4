package grpcserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// TestDetail_EveryNumber_IsTheAPIs: every reason of the API has words, and the one behind the last has none.
func TestDetail_EveryNumber_IsTheAPIs(t *testing.T) {
	last := conversation.Reason(len(pb.DecisionReason_name) - 1)
	if detail(last) == "" || detail(last+1) != "" {
		t.Errorf("the API's last reason is %d: %q, then %q", last, detail(last), detail(last+1))
	}
}

func TestFromActionPolicy_AnyKey_ComesBack(t *testing.T) {
	for _, want := range []*pb.ActionPolicy{
		{Key: &pb.ActionPolicy_AgentActionId{AgentActionId: "a"}, Expiration: &pb.Expiration{Turns: pointer(int32(2)), Mode: 2}},
		{Key: &pb.ActionPolicy_ActionId{ActionId: "b"}, DefaultCompactPromptId: "p"},
		{Key: &pb.ActionPolicy_ToolName{ToolName: "c"}},
		{Key: &pb.ActionPolicy_ToolName{ToolName: "d"}, Citations: &pb.ActionCitations{Enabled: pointer(false), ThresholdChars: pointer(int32(300))}},
	} {
		if diff := cmp.Diff(want, toActionPolicy(fromActionPolicy(want)), protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestFromPrompt_FullPrompt_ComesBack(t *testing.T) {
	want := &pb.Prompt{Id: "p", Template: "{{content}}", Models: []string{"a/b", "c/d"}, MaxOutputTokens: 5}
	prompt := fromPrompt(want)
	prompt.Version = 7
	got := toPrompt(prompt)
	if got.GetVersion() != 7 {
		t.Errorf("version %d", got.GetVersion())
	}
	got.Version = 0
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestFromExpiration_NothingSet_IsNone(t *testing.T) {
	if e := fromExpiration(&pb.Expiration{Source: pb.ExpirationSource_EXPIRATION_SOURCE_TOOL}); e != nil {
		t.Errorf("got %+v", e)
	}
	e := toExpiration(&conversation.Expiration{Turns: pointer(int32(0)), Source: conversation.SourceTool})
	if e.GetSource() != pb.ExpirationSource_EXPIRATION_SOURCE_TOOL || e.Turns == nil {
		t.Errorf("got %v", e)
	}
}

func TestFromOverride_EveryField(t *testing.T) {
	got := fromOverride(&pb.ExpirationOverride{
		Turns: pointer(int32(1)), Mode: 2, CompactMode: 1, CompactLength: pointer(int32(3)), CompactPromptId: "p",
		PreserveOriginalContent: pointer(false), DisableExpiration: true,
	})
	want := &conversation.ExpirationOverride{Expiration: conversation.Expiration{
		Turns: pointer(int32(1)), Mode: conversation.ExpirationRemove, CompactMode: conversation.CompactFirstChars, CompactLength: pointer(int32(3)),
		CompactPromptID: "p", PreserveOriginal: pointer(false),
	}, Disable: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if fromOverride(nil) != nil {
		t.Error("no override is one")
	}
}

func TestFromExtra_Additions(t *testing.T) {
	parts := []*pb.Part{textPart("x")}
	own := []conversation.Part{{Kind: conversation.PartText, Text: inline("x")}}
	got := fromExtra(with(
		&pb.AdditionalContent{Plugin: "p", Header: "h", DisplayOnCurrentMessage: true, Parts: parts},
		&pb.AdditionalContent{Plugin: "n", SaveToChatHistory: &pb.AdditionalContent_Never{Never: true}, Parts: parts},
		&pb.AdditionalContent{Plugin: "a", SaveToChatHistory: &pb.AdditionalContent_Always{Always: true}, Parts: parts},
		&pb.AdditionalContent{Plugin: "k", SaveToChatHistory: &pb.AdditionalContent_KeepLast{KeepLast: 4}, Parts: parts},
	))
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

// TestFromPart_OutputOnly_IsIgnored: what a caller says of plugins, variants and erasure means nothing.
func TestFromPart_OutputOnly_IsIgnored(t *testing.T) {
	p := textPart("x")
	p.Plugin, p.Variant, p.Erasure = "p", pb.PartVariant_PART_VARIANT_DISPLAY_ONLY, &pb.Erasure{OriginalLengthBytes: 1}
	if diff := cmp.Diff(conversation.Part{Kind: conversation.PartText, Text: inline("x")}, fromPart(p)); diff != "" {
		t.Error(diff)
	}
}

func TestToParts_ErasedPluginPart_SaysWhatIsLeft(t *testing.T) {
	gone := func(n int64) conversation.Content {
		return conversation.Content{Erased: &conversation.ErasedContent{Bytes: 2 * n, Chars: n, Hash: [32]byte{1}}}
	}
	got := toParts([]conversation.Part{
		{
			Kind: conversation.PartText, Text: gone(5), Plugin: "p", Variant: conversation.PersistentOnly,
			Retention: conversation.Retention{Kind: conversation.RetentionKeepLast, Last: 3},
		},
		{Kind: conversation.PartMedia, Media: &conversation.Media{MIMEType: "a/b", Data: gone(0)}},
		{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Output: conversation.OutputParts, Parts: []conversation.ResultPart{
			{Text: gone(1)}, {Text: inline("left")}, {Media: &conversation.Media{Data: gone(2)}},
		}}},
		{Kind: conversation.PartText, Text: inline("left")},
	})
	want := []*pb.Part{
		{Content: &pb.Part_Text{}, Plugin: "p", Variant: pb.PartVariant_PART_VARIANT_PERSISTENT_ONLY, Retention: keepLast(3), Erasure: &pb.Erasure{OriginalLengthBytes: 10, OriginalLengthChars: 5}},
		{Content: &pb.Part_Media{Media: &pb.Media{MimeType: "a/b"}}, Erasure: &pb.Erasure{}},
		{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{Output: &pb.ToolResult_Parts{Parts: &pb.ToolResultParts{Parts: []*pb.ToolResultPart{
			{Content: &pb.ToolResultPart_Text{}}, {Content: &pb.ToolResultPart_Text{Text: "left"}}, {Content: &pb.ToolResultPart_Media{Media: &pb.Media{}}},
		}}}}}, Erasure: &pb.Erasure{OriginalLengthBytes: 6, OriginalLengthChars: 3}},
		textPart("left"),
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestToMessageInView_Lifecycle(t *testing.T) {
	m := &engine.MessageInView{Level: conversation.Shortened, Expired: true, Expandable: true, Message: conversation.Message{
		Expiration: &conversation.Expiration{Turns: pointer(int32(1)), Source: conversation.SourceOverride},
		Parts:      []conversation.Part{{Kind: conversation.PartText, Text: inline("x")}},
	}}
	got := toMessageInView(m)
	if !got.GetView().GetExpired() || !got.GetView().GetCanExpand() || got.GetExpiration().GetSource() != pb.ExpirationSource_EXPIRATION_SOURCE_OVERRIDE {
		t.Errorf("got %v", got)
	}
	m.Expandable = false
	if toMessageInView(m).GetView().GetCanExpand() {
		t.Error("what was erased can be expanded")
	}
}

func TestToEvent_Expired_BySomeReasonsAlone(t *testing.T) {
	for n := range pb.DecisionReason_name {
		reason := conversation.Reason(n)
		want := conversation.ReasonExpired <= reason && reason <= conversation.ReasonExpiredExtract
		if got := toEvent(conversation.Event{Reason: reason}).GetView().GetExpired(); got != want {
			t.Errorf("reason %d: expired %v", n, got)
		}
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
		Message: toMessageInView(r.Message), Returned: &pb.Range{Start: 1, End: 5}, TotalChars: 9,
		Children: []*pb.ExpandedChild{
			{Child: &pb.ExpandedChild_Message{Message: toMessageInView(r.Children[0].Message)}},
			{Child: &pb.ExpandedChild_SummaryId{SummaryId: "s2"}, FirstIndex: 5, LastIndex: 7},
		},
		Events: []*pb.LifecycleEvent{toEvent(r.Events[0])}, Revision: 6, RewriteTokens: 7, Duplicate: true,
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestToBuildResponse_WhatIsNew(t *testing.T) {
	got := toBuildResponse(&engine.BuildResult{
		Tokens:       engine.TokenReport{SavedByExpiry: 1, SavedByRetention: 2},
		Prefix:       engine.PrefixReport{BrokenBy: engine.BreakRetention},
		Degradations: []engine.Degradation{{Asked: "a", Reason: "b", Done: "c"}},
	})
	if d := got.GetDegradations(); len(d) != 1 || d[0].GetAsked() != "a" || d[0].GetReason() != "b" || d[0].GetDone() != "c" {
		t.Errorf("degradations %v", d)
	}
	if got.GetTokens().GetSavedByExpiry() != 1 || got.GetTokens().GetSavedByRetention() != 2 || got.GetPrefix().GetBrokenBy() != pb.PrefixBreak_PREFIX_BREAK_RETENTION {
		t.Errorf("got %v", got)
	}
}
