package citations

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// anyContent is text of many scripts, in lines of any length, or a list.
func anyContent() *rapid.Generator[string] {
	pieces := rapid.SampledFrom([]string{"plain words ", "\n", "\r\n", "ü", "黑豹队", "ภาษาไทย", "👩‍👩‍👧", "e\u0301", " ", "\t", "[1]", "<b>", "\x01", strings.Repeat("long ", 300)})
	text := rapid.Map(rapid.SliceOfN(pieces, 0, 300), func(p []string) string { return strings.Join(p, "") })
	list := rapid.Map(rapid.SliceOfN(rapid.StringN(0, 60, 200), 0, 60), func(items []string) string {
		b, err := json.Marshal(items)
		if err != nil {
			panic(err) // texts always encode
		}
		return string(b)
	})
	return rapid.OneOf(text, list)
}

// within is what a range of a content is, found the simple way.
func within(text, unit string, from, end int64) string {
	switch unit {
	case "bytes":
		from, end = min(from, int64(len(text))), min(end, int64(len(text)))
		return text[from:end]
	case "chars":
		runes := []rune(text)
		return string(runes[min(from, int64(len(runes))):min(end, int64(len(runes)))])
	default:
		lines := strings.SplitAfter(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		return strings.Join(lines[min(from, int64(len(lines))):min(end, int64(len(lines)))], "")
	}
}

func rangeOf(unit string, from, end int64) *pb.ContentRange {
	span := &pb.Span{StartIndex: from, EndIndex: new(end)}
	switch unit {
	case "bytes":
		return &pb.ContentRange{Unit: &pb.ContentRange_Bytes{Bytes: span}}
	case "chars":
		return &pb.ContentRange{Unit: &pb.ContentRange_Chars{Chars: span}}
	case "items":
		return &pb.ContentRange{Unit: &pb.ContentRange_Items{Items: span}}
	default:
		return &pb.ContentRange{Unit: &pb.ContentRange_Lines{Lines: span}}
	}
}

// pages are all pages of an answer, each of which keeps its limits.
func (w *world) pages(t *rapid.T, request *pb.RetrieveContentRequest) (out []string) {
	for {
		page, err := w.contents.RetrieveContent(w.ctx(), request)
		if process.Reason(err) == "EXPANSION_TOO_LARGE" {
			return nil // a single character, or item, is larger than what was asked for
		}
		if err != nil {
			t.Fatalf("%v: %s", request.GetSelection(), told(err))
		}
		if n := weigh(string(page.GetChunk())); request.GetMaxTokens() > 0 && n > int(request.GetMaxTokens()) {
			t.Fatalf("a page of %d tokens, of at most %d", n, request.GetMaxTokens())
		}
		if n := proto.Size(page); request.GetMaxReplyBytes() > 0 && n > int(request.GetMaxReplyBytes()) {
			t.Fatalf("a page of %d bytes, of at most %d", n, request.GetMaxReplyBytes())
		}
		if !utf8.Valid(page.GetChunk()) {
			t.Fatal("a page ends within a character")
		}
		out = append(out, string(page.GetChunk()))
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return out
		}
		if len(out) > 10_000 {
			t.Fatal("the pages do not end")
		}
	}
}

// TestRetrieveContent_AnyRange_IsWhatItSays: in pages of any size, what comes back is what the range is.
func TestRetrieveContent_AnyRange_IsWhatItSays(t *testing.T) {
	w := newWorld(t)
	proptest.Check(t, func(rt *rapid.T) {
		text := anyContent().Draw(rt, "content")
		stored, err := w.store(w.ctx(), &pb.StoreContentHeader{ConversationId: "ranges"}, strings.NewReader(text))
		if err != nil {
			rt.Fatal(told(err))
		}
		unit := rapid.SampledFrom([]string{"bytes", "chars", "lines"}).Draw(rt, "unit")
		from := rapid.Int64Range(0, int64(len(text))+5).Draw(rt, "from")
		end := from + rapid.Int64Range(0, int64(len(text))+5).Draw(rt, "length")
		want := within(text, unit, from, end)
		if !utf8.ValidString(want) {
			return // what bytes cut, other tests are about
		}
		request := &pb.RetrieveContentRequest{
			ConversationId: "ranges", ContentId: stored.GetCitation().GetContentId(), MaxTokens: rapid.SampledFrom([]int32{0, 0, 7, 50, 1000}).Draw(rt, "tokens"),
			Selection: &pb.RetrieveContentRequest_Range{Range: rangeOf(unit, from, end)},
		}
		if rapid.Bool().Draw(rt, "small pages") {
			request.MaxReplyBytes = new(rapid.Int32Range(1000, 3000).Draw(rt, "reply"))
		}
		if got := w.pages(rt, request); got != nil && strings.Join(got, "") != want {
			rt.Fatalf("%s %d-%d: %d pages hold\n%q\nand not\n%q", unit, from, end, len(got), strings.Join(got, ""), want)
		}
	})
}

