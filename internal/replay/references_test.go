package replay

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

func TestWords_Scan_FindsReferences(t *testing.T) {
	for text, want := range map[string]string{
		"see /src/main.go, or main.go.":        "/src/main.go main.go",
		"id order_77 and (abc-123) but not it": "abc-123 order_77",
		"end of a sentence. Another sentence":  "",
		"v1.2 is short, v1.2.3 is not":         "v1.2.3",
		`{"a":"x\nfoo_bar"}`:                   "foo_bar",
		"dir/sub/ and --flag_name":             "dir/sub flag_name",
		"größe_1 日本語のID7":                      "größe_1 日本語のID7",
		"":                                     "",
	} {
		w := references{}
		w.scan(text)
		if got := strings.Join(slices.Sorted(maps.Keys(w)), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWords_Add_ReadsArgumentsByValue(t *testing.T) {
	w := references{}
	w.add(validate.Item{Kind: validate.Call, Texts: []string{`{"path":"a_b_c_d\ne_f_g_h","line":1234567}`}})
	w.add(validate.Item{Kind: validate.Call, Texts: []string{`not JSON: x_y_z_0`}})
	w.add(validate.Item{Kind: validate.Reasoning, Texts: []string{`thought_1`}})
	if got := strings.Join(slices.Sorted(maps.Keys(w)), " "); got != "1234567 a_b_c_d e_f_g_h x_y_z_0" {
		t.Error(got)
	}
}

func TestMissing_NewestUnit_AllowsClippingAlone(t *testing.T) {
	long := essay(80)
	unit := []validate.Message{
		{Role: "assistant", Items: []validate.Item{{Kind: validate.Call, Texts: []string{`{"b":1,"a":[]}`}}, {Kind: validate.Text, Texts: []string{" "}}}},
		{Role: "tool", Items: []validate.Item{{Kind: validate.Result, Texts: []string{long}}}},
	}
	shown := func(arguments, result string) []validate.Block {
		return []validate.Block{
			{Items: []validate.Item{{Kind: validate.Call, Texts: []string{arguments}}}},
			{Items: []validate.Item{{Kind: validate.Result, Texts: []string{result}}}},
			{Items: []validate.Item{{Kind: validate.Text, Texts: []string{"Continue."}}}},
		}
	}
	if got := missing(unit, unit, shown(`{"a": [], "b": 1}`, long[:100]+"..."+long[450:]), false); got != "" {
		t.Error(got)
	}
	if got := missing(unit, unit, shown(`{"_raw":"{\"b\":1,\"a\":[]}"}`, long), false); got != "" {
		t.Error(got)
	}
	for _, blocks := range [][]validate.Block{shown(`{"a":[],"b":2}`, long), shown(`{"b":1,"a":[]}`, long[:20]+long[300:]), shown(`{"b":1,"a":[]}`, long[:300]), nil} {
		if missing(unit, unit, blocks, false) == "" {
			t.Errorf("nothing is missing in %+v", blocks)
		}
	}
	far := append(shown(`{"b":1,"a":[]}`, long), make([]validate.Block, 0, 9)...)
	for range 9 {
		far = append(far, validate.Block{Items: []validate.Item{{Kind: validate.Text, Texts: []string{"later"}}}})
	}
	if missing(unit, unit, far, false) == "" {
		t.Error("the newest unit must stand at the end")
	}
}

func TestMissing_CitedResult_MayBeClippedFromTheOriginal(t *testing.T) {
	long := essay(80)
	result := func(text string) []validate.Message {
		return []validate.Message{{Role: "tool", Items: []validate.Item{{Kind: validate.Result, Texts: []string{text}}}}}
	}
	cited, original := result("[c1] "+long[:250]+" and how to get more"), result(long)
	clipped := []validate.Block{{Items: []validate.Item{{Kind: validate.Result, Texts: []string{long[:100] + "..." + long[400:]}}}}}
	if got := missing(cited, original, clipped, false); got != "" {
		t.Error(got)
	}
	if missing(cited, original, clipped, true) == "" {
		t.Error("a citation that has room is not clipped")
	}
}
