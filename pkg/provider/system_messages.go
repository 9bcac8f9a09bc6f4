package provider

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// systemApart writes a system message for a provider with a separate place for leading ones: there if it leads; otherwise among the other
// messages if the model takes that, or else as user text.
func (s *UnitWriter) systemApart(l *Line) {
	contents := s.contents(l, func(*conversation.Media) bool { return false })
	if len(contents) == 0 {
		return
	}
	inside := s.systemInside(l)
	head := ""
	if inside {
		head = s.headOf(l)
	}
	for i := range contents {
		c := &contents[i]
		b := Block{System: s.Context.Leading, Role: "system", JSON: c.systemJSON(&s.Traits), Tokens: s.Charge(l, c.Tokens), Index: l.Index}
		if !s.Context.Leading {
			asUser, more := s.systemAsUser(&b, c, i == 0)
			switch {
			case inside:
				b.Head, b.AsUser = head, &asUser
			default:
				b = asUser
				if i == 0 {
					s.Repair(l.Index, conversation.ReasonSystemAsUser, int64(more))
				}
			}
		}
		s.add(b)
	}
}

// systemInside reports whether a system message may stay among the other messages.
func (s *UnitWriter) systemInside(l *Line) bool {
	return l.Role == conversation.RoleSystem && !s.Context.Leading && s.Traits.SystemInside != nil && s.Traits.SystemInside(s.Context.Model)
}

// headOf returns the members of a message besides role and content, as JSON text; empty if it has none.
func (s *UnitWriter) headOf(l *Line) string {
	for i := range l.Parts {
		if kept := s.Kept(&l.Parts[i]); kept.Is("message", '{') {
			return kept.Head("message", "role", s.Traits.ContentKey)
		}
	}
	return ""
}

// systemJSON returns the JSON of a system message's content: a text, or a block of the provider's own.
func (c *Content) systemJSON(t *Traits) []byte {
	if c.Own != "" {
		return []byte(c.Own)
	}
	return c.Kept.AppendUnread(t.AppendText(nil, c.Text), "members", "cache_control")
}

// systemAsUser rewrites a block of a system message as user text, and returns the added weight. The first block gets a line that says what
// it is.
func (s *UnitWriter) systemAsUser(b *Block, c *Content, first bool) (Block, int32) {
	out, text, more := *b, c.Text+c.Own, int32(0)
	if first {
		more = s.Context.count(SystemHeader) + s.Context.growth(SystemHeader, text)
		text = SystemHeader + text
	}
	out.Role, out.JSON, out.Tokens = "user", s.Traits.AppendText(nil, text), b.Tokens+more
	return out, more
}

// placeSystems leaves system messages among the others where the provider takes them: after a user message or results, and before the
// model's turn or at the end. It replaces the others by user text. It does not change blocks in place.
func placeSystems(t Traits, blocks []Block) ([]Block, []Repair) {
	var repairs []Repair
	for at := 0; at < len(blocks); at++ {
		if blocks[at].AsUser == nil {
			continue
		}
		end := at + 1
		for end < len(blocks) && blocks[end].AsUser != nil && blocks[end].Head == blocks[at].Head {
			end++
		}
		if !takesSystem(&t, blocks, at, end) {
			if repairs == nil {
				blocks = slices.Clone(blocks)
			}
			repairs = append(repairs, asUser(blocks[at:end])...)
		}
		at = end - 1
	}
	return blocks, repairs
}

func takesSystem(t *Traits, blocks []Block, at, end int) bool {
	if at == 0 || blocks[at-1].System || end < len(blocks) && blocks[end].Role != "assistant" {
		return false
	}
	before := &blocks[at-1]
	return before.Role == "user" || before.Role == "assistant" && t.SystemAfter != nil && t.SystemAfter(before)
}

// asUser replaces blocks of system messages by user text, with one repair per message.
func asUser(blocks []Block) (repairs []Repair) {
	for i := range blocks {
		b := *blocks[i].AsUser
		if more := b.Tokens - blocks[i].Tokens; i == 0 || blocks[i-1].Index != b.Index {
			repairs = append(repairs, Repair{Index: b.Index, Reason: conversation.ReasonSystemAsUser, Tokens: int64(more)})
		}
		blocks[i] = b
	}
	return repairs
}
