package validate

import (
	"strings"
	"testing"
)

func say(role, text string) Message {
	return Message{Role: role, Items: []Item{{Kind: Text, Texts: []string{text}}}}
}

func calls(ids ...string) Message {
	m := Message{Role: "assistant"}
	for _, id := range ids {
		m.Items = append(m.Items, Item{Kind: Call, ID: id, Name: "find", Texts: []string{"{}"}})
	}
	return m
}

func result(id, text string) Message {
	return Message{Role: "tool", Items: []Item{{Kind: Result, ID: id, Texts: []string{text}}}}
}

func historyOf(messages ...Message) *History {
	h := NewHistory(words)
	for _, m := range messages {
		h.Add(m)
	}
	return h
}

func TestHistory_Newest_FollowsUnits(t *testing.T) {
	for name, c := range map[string]struct {
		messages []Message
		newest   int
		pending  bool
	}{
		"a user":                  {[]Message{say("system", "s"), say("user", "u")}, 1, false},
		"answered calls":          {[]Message{say("user", "u"), calls("a", "b"), result("b", "1"), result("a", "2")}, 3, false},
		"half answered":           {[]Message{say("user", "u"), calls("a", "b"), result("b", "1")}, 2, true},
		"closed by a user":        {[]Message{calls("a"), say("user", "u")}, 1, false},
		"late result":             {[]Message{calls("a"), say("user", "u"), result("a", "1")}, 1, false},
		"two late results":        {[]Message{calls("a", "b"), say("user", "u"), result("a", "1"), result("b", "1")}, 1, false},
		"same id twice, one open": {[]Message{calls("a", "a"), result("a", "1")}, 2, true},
		"parallel calls":          {[]Message{say("user", "u"), calls("a"), calls("b"), result("b", "1"), result("a", "2")}, 4, false},
		"words between calls":     {[]Message{calls("a"), say("assistant", "and"), calls("b"), result("a", "1")}, 4, true},
		"calls after a result":    {[]Message{calls("a", "b"), result("a", "1"), calls("c")}, 1, true},
		"calls after words":       {[]Message{say("assistant", "so"), calls("a"), result("a", "1")}, 2, false},
	} {
		h := historyOf(c.messages...)
		if len(h.Newest()) != c.newest || h.Pending() != c.pending {
			t.Errorf("%s: newest unit of %d, pending %v", name, len(h.Newest()), h.Pending())
		}
	}
}

func TestHistory_Shown_TakesNoFurtherAssistant(t *testing.T) {
	h := historyOf(calls("a"))
	h.Shown()
	h.Add(result("a", "1"))
	if len(h.Newest()) != 2 || h.Pending() {
		t.Errorf("a result belongs to its unit, shown or not: %d", len(h.Newest()))
	}
	h = historyOf(calls("a"))
	h.Shown()
	h.Add(calls("b"))
	if len(h.Newest()) != 1 || h.Unanswered() != 2 {
		t.Errorf("newest unit of %d, %d unanswered", len(h.Newest()), h.Unanswered())
	}
}

func TestHistory_UnansweredAndLate_CountByUnit(t *testing.T) {
	for name, c := range map[string]struct {
		messages         []Message
		unanswered, late int
	}{
		"answered":       {[]Message{calls("a"), calls("b"), result("a", "1"), result("b", "1")}, 0, 0},
		"never answered": {[]Message{calls("a", "b"), result("a", "1"), say("user", "u")}, 1, 0},
		"answered late":  {[]Message{calls("a"), say("user", "u"), result("a", "1")}, 1, 1},
		"open":           {[]Message{say("user", "u"), calls("a")}, 1, 0},
	} {
		if h := historyOf(c.messages...); h.Unanswered() != c.unanswered || h.Late() != c.late {
			t.Errorf("%s: %d unanswered, %d late", name, h.Unanswered(), h.Late())
		}
	}
}

func TestHistory_Unit_HoldsAllOfIt(t *testing.T) {
	h := historyOf(say("user", "u"), calls("a"), calls("b"), result("a", "1"), result("b", "1"), say("user", "v"))
	for i, want := range [][2]int{{0, 1}, {1, 5}, {1, 5}, {1, 5}, {1, 5}, {5, 6}} {
		if first, end := h.Unit(i); [2]int{first, end} != want {
			t.Errorf("message %d lies in [%d, %d), want %v", i, first, end, want)
		}
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

func TestHistory_Orphan_CountsAnswers(t *testing.T) {
	h := historyOf(calls("a"), say("user", "u"))
	if h.Orphan("a") || !h.Orphan("b") {
		t.Error("a waits for its result, b was never asked")
	}
	h.Add(result("a", "1"))
	if !h.Orphan("a") {
		t.Error("a is answered")
	}
}

func TestHistory_SystemOnlyAndBlank_Differ(t *testing.T) {
	for name, c := range map[string]struct {
		h             *History
		system, blank bool
	}{
		"nothing":     {historyOf(), true, true},
		"system":      {historyOf(say("system", "s")), true, true},
		"white space": {historyOf(say("system", "s"), say("user", " ")), false, true},
		"words":       {historyOf(say("user", "u")), false, false},
		"calls":       {historyOf(calls("a")), false, false},
	} {
		if c.h.SystemOnly() != c.system || c.h.Blank() != c.blank {
			t.Errorf("%s: system only %v, blank %v", name, c.h.SystemOnly(), c.h.Blank())
		}
	}
}

// TestHistory_BoneSpoken_LooksPastBlankMessages: a blank newest message weighs next to nothing, the one before it does not.
func TestHistory_BoneSpoken_LooksPastBlankMessages(t *testing.T) {
	long := say("user", strings.Repeat("word ", 1000))
	blank := historyOf(long, say("user", " "))
	if blank.Bone() > 100 || blank.BoneSpoken() < 1000 {
		t.Errorf("bone %d, of what is spoken %d", blank.Bone(), blank.BoneSpoken())
	}
	if h := historyOf(long, say("user", "short")); h.BoneSpoken() != h.Bone() {
		t.Errorf("bone %d, of what is spoken %d", h.Bone(), h.BoneSpoken())
	}
	unit := historyOf(say("user", "go"), calls("a"), result("a", "found"), say("assistant", ""))
	if with := historyOf(say("user", "go"), calls("a"), result("a", "found")); unit.BoneSpoken() < with.Bone() {
		t.Errorf("a unit before a blank message weighs %d, and %d without it", unit.BoneSpoken(), with.Bone())
	}
}

func TestHistory_Bone_ClipsTheNewestResultsAlone(t *testing.T) {
	long := strings.Repeat("word ", 1000) // 200 characters are 40 words
	pinned := say("user", "keep this")
	pinned.Pinned = true
	h := historyOf(say("system", "be brief"), pinned, say("user", long), say("system", long), calls("a"), result("a", long))
	want := openerTokens + (2 + 4) + (2 + 4) + (4 + 6 + 2) + (4 + 40 + noteTokens)
	if got := h.Bone(); got != want {
		t.Errorf("bone of %d tokens, want %d", got, want)
	}
	if want := 6 + 6 + 1004 + 1004 + 12 + 1004; h.Tokens != want {
		t.Errorf("history of %d tokens, want %d", h.Tokens, want)
	}
}
