package compaction

import (
	"slices"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

// maxBrief is the maximum length of the line that a summarizer is given of a result of low importance, in characters.
const maxBrief = 200

// Brief returns units as a summarizer is given them: each result of low importance is one line of its first words. Contents are inline. The
// units themselves are not changed.
func Brief(units []conversation.Unit) []conversation.Unit {
	if !slices.ContainsFunc(units, func(u conversation.Unit) bool { return slices.ContainsFunc(u.Items, hasMinor) }) {
		return units
	}
	out := slices.Clone(units)
	for i := range out {
		out[i].Items = slices.Clone(out[i].Items)
		for j := range out[i].Items {
			if it := &out[i].Items[j]; hasMinor(*it) {
				it.Parts = briefParts(it.Parts)
			}
		}
	}
	return out
}

// hasMinor reports whether a message has a result of low importance.
func hasMinor(it conversation.Item) bool {
	return slices.ContainsFunc(it.Parts, func(p conversation.Part) bool { return isMinor(&p) })
}

// isMinor reports whether a part is a result of low importance. Citations are excepted: they are short, and end with how to get the rest.
func isMinor(p *conversation.Part) bool {
	return p.Kind == conversation.PartToolResult && p.Result.Importance == conversation.ImportanceLow && p.Citation == nil
}

func briefParts(parts []conversation.Part) []conversation.Part {
	out := slices.Clone(parts)
	for i := range out {
		p := &out[i]
		if !isMinor(p) {
			continue
		}
		text := p.Result.Lines()
		line := facts.Clean(text, maxBrief)
		weight := int64(p.Tokens) * int64(utf8.RuneCountInString(line)) / int64(max(1, utf8.RuneCountInString(text)))
		*p = WithText(p.Result, line)
		p.Tokens = int32(weight)
	}
	return out
}
