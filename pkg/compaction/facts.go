package compaction

import (
	"slices"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// Facts are what a stretch of conversation must not lose unnoticed, with how often each was mentioned, in the order in which
// they were mentioned last: calls without a result, the user's rules, and what a machine would name (behaviour §8). Contents
// are inline. Summaries are skipped, because they carry their own facts, and the system's messages, because they are shown again.
func Facts(units []conversation.Unit) []conversation.Fact {
	c := newCollector()
	for i := range units {
		c.unit(&units[i])
	}
	return c.facts()
}

// maxFacts bounds the text of merged facts, in bytes.
const maxFacts = 20 << 10

// MergeFacts are the facts of two stretches, the older one first: counts add up. At most 20 KB of text stay: calls and rules
// first, the newest of them if they are too many, then what was mentioned most.
func MergeFacts(older, newer []conversation.Fact) []conversation.Fact {
	c := newCollector()
	for _, facts := range [][]conversation.Fact{older, newer} {
		for _, f := range facts {
			c.add(f.Kind, f.Text, f.Count)
		}
	}
	return bounded(c.facts())
}

func bounded(facts []conversation.Fact) []conversation.Fact {
	ranked := rank(facts)
	kept := make(map[conversation.Fact]bool, len(facts))
	room := maxFacts
	for _, f := range ranked {
		if len(f.Text) <= room {
			room -= len(f.Text)
			kept[f] = true
		}
	}
	return slices.DeleteFunc(facts, func(f conversation.Fact) bool { return !kept[f] })
}

// mention is a fact without how often.
type mention struct {
	kind conversation.FactKind
	text string
}

// collector counts facts.
type collector struct {
	count map[mention]int32
	last  map[mention]int // when it was mentioned last
	now   int
}

func newCollector() *collector {
	return &collector{count: make(map[mention]int32), last: make(map[mention]int)}
}

func (c *collector) add(kind conversation.FactKind, text string, n int32) {
	m := mention{kind, text}
	c.now++
	c.count[m] += n
	c.last[m] = c.now
}

func (c *collector) facts() []conversation.Fact {
	out := make([]conversation.Fact, 0, len(c.count))
	for m, n := range c.count {
		out = append(out, conversation.Fact{Kind: m.kind, Text: m.text, Count: n})
	}
	slices.SortFunc(out, func(a, b conversation.Fact) int {
		return c.last[mention{a.Kind, a.Text}] - c.last[mention{b.Kind, b.Text}]
	})
	return out
}

func (c *collector) unit(u *conversation.Unit) {
	for i := range u.Items {
		c.item(&u.Items[i])
	}
	for _, call := range u.OpenCalls() {
		c.add(conversation.FactCall, clean(call.Name+" "+call.CallID+" "+call.Arguments.Inline, maxText), 1)
	}
}

func (c *collector) item(it *conversation.Item) {
	if it.Message.Role == conversation.RoleSystem {
		return
	}
	for i := range it.Parts {
		p := &it.Parts[i]
		if it.SaidByUser(i) {
			for _, rule := range facts.Rules(p.Text.Inline) {
				c.add(conversation.FactRule, rule, 1)
			}
		}
		switch p.Kind {
		case conversation.PartText:
			c.text(p.Text.Inline)
		case conversation.PartToolCall:
			c.text(p.Call.Arguments.Inline)
		case conversation.PartToolResult:
			c.text(ResultText(p.Result))
		case conversation.PartReasoning:
			c.text(p.Reasoning.Text.Inline)
		}
	}
}

func (c *collector) text(text string) {
	w := words{text: text, found: func(kind conversation.FactKind, text string) { c.add(kind, text, 1) }}
	w.run()
}

// maxText is the most that a fact says that is no rule, in characters.
const maxText = 200

// clean is a text on one line, without control characters, of at most so many characters.
func clean(text string, limit int) string {
	text = facts.OneLine(text)
	if utf8.RuneCountInString(text) > limit {
		text = text[:offset(text, limit-1)] + "…"
	}
	return text
}
