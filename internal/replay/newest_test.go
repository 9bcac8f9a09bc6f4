package replay

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/validate"
)

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
