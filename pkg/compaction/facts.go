package compaction

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// Facts returns what a stretch of conversation must not lose silently, with the count and the messages of each mention, ordered by last
// mention: unanswered calls, rules in the user's own words, and machine-readable names (behaviour §8). Contents are inline. Summaries are
// skipped because they carry their own facts, and system messages because they are shown again.
func Facts(units []conversation.Unit) []conversation.Fact {
	c := newFactCollector()
	for i := range units {
		c.unit(&units[i])
	}
	return c.facts()
}

// maxFacts limits the text of merged facts, in bytes.
const maxFacts = 20 << 10

// MergeFacts merges the facts of two stretches, the older one first, and adds up their counts. At most 20 KB of text stay, in order of
// rank: calls and rules first (the newest if there are too many), then what was mentioned twice or more. dropped is how many do not stay.
func MergeFacts(older, newer []conversation.Fact) (merged []conversation.Fact, dropped int) {
	c := newFactCollector()
	for _, facts := range [][]conversation.Fact{older, newer} {
		for i := range facts {
			c.addFact(&facts[i])
		}
	}
	all := c.facts()
	merged = bounded(slices.Clone(all))
	return merged, len(all) - len(merged)
}

func bounded(facts []conversation.Fact) []conversation.Fact {
	ranked := rank(facts)
	kept := make(map[factKey]bool, len(facts))
	room := maxFacts
	for _, f := range ranked {
		if len(f.Text) <= room {
			room -= len(f.Text)
			kept[factKey{f.Kind, f.Text}] = true
		}
	}
	return slices.DeleteFunc(facts, func(f conversation.Fact) bool { return !kept[factKey{f.Kind, f.Text}] })
}

// factKey identifies a fact regardless of its count.
type factKey struct {
	kind conversation.FactKind
	text string
}

// maxSources limits how many of the messages that mention a fact are kept.
const maxSources = 4

// factCollector counts facts.
type factCollector struct {
	count   map[factKey]int32
	last    map[factKey]int // when it was mentioned last
	of      map[factKey][]int32
	byAgent map[factKey]bool
	now     int
	message int32 // whose facts are collected
	agent   bool  // who speaks is the agent
}

func newFactCollector() *factCollector {
	return &factCollector{
		count: make(map[factKey]int32), last: make(map[factKey]int), of: make(map[factKey][]int32), byAgent: make(map[factKey]bool),
	}
}

func (c *factCollector) add(kind conversation.FactKind, text string) {
	c.addFact(&conversation.Fact{Kind: kind, Text: text, Count: 1, Of: []int32{c.message}, ByAgent: c.agent})
}

func (c *factCollector) addFact(f *conversation.Fact) {
	m := factKey{f.Kind, f.Text}
	c.now++
	c.count[m] += f.Count
	c.last[m] = c.now
	c.of[m] = sources(c.of[m], f.Of)
	c.byAgent[m] = c.byAgent[m] || f.ByAgent
}

// sources returns the newest of the messages of two sorted lists, without duplicates.
func sources(a, b []int32) []int32 {
	if len(b) == 1 && len(a) > 0 && a[len(a)-1] == b[0] {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	all = slices.Compact(all)
	return all[max(0, len(all)-maxSources):]
}

func (c *factCollector) facts() []conversation.Fact {
	out := make([]conversation.Fact, 0, len(c.count))
	for m, n := range c.count {
		out = append(out, conversation.Fact{Kind: m.kind, Text: m.text, Count: n, Of: c.of[m], ByAgent: c.byAgent[m]})
	}
	sortFacts(out, c.last)
	return out
}

func sortFacts(facts []conversation.Fact, order map[factKey]int) {
	slices.SortFunc(facts, func(a, b conversation.Fact) int {
		return order[factKey{a.Kind, a.Text}] - order[factKey{b.Kind, b.Text}]
	})
}

// ForgetFacts removes the facts that only a message mentioned whose words are gone, in part or entirely; standing are the facts of what
// remains of it. Facts whose messages are unknown are removed too, because nothing proves that they remain.
func ForgetFacts(known []conversation.Fact, message int32, standing []conversation.Fact) []conversation.Fact {
	stands := make(map[factKey]bool, len(standing))
	for _, f := range standing {
		stands[factKey{f.Kind, f.Text}] = true
	}
	out := make([]conversation.Fact, 0, len(known))
	for _, f := range known {
		if !stands[factKey{f.Kind, f.Text}] {
			f.Of = slices.DeleteFunc(slices.Clone(f.Of), func(i int32) bool { return i == message })
		}
		if len(f.Of) > 0 {
			out = append(out, f)
		}
	}
	return out
}

func (c *factCollector) unit(u *conversation.Unit) {
	for i := range u.Items {
		c.item(&u.Items[i])
	}
	for _, call := range u.OpenCalls() {
		c.message, c.agent = callerOf(u, call), true
		c.add(conversation.FactCall, facts.Clean(call.Name+" "+call.CallID+" "+call.Arguments.Inline, facts.MaxText))
	}
}

// callerOf returns the index of the message in a unit that made a call.
func callerOf(u *conversation.Unit, call *conversation.ToolCall) int32 {
	for i := range u.Items {
		m := u.Items[i].Message
		if slices.ContainsFunc(m.Parts, func(p conversation.Part) bool { return p.Call == call }) {
			return m.Index
		}
	}
	return u.First()
}

func (c *factCollector) item(it *conversation.Item) {
	if it.Message.Role == conversation.RoleSystem {
		return
	}
	c.message = it.Message.Index
	for i := range it.Parts {
		p := &it.Parts[i]
		c.agent = p.Kind != conversation.PartToolResult && it.Speaker(i) == conversation.RoleAssistant.String()
		if it.SaidByUser(i) {
			for _, rule := range facts.Rules(p.Text.Inline) {
				c.add(conversation.FactRule, rule)
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

func (c *factCollector) text(text string) {
	facts.EachMention(text, c.add)
}
