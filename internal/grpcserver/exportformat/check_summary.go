package exportformat

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// admitSummary checks a summary of a range. Its children must have come before it, so that whoever follows them comes to an end.
func (c *checks) admitSummary(s *summaryLine, r rangeLine) (field, text string) {
	if field, text := firstOutside(
		bound{"id", s.ID, 1, math.MaxInt64 - 1},
		bound{"level", int64(s.Level), 0, math.MaxInt32},
		bound{"tokens", int64(s.Tokens), 0, math.MaxInt32},
		bound{"tokensRecorded", s.Recorded, 0, math.MaxInt64},
	); text != "" {
		return field, text
	}
	if _, again := c.summaries[s.ID]; again {
		return "id", "is that of an earlier summary"
	}
	for i, id := range s.Children {
		if child, known := c.summaries[id]; !known || !r.covers(child) {
			return fmt.Sprintf("children[%d]", i), "names no earlier summary of a part of the range"
		}
	}
	for i, x := range s.Except {
		if x.First >= x.End || !r.covers(x) {
			return fmt.Sprintf("except[%d]", i), "is no part of the range"
		}
	}
	for i, x := range s.Verbatim {
		if x.First >= x.End || !r.covers(x) {
			return fmt.Sprintf("verbatim[%d]", i), "is no part of the range"
		}
	}
	if c.summaries == nil {
		c.summaries = make(map[int64]rangeLine)
	}
	c.summaries[s.ID] = r
	return s.checkContents()
}

func (l rangeLine) covers(o rangeLine) bool {
	return conversation.Range(l).Covers(conversation.Range(o))
}

func (l *summaryLine) checkContents() (field, text string) {
	if field, text := l.Erased.checkOnly("erased", l.Text); text != "" {
		return field, text
	}
	if field, text := l.FactsErased.checkOnly("factsErased", l.Facts); text != "" || l.Facts == "" {
		return field, text
	}
	if !json.Valid([]byte(l.Facts)) {
		return "factsJson", "must be JSON"
	}
	return "", ""
}

// checkOnly checks what is left of the only content that a field may have; nothing was erased if it is nil.
func (l *erasedLine) checkOnly(field, there string) (at, text string) {
	switch {
	case l == nil:
		return "", ""
	case l.Content != 0:
		return field + ".content", "must be 0: there is one"
	}
	return under(field, func() (string, string) { return l.check(int64(len(there))) })
}
