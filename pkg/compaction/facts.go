package compaction

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/content"
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
	merged = bounded(c.facts())
	return merged, len(c.known) - len(merged)
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
	known   []collectedFact
	at      map[factKey]int // where among them
	now     int
	message int32 // message whose facts are collected
	agent   bool  // the speaker is the agent
}

// collectedFact is a fact, and when it was mentioned last.
type collectedFact struct {
	conversation.Fact
	last int
}

func newFactCollector() *factCollector { return &factCollector{at: make(map[factKey]int)} }

func (c *factCollector) add(kind conversation.FactKind, text string) {
	c.addFact(&conversation.Fact{Kind: kind, Text: text, Count: 1, Of: []int32{c.message}, ByAgent: c.agent})
}

func (c *factCollector) addFact(f *conversation.Fact) {
	key := factKey{f.Kind, f.Text}
	c.now++
	i, ok := c.at[key]
	if !ok {
		i = len(c.known)
		c.at[key], c.known = i, append(c.known, collectedFact{Fact: conversation.Fact{Kind: f.Kind, Text: f.Text}})
	}
	k := &c.known[i]
	k.Count, k.Of, k.ByAgent, k.last = k.Count+f.Count, sources(k.Of, f.Of), k.ByAgent || f.ByAgent, c.now
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
	slices.SortFunc(c.known, func(a, b collectedFact) int { return cmp.Compare(a.last, b.last) })
	out := make([]conversation.Fact, len(c.known))
	for i := range c.known {
		out[i] = c.known[i].Fact
	}
	return out
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
			c.text(p.Result.Lines())
		case conversation.PartReasoning:
			c.text(p.Reasoning.Text.Inline)
		}
	}
}

func (c *factCollector) text(text string) {
	text, _ = content.WithoutBase64(text, "")
	facts.EachMention(text, c.add)
}
