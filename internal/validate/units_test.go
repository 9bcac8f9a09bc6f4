package validate

import (
	"strings"
	"testing"
)

func TestHistory_Unpaired_CountsByUnit(t *testing.T) {
	for name, c := range map[string]struct {
		messages       []Message
		calls, results int
	}{
		"nothing":        {nil, 0, 0},
		"answered":       {[]Message{calls("a"), calls("b"), result("a", "1"), result("b", "1")}, 0, 0},
		"never answered": {[]Message{calls("a", "b"), result("a", "1"), say("user", "u")}, 1, 0},
		"answered late":  {[]Message{calls("a"), say("user", "u"), result("a", "1")}, 0, 1},
		"cut off":        {[]Message{aborted(calls("a")), say("user", "u"), result("a", "1")}, 1, 1},
		"open":           {[]Message{say("user", "u"), calls("a")}, 1, 0},
		"same id again":  {[]Message{calls("a"), result("a", "1"), calls("a"), result("a", "1")}, 0, 0},
	} {
		if calls, results := historyOf(c.messages...).Unpaired(); calls != c.calls || results != c.results {
			t.Errorf("%s: %d calls, %d results", name, calls, results)
		}
	}
}

// TestHistory_Unpaired_BehindABuild: a result stands beside its call unless a build has shown that without it.
func TestHistory_Unpaired_BehindABuild(t *testing.T) {
	h := historyOf(say("user", "u"), calls("a"), say("user", "v"))
	h.Shown()
	h.Add(calls("b"))
	h.Add(say("user", "w"))
	h.Add(result("a", "1"))
	h.Add(result("b", "1"))
	if calls, results := h.Unpaired(); calls != 1 || results != 2 {
		t.Errorf("%d calls, %d results", calls, results)
	}
}

func TestHistory_Unit_HoldsAllOfIt(t *testing.T) {
	h := historyOf(say("user", "u"), calls("a"), calls("b"), result("a", "1"), result("b", "1"), say("user", "v"))
	for i, want := range [][2]int{{0, 1}, {1, 5}, {1, 5}, {1, 5}, {1, 5}, {5, 6}} {
		if first, end := h.Unit(i); [2]int{first, end} != want {
			t.Errorf("message %d lies in [%d, %d), want %v", i, first, end, want)
		}
	}
	if got := h.Merged(); got != perMessage {
		t.Errorf("frames of %d tokens may be left out", got)
	}
}

func TestCut_LongText_KeepsHeadAndTail(t *testing.T) {
	if got := Cut("one two", 200, words); got != perMessage+2 {
		t.Errorf("a short text weighs %d", got)
	}
	if got, want := Cut(strings.Repeat("a ", 300), 200, words), perMessage+noteTokens+100; got != want {
		t.Errorf("a long one weighs %d cut, want %d", got, want)
	}
}
