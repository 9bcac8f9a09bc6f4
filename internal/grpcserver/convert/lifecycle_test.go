package convert

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func TestFromExpiration_NothingSet_IsNone(t *testing.T) {
	if e := FromExpiration(&pb.Expiration{Source: pb.ExpirationSource_EXPIRATION_SOURCE_TOOL}); e != nil {
		t.Errorf("got %+v", e)
	}
	e := ToExpiration(&conversation.Expiration{Turns: new(int32(0)), Source: conversation.SourceTool})
	if e.GetSource() != pb.ExpirationSource_EXPIRATION_SOURCE_TOOL || e.Turns == nil {
		t.Errorf("got %v", e)
	}
}

// TestFromPart_OutputOnly_IsIgnored: what a caller says of plugins, variants and erasure means nothing.
func TestFromPart_OutputOnly_IsIgnored(t *testing.T) {
	p := &pb.Part{Content: &pb.Part_Text{Text: "x"}}
	p.Plugin, p.Variant, p.Erasure = "p", pb.PartVariant_PART_VARIANT_DISPLAY_ONLY, &pb.Erasure{OriginalLengthBytes: 1}
	if diff := cmp.Diff(conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: "x"}}, FromPart(p)); diff != "" {
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
			{Text: gone(1)}, {Text: conversation.Content{Inline: "left"}}, {Media: &conversation.Media{Data: gone(2)}},
		}}},
		{Kind: conversation.PartText, Text: conversation.Content{Inline: "left"}},
	})
	want := []*pb.Part{
		{Content: &pb.Part_Text{}, Plugin: "p", Variant: pb.PartVariant_PART_VARIANT_PERSISTENT_ONLY, Retention: &pb.Retention{Policy: &pb.Retention_KeepLast{KeepLast: 3}}, Erasure: &pb.Erasure{OriginalLengthBytes: 10, OriginalLengthChars: 5}},
		{Content: &pb.Part_Media{Media: &pb.Media{MimeType: "a/b"}}, Erasure: &pb.Erasure{}},
		{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{Output: &pb.ToolResult_Parts{Parts: &pb.ToolResultParts{Parts: []*pb.ToolResultPart{
			{Content: &pb.ToolResultPart_Text{}}, {Content: &pb.ToolResultPart_Text{Text: "left"}}, {Content: &pb.ToolResultPart_Media{Media: &pb.Media{}}},
		}}}}}, Erasure: &pb.Erasure{OriginalLengthBytes: 6, OriginalLengthChars: 3}},
		{Content: &pb.Part_Text{Text: "left"}},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestToMessageInView_Lifecycle(t *testing.T) {
	m := &engine.MessageInView{Level: conversation.Shortened, Expired: true, Expandable: true, Message: conversation.Message{
		Expiration: &conversation.Expiration{Turns: new(int32(1)), Source: conversation.SourceOverride},
		Parts:      []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: "x"}}},
	}}
	got := ToMessageInView(m)
	if !got.GetView().GetExpired() || !got.GetView().GetCanExpand() || got.GetExpiration().GetSource() != pb.ExpirationSource_EXPIRATION_SOURCE_OVERRIDE {
		t.Errorf("got %v", got)
	}
	m.Expandable = false
	if ToMessageInView(m).GetView().GetCanExpand() {
		t.Error("what was erased can be expanded")
	}
}

func TestToEvent_Expired_BySomeReasonsAlone(t *testing.T) {
	for n := range pb.DecisionReason_name {
		reason := conversation.Reason(n)
		want := conversation.ReasonExpired <= reason && reason <= conversation.ReasonExpiredExtract
		if got := ToEvent(conversation.Event{Reason: reason}).GetView().GetExpired(); got != want {
			t.Errorf("reason %d: expired %v", n, got)
		}
	}
}
