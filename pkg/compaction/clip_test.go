package compaction_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// perChar counts one token for every ASCII character and two for others: an uneven counter, like real vocabularies.
type perChar struct{}

func (perChar) Name() string { return "per-char" }

func (perChar) Count(text string) (int, bool) {
	n := 0
	for _, r := range text {
		n++
		if r >= utf8.RuneSelf {
			n++
		}
	}
	return n, len(text) > 1<<20
}

func textResult(text string, counter tokens.Counter) conversation.Part {
	n, _ := counter.Count(text)
	return conversation.Part{Kind: conversation.PartToolResult, Tokens: int32(n), Result: &conversation.ToolResult{
		CallID: "call", Name: "tool", Ordinal: 3, State: conversation.ResultError, Text: conversation.Content{Inline: text},
	}}
}

var clipped = regexp.MustCompile(`(?s)^(.*)\n\.\.\.\n\[Clipped: first (\d+) and last (\d+) of (\d+) characters shown\. ` +
	`Full text: expand_message\((\d+)\)\]\n\.\.\.\n(.*)$`)

// pieces takes a clipped text apart, and checks its annotation against the text.
func pieces(t interface {
	Helper()
	Fatalf(string, ...any)
}, original, shown string, index int32) (head, tail string) {
	t.Helper()
	m := clipped.FindStringSubmatch(shown)
	if m == nil {
		t.Fatalf("no annotation in %q", shown)
	}
	head, tail = m[1], m[6]
	for i, want := range map[int]int{
		2: utf8.RuneCountInString(head), 3: utf8.RuneCountInString(tail), 4: utf8.RuneCountInString(original), 5: int(index),
	} {
		if got, err := strconv.Atoi(m[i]); err != nil || got != want {
			t.Fatalf("the annotation says %s, want %d: %q", m[i], want, shown)
		}
	}
	if !strings.HasPrefix(original, head) || !strings.HasSuffix(original, tail) || len(head)+len(tail) > len(original) {
		t.Fatalf("head %q and tail %q are not the text's", head, tail)
	}
	return head, tail
}

func TestClip_LongText_ExactForm(t *testing.T) {
	text := strings.Repeat("0123456789", 100)
	got, ok := compaction.Clip(textResult(text, chars4.New()), 42, 75, chars4.New())
	if !ok {
		t.Fatal("not clipped")
	}
	head, tail := pieces(t, text, got.Result.Text.Inline, 42)
	want := fmt.Sprintf("%s\n...\n[Clipped: first %d and last %d of 1000 characters shown. Full text: expand_message(42)]\n...\n%s",
		text[:len(head)], len(head), len(tail), text[1000-len(tail):])
	if got.Result.Text.Inline != want {
		t.Errorf("got  %q\nwant %q", got.Result.Text.Inline, want)
	}
	if len(head) <= len(tail) || len(tail) < 20 {
		t.Errorf("head %d, tail %d", len(head), len(tail))
	}
	r := got.Result
	if got.Kind != conversation.PartToolResult || r.CallID != "call" || r.Name != "tool" || r.Ordinal != 3 || r.State != conversation.ResultError {
		t.Errorf("what pairs and describes the result changed: %+v", r)
	}
	if n, _ := chars4.New().Count(want); int(got.Tokens) != n || got.Tokens > 75 {
		t.Errorf("weighs %d, said to weigh %d", n, got.Tokens)
	}
}

// TestClip_Bone_IsAsLongAsPromised: behaviour §4 clips a part to 200 characters and no further.
func TestClip_Bone_IsAsLongAsPromised(t *testing.T) {
	for _, chars := range []int{201, 230, 999, 1000, 9_999, 10_000, 123_456, 1_000_000} {
		for _, index := range []int32{0, 9, 10, 12_345, 1<<31 - 1} {
			for _, limit := range []int64{-1, 0, 1, 49} {
				text := strings.Repeat("x", chars)
				got, ok := compaction.Clip(textResult(text, perChar{}), index, limit, perChar{})
				if !ok {
					t.Fatalf("%d characters at limit %d: not clipped", chars, limit)
				}
				if n := utf8.RuneCountInString(got.Result.Text.Inline); n < compaction.MinClipChars || n > compaction.MinClipChars+2 {
					t.Errorf("%d characters at index %d: clipped to %d characters", chars, index, n)
				}
				pieces(t, text, got.Result.Text.Inline, index)
			}
		}
	}
}

