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

func aborted(m Message) Message {
	m.Aborted = true
	return m
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
		"a call a message":        {[]Message{say("user", "u"), calls("a"), calls("b"), result("a", "1")}, 3, true},
		"words between calls":     {[]Message{calls("a"), say("assistant", "w"), calls("b"), result("b", "1"), result("a", "2")}, 5, false},
		"a call after a result":   {[]Message{calls("a", "b"), result("a", "1"), calls("c")}, 1, true},
		"cut off":                 {[]Message{calls("a"), aborted(calls("b"))}, 1, false},
		"cut off, and a result":   {[]Message{aborted(calls("b")), result("b", "1")}, 1, false},
		"same id twice, one open": {[]Message{calls("a", "a"), result("a", "1")}, 2, true},
	} {
		h := historyOf(c.messages...)
		if len(h.Newest()) != c.newest || h.Pending() != c.pending {
			t.Errorf("%s: newest unit of %d, pending %v", name, len(h.Newest()), h.Pending())
		}
	}
}

func TestHistory_Shown_EndsTheTurn(t *testing.T) {
	h := historyOf(calls("a"))
	h.Shown()
	h.Add(calls("b"))
	if len(h.Newest()) != 1 || len(h.Units()) != 2 {
		t.Errorf("units %v", h.Units())
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