// TestExcerpts_AnyContent_KeepTheirLimits: in number, length and tokens; and each is where it says it is.
func TestExcerpts_AnyContent_KeepTheirLimits(t *testing.T) {
	w := newWorld(t)
	proptest.Check(t, func(rt *rapid.T) {
		text := anyContent().Draw(rt, "content")
		stored, err := w.store(w.ctx(), &pb.StoreContentHeader{ConversationId: "limits"}, strings.NewReader(text))
		if err != nil {
			rt.Fatal(told(err))
		}
		q := &pb.ExcerptQuery{
			SearchTerms: rapid.SliceOfN(rapid.SampledFrom([]string{"plain words", "豹", "ไทย", "long", "1", "b", "\"", "e\u0301"}), 1, 5).Draw(rt, "terms"),
			MaxExcerpts: rapid.Int32Range(0, 20).Draw(rt, "most"), MaxExcerptChars: rapid.Int32Range(0, 500).Draw(rt, "chars"),
		}
		limit := rapid.SampledFrom([]int32{0, 10, 100, 1000}).Draw(rt, "tokens")
		got, err := w.contents.RetrieveContent(w.ctx(), &pb.RetrieveContentRequest{
			ConversationId: "limits", ContentId: stored.GetCitation().GetContentId(), MaxTokens: limit,
			Selection: &pb.RetrieveContentRequest_Excerpts{Excerpts: q},
		})
		if err != nil {
			rt.Fatal(told(err))
		}
		most, chars := int(q.GetMaxExcerpts()), int(q.GetMaxExcerptChars())
		if most == 0 {
			most = 5
		}
		if chars == 0 {
			chars = 500
		}
		tokens := 0
		for _, x := range got.GetExcerpts() {
			tokens += weigh(x.GetText())
			from, to := x.GetByteRange().GetStartIndex(), x.GetByteRange().GetEndIndex()
			if from > to || to > int64(len(text)) || utf8.RuneCountInString(x.GetText()) > chars || !strings.HasPrefix(text, "<") && text[from:to] != x.GetText() {
				rt.Fatalf("an excerpt of %d bytes is at [%d, %d)", len(x.GetText()), from, to)
			}
		}
		if len(got.GetExcerpts()) > most || limit > 0 && tokens > int(limit) {
			rt.Fatalf("%d excerpts of %d tokens, at most %d of %d", len(got.GetExcerpts()), tokens, most, limit)
		}
	})
}

// TestHandle_OfAnEarlierLife_LooksAbsent: a conversation that was deleted and made anew knows nothing of what it held before.
func TestHandle_OfAnEarlierLife_LooksAbsent(t *testing.T) {
	w := newWorld(t)
	before := w.keep(t, "again", "", textOf(1, 100_000))
	must[[]*pb.Excerpt](t)(w.excerpts(t.Context(), "again", before, "line 3"))
	must[*pb.DeleteConversationResponse](t)(w.conversations.DeleteConversation(t.Context(), &pb.DeleteConversationRequest{ConversationId: "again"}))
	for how, ask := range askings() {
		if got := ask(t.Context(), w.client, "again", before); !strings.Contains(got, "CONVERSATION_DELETED") {
			t.Errorf("%s: of a deleted conversation: %s", how, got)
		}
	}
	w.create(t, "again", nil)
	w.keep(t, "again", "", "something else")
	for how, ask := range askings() {
		if got := ask(t.Context(), w.client, "again", before); !strings.Contains(got, "no content") {
			t.Errorf("%s: %s", how, got)
		}
	}
}

// TestStoreContent_CutOff_LeavesNothing: who goes away in the middle has stored nothing, and nothing is left of it.
func TestStoreContent_CutOff_LeavesNothing(t *testing.T) {
	w := newWorld(t)
	w.keep(t, "cut", "", "something")
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		stream := must[pb.ContentService_StoreContentClient](t)(w.contents.StoreContent(ctx))
		for _, request := range []*pb.StoreContentRequest{
			{Piece: &pb.StoreContentRequest_Header{Header: &pb.StoreContentHeader{ConversationId: "cut"}}},
			{Piece: &pb.StoreContentRequest_Chunk{Chunk: bytes.Repeat([]byte("x"), 3<<20)}},
		} {
			if err := stream.Send(request); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		// Without closing: an end that arrives before the cancellation would make the content whole.
		if err := stream.RecvMsg(&pb.StoreContentResponse{}); err == nil {
			t.Fatal("it was stored")
		}
	}
	if _, err := w.store(t.Context(), &pb.StoreContentHeader{ConversationId: "cut", Sha256: strings.Repeat("0", 64)}, io.LimitReader(newProse(1, 3<<20), 3<<20)); process.Reason(err) != "CHECKSUM_MISMATCH" {
		t.Errorf("bytes with another hash: %s", told(err))
	}
	if n := len(w.sources(t, "cut")); n != 1 {
		t.Errorf("there are %d contents", n)
	}
	eventually(t, "uploads that nobody finishes are left", func() error {
		due := must[[]store.Task](t)(w.kept.Due(t.Context(), farFuture(), 100))
		for _, task := range due {
			if task.Staged || !task.Upload.IsZero() {
				return fmt.Errorf("%d tasks are due some time", len(due))
			}
		}
		return nil
	})
}
