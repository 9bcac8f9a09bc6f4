package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// hidden sends a whole list with HIDE and NEW, as adapters do, and demands that what the model sees is the list.
func (b *bench) hides(t testing.TB, id string, list []string) *engine.StepResult {
	t.Helper()
	step := engine.StepRequest{Build: buildRequest(id, conversation.FormatOpenAIChat, 100_000)}
	h := b.historyOf(t, conversation.FormatOpenAIChat, list, 0, "")
	h.Divergence, h.Cut = engine.DivergenceNew, engine.CutHide
	step.Append.History = h
	r, err := b.Step(ctx, step)
	if err != nil {
		t.Fatalf("%v, of %s", err, list)
	}
	if got, want := canonicalJSON(string(r.MessagesJSON)), canonicalJSON("["+strings.Join(list, ",")+"]"); got != want {
		t.Fatalf("the view:\n%s\nthe list:\n%s", got, want)
	}
	return r
}

func at(list []string, indexes ...int) []string {
	var out []string
	for _, i := range indexes {
		out = append(out, list[i])
	}
	return out
}

func ranges(bounds ...int32) []conversation.Range {
	var out []conversation.Range
	for i := 0; i < len(bounds); i += 2 {
		out = append(out, conversation.Range{First: bounds[i], End: bounds[i+1]})
	}
	return out
}

// TestEngine_AppendHistory_Hide_IsTheListFromThenOn: what a list lacks leaves the view in the commit of the append, and comes back with a list that
// holds it again.
func TestEngine_AppendHistory_Hide_IsTheListFromThenOn(t *testing.T) {
	t.Parallel()
	u := func(s string) string { return marshal(object{"role": "user", "content": s}) }
	a := func(s string) string { return marshal(object{"role": "assistant", "content": s}) }
	called := chatElements(call("x"))[0]
	answered := chatElements(result("x", "found"))[0]
	whole := []string{u("one"), a("first"), u("two"), called, answered, a("second"), u("three"), a("third")}
	for name, c := range map[string]struct {
		list    []string
		removed []conversation.Range
	}{
		"the first two":          {at(whole, 2, 3, 4, 5, 6, 7), ranges(0, 2)},
		"a pair in the middle":   {at(whole, 0, 1, 6, 7), ranges(2, 6)},
		"calls and results":      {at(whole, 0, 1, 2, 5, 6, 7), ranges(3, 5)},
		"one of the user's":      {at(whole, 1, 2, 3, 4, 5, 6, 7), ranges(0, 1)},
		"the front and a middle": {at(whole, 2, 6, 7), ranges(0, 2, 3, 6)},
	} {
		for _, more := range [][]string{nil, {u("four")}} {
			b := listBench(nil)
			b.hides(t, "c", whole)
			list := append(slices.Clone(c.list), more...)
			before := b.head(t, "c").Version
			r := b.hides(t, "c", list)
			if !slices.Equal(r.Appended.History.Removed, c.removed) || r.Appended.History.Conversation != "c" || len(r.Appended.Messages) != len(more) {
				t.Errorf("%s: %+v", name, r.Appended.History)
			}
			if b.head(t, "c").Version != before+1 {
				t.Errorf("%s: more than one commit", name)
			}
			list = append(list, a("fourth"))
			if r := b.hides(t, "c", list); len(r.Appended.History.Removed) != 0 || r.Appended.History.Matched != int32(len(list)-1) {
				t.Errorf("%s, later: %+v", name, r.Appended.History)
			}
			again := slices.Concat(whole, more, []string{a("fourth"), u("five")})
			if r := b.hides(t, "c", again); len(r.Appended.Messages) != 1 || r.Appended.History.Rewound.Len() != 0 {
				t.Errorf("%s, all of it again: %+v", name, r.Appended.History)
			}
			if r := b.hides(t, "c", append(list, u("five"))); !slices.Equal(r.Appended.History.Removed, c.removed) {
				t.Errorf("%s, once more: %+v", name, r.Appended.History)
			}
		}
	}
}

var _ = fmt.Sprint
