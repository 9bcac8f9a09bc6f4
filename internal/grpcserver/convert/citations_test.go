package convert

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func drawCitationsPolicy(t *rapid.T, p *pb.Policy) {
	flag := rapid.Ptr(rapid.Bool(), true)
	p.Citations = &pb.CitationsPolicy{
		Enabled: flag.Draw(t, "citations"), ThresholdChars: rapid.Ptr(rapid.Int32Range(200, 9_000), true).Draw(t, "threshold"),
		ReleaseOnEndRun: flag.Draw(t, "release"), RecallTools: drawNames(t),
	}
	if proto.Size(p.GetCitations()) == 0 {
		p.Citations = nil
	}
}

const shownText = "[c1-abc] Zürich is a city … ask retrieve_content"

// shown is a citation of shownText.
func shown() *conversation.Citation {
	return &conversation.Citation{
		ContentID: "c1-abc", SourceType: conversation.SourceTypeWeb, SourceURL: "https://example.org", SourceTitle: "Zürich", ContentType: "text/html",
		TotalBytes: 2_100_000, TotalChars: 2_000_000, Location: "beginning",
		ExcerptFrom: 9, ExcerptEnd: int32(strings.Index(shownText, " …")), HowFrom: int32(strings.Index(shownText, "ask")),
	}
}

func shownProto() *pb.Citation {
	return &pb.Citation{
		ContentId: "c1-abc", Excerpt: "Zürich is a city", Location: "beginning", TotalChars: 2_000_000, TotalBytes: 2_100_000,
		SourceType: pb.SourceType_SOURCE_TYPE_WEB, SourceUrl: "https://example.org", SourceTitle: "Zürich", ContentType: "text/html",
		HowToRetrieve: "ask retrieve_content", Text: shownText,
	}
}

func drawDeduplicationPolicy(t *rapid.T, p *pb.Policy) {
	number, flag := rapid.SampledFrom([]*int32{nil, new(int32(2))}), rapid.SampledFrom([]*bool{nil, new(true), new(false)})
	p.Deduplication = &pb.DeduplicationPolicy{Enabled: flag.Draw(t, "deduplicates"), ExcludedTools: drawNames(t), MinLines: number.Draw(t, "lines")}
	if proto.Size(p.GetDeduplication()) == 0 {
		p.Deduplication = nil
	}
}

func TestToParts_Citations(t *testing.T) {
	got := toParts([]conversation.Part{
		{Kind: conversation.PartText, Text: conversation.Content{Inline: shownText}, Citation: shown(), Plugin: "p"},
		{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{CallID: "a", Text: conversation.Content{Inline: shownText}}, Citation: shown()},
		{Kind: conversation.PartText, Text: conversation.Content{Inline: shownText}},
	})
	want := []*pb.Part{
		{Content: &pb.Part_Citation{Citation: shownProto()}, Plugin: "p"},
		{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: "a", Output: &pb.ToolResult_Text{Text: shownText}, Citation: shownProto()}}},
		{Content: &pb.Part_Text{Text: shownText}},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

// TestToPart_DamagedCitation_CanStillBeSent: whatever places a record names, no panic, and nothing that the wire refuses.
func TestToPart_DamagedCitation_CanStillBeSent(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.Just(shownText), rapid.Just(""), rapid.Just("ü"), rapid.String()).Draw(t, "text")
		place := rapid.OneOf(rapid.Int32Range(-2, int32(len(text))+2), rapid.Int32())
		c := shown()
		c.ExcerptFrom, c.ExcerptEnd, c.HowFrom = place.Draw(t, "from"), place.Draw(t, "end"), place.Draw(t, "how")
		for _, p := range []conversation.Part{
			{Kind: conversation.PartText, Text: conversation.Content{Inline: text}, Citation: c},
			{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Text: conversation.Content{Inline: text}}, Citation: c},
			{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Output: conversation.OutputParts}, Citation: c},
			{Kind: conversation.PartMedia, Media: &conversation.Media{}, Citation: c},
		} {
			if _, err := proto.Marshal(toPart(&p)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestToEvent_Content_IsNamed(t *testing.T) {
	got := ToEvent(conversation.Event{
		Type: conversation.EventCited, Index: 3, Last: 3, Content: "c1-abc", Reason: conversation.ReasonOverCitationThreshold,
		Level: conversation.Cited, Saved: 900, EditSeq: 2, Expandable: true,
	})
	want := &pb.LifecycleEvent{
		Type: pb.EventType_EVENT_TYPE_CITED, MessageIndex: 3, EndIndex: 4, ContentId: "c1-abc", TokensSaved: 900, EditId: "e2",
		Reason: pb.DecisionReason_DECISION_REASON_OVER_CITATION_THRESHOLD,
		View:   &pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_CITED, EditId: "e2", TokensSaved: 900, CanExpand: true},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	for _, kind := range []conversation.EventType{conversation.EventContentStored, conversation.EventContentExpired} {
		if got := ToEvent(conversation.Event{Type: kind, Content: "c1-abc"}); got.GetView() != nil || got.GetContentId() != "c1-abc" {
			t.Errorf("about a content: %v", got)
		}
	}
}
