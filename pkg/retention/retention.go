package retention

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Layout returns the blocks of a message in order: the caller's own parts; then for each plugin, in order of first appearance, its header and
// its additions, each followed by a spacing block. Every block has a variant, and every block of the persistent variant a retention.
// Without additions or retentions, the parts are returned unchanged.
func Layout(own []conversation.Part, additions []conversation.Addition) []conversation.Part {
	if len(additions) == 0 && !slices.ContainsFunc(own, retained) {
		return own
	}
	out := slices.Clone(own)
	for i := range out {
		if !retained(out[i]) {
			out[i].Retention.Kind = conversation.RetentionPermanent
		}
	}
	for _, plugin := range plugins(additions) {
		out = append(out, blocks(plugin)...)
	}
	return out
}

func retained(p conversation.Part) bool { return p.Retention.Kind != conversation.RetentionUnset }

// plugins groups additions by plugin, in order of first appearance.
func plugins(additions []conversation.Addition) [][]conversation.Addition {
	var out [][]conversation.Addition
	for _, a := range additions {
		at := slices.IndexFunc(out, func(group []conversation.Addition) bool { return group[0].Plugin == a.Plugin })
		if at < 0 {
			out = append(out, nil)
			at = len(out) - 1
		}
		out[at] = append(out[at], a)
	}
	return out
}

// blocks returns the blocks of one plugin, without those that no variant shows.
func blocks(additions []conversation.Addition) []conversation.Part {
	spacing := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: conversation.Spacing}}
	var out []conversation.Part
	if header, ok := header(additions); ok {
		out = append(out, header)
	}
	for _, a := range additions {
		variant, ok := variant(a.Display, a.Retention)
		if !ok {
			continue
		}
		for _, p := range append(slices.Clone(a.Parts), spacing) {
			p.Plugin, p.Retention, p.Variant = a.Plugin, a.Retention, variant
			out = append(out, p)
		}
	}
	return out
}

// variant returns the variant to which an addition belongs; false if none.
func variant(display bool, r conversation.Retention) (conversation.Variant, bool) {
	switch saved := r.Kind != conversation.RetentionUnset; {
	case display && saved:
		return conversation.BothVariants, true
	case display:
		return conversation.DisplayOnly, true
	default:
		return conversation.PersistentOnly, saved
	}
}

// header returns the plugin's header block: permanent if any of its blocks is, else kept as long as the longest of them.
func header(additions []conversation.Addition) (conversation.Part, bool) {
	p := conversation.Part{Kind: conversation.PartText, Plugin: additions[0].Plugin}
	display := false
	for _, a := range additions {
		if p.Text.Inline == "" {
			p.Text.Inline = a.Header
		}
		display = display || a.Display
		p.Retention = longer(p.Retention, a.Retention)
	}
	v, shown := variant(display, p.Retention)
	p.Variant = v
	return p, shown && p.Text.Inline != ""
}

func longer(a, b conversation.Retention) conversation.Retention {
	switch {
	case a.Kind == conversation.RetentionPermanent || b.Kind == conversation.RetentionUnset:
		return a
	case b.Kind == conversation.RetentionPermanent || b.Last > a.Last:
		return b
	default:
		return a
	}
}

// Expired returns the positions of a message's blocks whose time is over: a block that is kept for the last N stays while N is greater than
// its message's number, counted from 0 at the newest message with retention.
func Expired(m *conversation.Message, number int32) []int32 {
	var out []int32
	for i := range m.Parts {
		if r := m.Parts[i].Retention; r.Kind == conversation.RetentionKeepLast && r.Last <= number {
			out = append(out, int32(i))
		}
	}
	return out
}

// Variant returns the message as builds show it first, or, if persistent, afterwards.
func Variant(m *conversation.Message, persistent bool) conversation.Message {
	out := *m
	out.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p conversation.Part) bool { return !p.Shows(persistent) })
	for i := range m.Parts {
		if !m.Parts[i].Shows(persistent) {
			out.Tokens -= m.Parts[i].Tokens
		}
	}
	return out
}
