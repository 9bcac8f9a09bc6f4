package exportformat

import (
	"cmp"
	"encoding/json"
	"math"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// admitSummary checks a summary of a range. Its children must have come before it, so that whoever follows them comes to an end.
func (c *checks) admitSummary(s *summaryLine, r rangeLine) *FaultError {
	if f := firstOutside(
		bound{"id", s.ID, 1, math.MaxInt64 - 1},
		bound{"level", int64(s.Level), 0, math.MaxInt32},
		bound{"tokens", int64(s.Tokens), 0, math.MaxInt32},
		bound{"tokensRecorded", s.Recorded, 0, math.MaxInt64},
	); f != nil {
		return f
	}
	if _, again := c.summaries[s.ID]; again {
		return fault("id", "is that of an earlier summary")
	}
	for i, id := range s.Children {
		if child, known := c.summaries[id]; !known || !r.covers(child) {
			return fault(element("children", i), "names no earlier summary of a part of the range")
		}
	}
	if f := cmp.Or(r.checkParts("except", s.Except), r.checkParts("verbatim", s.Verbatim)); f != nil {
		return f
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

func (l rangeLine) checkParts(field string, parts []rangeLine) *FaultError {
	for i, x := range parts {
		if x.First >= x.End || !l.covers(x) {
			return fault(element(field, i), "is no part of the range")
		}
	}
	return nil
}

func (l *summaryLine) checkContents() *FaultError {
	f := cmp.Or(l.Erased.checkOnly("erased", l.Text), l.FactsErased.checkOnly("factsErased", l.Facts))
	if f == nil && l.Facts != "" && !json.Valid([]byte(l.Facts)) {
		return fault("factsJson", "must be JSON")
	}
	return f
}

// checkOnly checks what is left of the only content that a field may have; nothing was erased if it is nil.
func (l *erasedLine) checkOnly(field, there string) *FaultError {
	switch {
	case l == nil:
		return nil
	case l.Content != 0:
		return fault(field+".content", "must be 0: there is one")
	default:
		return l.check(int64(len(there))).in(field)
	}
}