func TestClip_NothingSaved_IsFalse(t *testing.T) {
	for _, tt := range []struct {
		name  string
		text  string
		limit int64
	}{
		{"empty", "", 0}, {"tiny", "a", 0}, {"as long as the bone", strings.Repeat("x", 200), 1}, {"within the limit", strings.Repeat("x", 4000), 1000},
		{"far within the limit", strings.Repeat("x", 4000), 1 << 40},
	} {
		part := textResult(tt.text, chars4.New())
		got, ok := compaction.Clip(part, 0, tt.limit, chars4.New())
		if ok || got.Result != part.Result || got.Tokens != part.Tokens {
			t.Errorf("%s: clipped to %q", tt.name, got.Result.Text.Inline)
		}
	}
}

// clusterBorders are texts that are each drawn as one character.
var clusterBorders = []string{
	"a", " ", "\n", "\r\n", "é", "e\u0301", "e\u0301\u0323", "你", "好", "नि", "กี่", "각", "\u1100\u1161\u11a8", "👍", "👍🏽", "☝\ufe0f",
	"👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🇨🇳", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "1\ufe0f\u20e3", "ｶﾞ",
}

func TestClip_Clusters_AreNeverCut(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(clusterBorders), 1, 4, rapid.ID).Draw(t, "alphabet")
		chosen := rapid.SliceOfN(rapid.SampledFrom(some), 60, 600).Draw(t, "clusters")
		text, limit := strings.Join(chosen, ""), rapid.Int64Range(0, 900).Draw(t, "limit")
		got, ok := compaction.Clip(textResult(text, perChar{}), 7, limit, perChar{})
		if !ok {
			return
		}
		head, tail := pieces(t, text, got.Result.Text.Inline, 7)
		bounds := map[int]bool{0: true}
		end := 0
		for _, c := range chosen {
			end += len(c)
			bounds[end] = true
		}
		if !bounds[len(head)] || !bounds[len(text)-len(tail)] {
			t.Fatalf("a cluster was cut: %+q ... %+q", head, tail)
		}
		if head == "" || tail == "" {
			t.Fatalf("nothing is shown of %d clusters: %+q", len(chosen), got.Result.Text.Inline)
		}
	})
}

func TestClip_AnyText_WithinLimitAndStable(t *testing.T) {
	counters := []tokens.Counter{chars4.New(), perChar{}}
	proptest.Check(t, func(t *rapid.T) {
		counter := rapid.SampledFrom(counters).Draw(t, "counter")
		dense := strings.Repeat(rapid.SampledFrom([]string{"你", "x", "🇩🇪", "\r\n", "\xff"}).Draw(t, "dense"), rapid.IntRange(0, 3000).Draw(t, "times"))
		text := rapid.String().Draw(t, "head") + dense + rapid.String().Draw(t, "tail")
		part, limit := textResult(text, counter), rapid.Int64Range(-5, 1500).Draw(t, "limit")
		got, ok := compaction.Clip(part, 1, limit, counter)
		if part.Result.Text.Inline != text {
			t.Fatal("the original changed")
		}
		bone, _ := counter.Count(strings.Repeat("你", compaction.MinClipChars+2))
		if int64(part.Tokens) > max(limit, int64(bone)) && !ok {
			t.Fatalf("%d tokens over %d were not clipped", part.Tokens, limit)
		}
		if !ok {
			return
		}
		n, _ := counter.Count(got.Result.Text.Inline)
		if n != int(got.Tokens) || n >= int(part.Tokens) || int64(n) > max(limit, int64(bone)) {
			t.Fatalf("%d tokens (said to be %d) of %d at limit %d", n, got.Tokens, part.Tokens, limit)
		}
		if again, ok := compaction.Clip(got, 1, max(limit, int64(n)), counter); ok {
			t.Fatalf("clipped again to %q", again.Result.Text.Inline)
		}
	})
}

