package exportformat

import (
	"fmt"
	"math"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

type deduplicationLine struct {
	On            *bool     `json:"enabled,omitempty"`
	ExcludedTools *[]string `json:"excludedTools,omitempty"`
	MinLines      *int32    `json:"minLines,omitempty"`

	Unknown string `json:"-"`
}

// copyLine says where lines of a result stand, both counted from 0.
type copyLine struct {
	First   int32 `json:"firstLine"`
	End     int32 `json:"endLine"`
	Message int32 `json:"messageIndex"`
	Part    int32 `json:"part"`
	At      int32 `json:"atLine"`
}

func fromDeduplication(p conversation.DeduplicationPolicy) deduplicationLine {
	p.ExcludedTools = fromNames(p.ExcludedTools)
	return deduplicationLine(p)
}

func fromCopy(c *conversation.Copy) copyLine { return copyLine(*c) }

func (l *copyLine) record() conversation.Copy { return conversation.Copy(*l) }

// checkCopies admits copies in messages up to the one that an edit is about, which is where a build finds them, in the order of the lines that
// they stand for.
func (c *checks) checkCopies(e *editLine, p *shownLine) (field, text string) {
	end := int32(0)
	for i := range p.Copies {
		l := &p.Copies[i]
		if l.First < 0 || l.End <= l.First || l.At < 0 || l.Message < 0 || l.Message > e.Range.First || l.Part < 0 || l.Part >= c.parts[l.Message] {
			return fmt.Sprintf("copies[%d]", i), "names lines of no earlier message"
		}
		if l.First < end || l.At > math.MaxInt32-(l.End-l.First) {
			return fmt.Sprintf("copies[%d]", i), "does not stand for lines behind those before it"
		}
		end = l.End
	}
	return "", ""
}
