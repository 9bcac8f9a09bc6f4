package grpcserver

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
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

func TestToParts_Citations(t *testing.T) {
	got := toParts([]conversation.Part{
		{Kind: conversation.PartText, Text: inline(shownText), Citation: shown(), Plugin: "p"},
		{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{CallID: "a", Text: inline(shownText)}, Citation: shown()},
		{Kind: conversation.PartText, Text: inline(shownText)},
	})
	want := []*pb.Part{
		{Content: &pb.Part_Citation{Citation: shownProto()}, Plugin: "p"},
		resultPart(&pb.ToolResult{CallId: "a", Output: &pb.ToolResult_Text{Text: shownText}, Citation: shownProto()}),
		textPart(shownText),
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
			{Kind: conversation.PartText, Text: inline(text), Citation: c},
			{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Text: inline(text)}, Citation: c},
			{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{Output: conversation.OutputParts}, Citation: c},
			{Kind: conversation.PartMedia, Media: &conversation.Media{}, Citation: c},
		} {
			if _, err := proto.Marshal(toPart(&p)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestToSource_EveryField(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123)
	full := engine.Source{
		ContentID: "c1-abc", Type: conversation.SourceTypeDatabase, URL: "u", Title: "n", ContentType: "application/json", Bytes: 2, Chars: 1,
		SHA256: &[32]byte{0xab}, Accessed: at, CitedBy: []int32{1, 5}, Expired: true, RunID: "r", Metadata: "{}", AtAppend: true,
		Expires: at.Add(time.Hour),
	}
	want := &pb.SourceRecord{
		ContentId: "c1-abc", SourceType: pb.SourceType_SOURCE_TYPE_DATABASE, SourceUrl: "u", SourceTitle: "n", ContentType: "application/json", TotalBytes: 2,
		TotalChars: 1, Sha256: "ab" + strings.Repeat("0", 62), AccessTime: timestamppb.New(at), CitedBy: []int32{1, 5},
		State: pb.ContentState_CONTENT_STATE_EXPIRED, RunId: "r", MetadataJson: "{}", CitedAtAppend: true,
		ExpireTime: timestamppb.New(at.Add(time.Hour)),
	}
	if diff := cmp.Diff(want, toSource(full), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	least := toSource(engine.Source{ContentID: "c"})
	if diff := cmp.Diff(&pb.SourceRecord{ContentId: "c", State: pb.ContentState_CONTENT_STATE_STORED}, least, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestToExcerpts_RoomEnds_TheWorstAreLeftOut(t *testing.T) {
	one := engine.ContentExcerpt{
		ContentID: "c", Text: "text", Location: "lines 1-2", Bytes: [2]int64{1, 6}, Chars: [2]int64{1, 5}, Score: 2.5,
		Matched: []string{"te", "xt"}, Relevance: "why",
	}
	want := &pb.Excerpt{
		ContentId: "c", Text: "text", Location: "lines 1-2", ByteRange: &pb.ContentSpan{Start: 1, End: 6},
		CharRange: &pb.ContentSpan{Start: 1, End: 5}, Score: 2.5, MatchedTerms: []string{"te", "xt"}, Relevance: "why",
	}
	list := []engine.ContentExcerpt{one, one, one}
	each := elementBytes(want)
	for room, fit := range map[int]int{0: 1, each - 1: 1, each: 1, 3*each - 1: 2, 3 * each: 3, 1 << 20: 3} {
		got := toExcerpts(list, room)
		if len(got) != fit {
			t.Errorf("%d bytes hold %d excerpts, want %d", room, len(got), fit)
		}
		for _, e := range got {
			if diff := cmp.Diff(want, e, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestToReceipts_Citations(t *testing.T) {
	cited := engine.Cited{Citation: *shown(), Text: shownText, Excerpt: "Zürich is a city", How: "ask retrieve_content"}
	got := toReceipts(&engine.AppendResult{
		Messages: make([]conversation.Message, 3), Citations: [][]engine.Cited{nil, {cited, cited}},
	})
	want := []*pb.Receipt{{}, {Citations: []*pb.Citation{shownProto(), shownProto()}}, {}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

// TestToReceipts_ThousandsOfCitations_FitAnyClient: what is committed must be told, in an answer that every client takes.
func TestToReceipts_ThousandsOfCitations_FitAnyClient(t *testing.T) {
	cited := engine.Cited{Citation: *shown(), Text: strings.Repeat("x", 2000), Excerpt: strings.Repeat("x", 500)}
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
	if n := proto.Size(out); n > defaultReplyBytes {
		t.Errorf("%d bytes", n)
	}
	first, last := out.GetReceipts()[0].GetCitations()[0], out.GetReceipts()[15].GetCitations()[999]
	if first.GetText() == "" || first.GetSourceUrl() == "" || last.GetText() != "" || last.GetContentId() != "c1-abc" || last.GetTotalBytes() == 0 {
		t.Errorf("the first %v, the last %v", first, last)
	}
}

func TestToEvent_Content_IsNamed(t *testing.T) {
	got := toEvent(conversation.Event{
		Type: conversation.EventCited, Index: 3, Last: 3, Content: "c1-abc", Reason: conversation.ReasonOverCitationThreshold,
		Level: conversation.Cited, Saved: 900, EditSeq: 2, Expandable: true,
	})
	want := &pb.LifecycleEvent{
		Type: pb.EventType_EVENT_TYPE_CITED, MessageIndex: 3, LastIndex: 3, ContentId: "c1-abc", TokensSaved: 900, EditId: "e2",
		Reason: pb.DecisionReason_DECISION_REASON_OVER_CITATION_THRESHOLD,
		View:   &pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_CITED, EditId: "e2", TokensSaved: 900, CanExpand: true},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	for _, kind := range []conversation.EventType{conversation.EventContentStored, conversation.EventContentExpired} {
		if got := toEvent(conversation.Event{Type: kind, Content: "c1-abc"}); got.GetView() != nil || got.GetContentId() != "c1-abc" {
			t.Errorf("about a content: %v", got)
		}
	}
}

func TestToBuildResponse_SavedByCiting(t *testing.T) {
	got := toBuildResponse(&engine.BuildResult{Tokens: engine.TokenReport{SavedByCiting: 7}})
	if got.GetTokens().GetSavedByCiting() != 7 {
		t.Errorf("got %v", got.GetTokens())
	}
}

func TestFromContentRange_EveryUnit(t *testing.T) {
	span := &pb.ContentSpan{Start: 2, End: 9}
	for want, r := range map[engine.ContentUnit]*pb.ContentRange{
		engine.ContentBytes: {Unit: &pb.ContentRange_Bytes{Bytes: span}},
		engine.ContentChars: {Unit: &pb.ContentRange_Chars{Chars: span}},
		engine.ContentLines: {Unit: &pb.ContentRange_Lines{Lines: span}},
		engine.ContentItems: {Unit: &pb.ContentRange_Items{Items: span}},
	} {
		if unit, got := fromContentRange(r); unit != want || got.GetStart() != 2 || got.GetEnd() != 9 {
			t.Errorf("%v is unit %d, %v", r, unit, got)
		}
	}
	if unit, got := fromContentRange(nil); unit != engine.ContentWhole || got != nil {
		t.Errorf("no range is %d, %v", unit, got)
	}
}

func TestFromDigest_WhatIsNone_IsRefused(t *testing.T) {
	digits := strings.Repeat("aB", 32)
	if got := fromDigest(digits); got == nil || got[31] != 0xab || toDigest(got) != strings.ToLower(digits) {
		t.Errorf("got %v", got)
	}
	for _, bad := range []string{"", digits[1:], digits + "0", digits + "00", "g" + digits[1:], strings.Repeat("é", 32)} {
		if fromDigest(bad) != nil {
			t.Errorf("%q is a digest", bad)
		}
	}
}