func TestClip_HugeText_KeepsBothEnds(t *testing.T) {
	text := "BEGIN" + strings.Repeat("你好 world ", 300_000) + "END"
	got, ok := compaction.Clip(textResult(text, perChar{}), 5, 10_000, perChar{})
	if !ok || got.Tokens > 10_000 || got.Tokens < 8_000 {
		t.Fatalf("clipped %v to %d tokens", ok, got.Tokens)
	}
	head, tail := pieces(t, text, got.Result.Text.Inline, 5)
	if !strings.HasPrefix(head, "BEGIN") || !strings.HasSuffix(tail, "END") {
		t.Error("an end is missing")
	}
	if got.Estimated {
		t.Error("the clipped text was counted whole")
	}
}

func TestClip_PartsWithMedia_BecomeOneLineEach(t *testing.T) {
	long := strings.Repeat("word ", 400)
	part := conversation.Part{Kind: conversation.PartToolResult, Tokens: 3700, Result: &conversation.ToolResult{
		Output: conversation.OutputParts,
		Parts: []conversation.ResultPart{
			{Media: &conversation.Media{MIMEType: "image/png", Data: conversation.Content{Inline: "\x89PNG"}}},
			{Text: conversation.Content{Inline: long}},
			{Media: &conversation.Media{MIMEType: "video/mp4", URI: "https://example.com/v"}},
		},
	}}
	want := "[Media: image/png, 4 bytes]\n" + long + "\n[Media: video/mp4, https://example.com/v]"
	if got := part.Result.Lines(); got != want {
		t.Errorf("as text: %q", got)
	}
	got, ok := compaction.Clip(part, 3, 100, chars4.New())
	if !ok || got.Tokens > 100 || got.Result.Output != conversation.OutputText || got.Result.Parts != nil {
		t.Fatalf("clipped %v: %+v", ok, got.Result)
	}
	head, tail := pieces(t, want, got.Result.Text.Inline, 3)
	if !strings.HasPrefix(head, "[Media: image/png, 4 bytes]\n") || !strings.HasSuffix(tail, "[Media: video/mp4, https://example.com/v]") {
		t.Errorf("head %q, tail %q", head, tail)
	}
	if len(part.Result.Parts) != 3 || part.Result.Parts[0].Media == nil {
		t.Error("the original changed")
	}
}

func TestClip_JSONResult_IsTextAfterwards(t *testing.T) {
	part := textResult(`[`+strings.Repeat(`{"a":1},`, 500)+`{}]`, chars4.New())
	part.Result.Output = conversation.OutputJSON
	got, ok := compaction.Clip(part, 0, 100, chars4.New())
	if !ok || got.Result.Output != conversation.OutputText {
		t.Errorf("clipped %v: what is no JSON any more is said to be %d", ok, got.Result.Output)
	}
}

// TestClip_LongRunsOfFlags: the borders of a cluster may depend on text far before it.
func TestClip_LongRunsOfFlags(t *testing.T) {
	for _, before := range []string{"", "x", "你"} {
		text := before + strings.Repeat("🇩🇪", 3000)
		for limit := int64(400); limit < 9000; limit += 331 {
			got, ok := compaction.Clip(textResult(text, perChar{}), 7, limit, perChar{})
			if !ok {
				t.Fatalf("limit %d: not clipped", limit)
			}
			head, tail := pieces(t, text, got.Result.Text.Inline, 7)
			if (len(head)-len(before))%len("🇩🇪") != 0 || len(tail)%len("🇩🇪") != 0 {
				t.Fatalf("%q, limit %d: half a flag in a head of %d or a tail of %d bytes", before, limit, len(head), len(tail))
			}
		}
	}
}
