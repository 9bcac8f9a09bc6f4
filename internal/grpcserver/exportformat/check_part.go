package exportformat

import (
	"fmt"
	"math"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func (c *checks) checkPart(p *partLine) (field, text string) {
	if _, n := p.kinds(); n != 1 {
		return "", "must hold exactly one kind"
	}
	if field, text := p.checkFrame(); text != "" {
		return field, text
	}
	if call := p.ToolCall; call != nil && (call.Ordinal < 1 || call.Ordinal > c.head.CallOrdinal) {
		return ".toolCall.ordinal", "must be from 1 to the conversation's callOrdinal"
	}
	if p.ToolResult != nil {
		if field, text := c.checkResult(p.ToolResult); text != "" {
			return ".toolResult" + field, text
		}
	}
	return c.checkErased(p)
}

// checkFrame checks what parts of every kind have.
func (l *partLine) checkFrame() (field, text string) {
	r := l.Retention
	switch {
	case l.Tokens < 0:
		return ".tokens", "must not be negative"
	case r.Permanent && r.KeepLast != nil:
		return ".retention", "must be permanent or keep the last, not both"
	case r.KeepLast != nil && *r.KeepLast < 1:
		return ".retention.keepLast", "must be 1 or more"
	case l.Variant != 0 && l.Plugin == "":
		return ".variant", "belongs to parts that a plugin added"
	default:
		return "", ""
	}
}

func (c *checks) checkResult(r *resultLine) (field, text string) {
	if r.Ordinal < 0 || r.Ordinal > c.head.CallOrdinal {
		return ".ordinal", "must be from 0 to the conversation's callOrdinal"
	}
	if r.Text != nil && r.JSON != nil || r.Parts != nil && (r.Text != nil || r.JSON != nil) {
		return "", "must hold at most one of text, json and parts"
	}
	for i, p := range r.Parts {
		if (p.Text == nil) == (p.Media == nil) {
			return fmt.Sprintf(".parts[%d]", i), "must hold exactly one kind"
		}
	}
	if field, text := checkExpiration(r.Expiration); text != "" {
		return "." + field, text
	}
	if field, text := r.Recalled.check(); text != "" {
		return ".recalledFrom" + field, text
	}
	if field, text := r.Source.check(); text != "" {
		return ".source." + field, text
	}
	return "", ""
}

func checkExpiration(e *expirationLine) (field, text string) {
	if e == nil {
		return "", ""
	}
	bounds := []bound{}
	if e.Turns != nil {
		bounds = append(bounds, bound{"expiration.turns", int64(*e.Turns), 0, math.MaxInt32})
	}
	if e.CompactLength != nil {
		bounds = append(bounds, bound{"expiration.compactLength", int64(*e.CompactLength), 1, math.MaxInt32})
	}
	return firstOutside(bounds...)
}

// checkErased holds what was erased against the part's contents: it names each at most once, in order, and nothing is left there.
func (c *checks) checkErased(l *partLine) (field, text string) {
	if len(l.Erased) == 0 {
		return "", ""
	}
	contents := conversation.Contents([]conversation.Part{c.unerased(l)})
	next := int32(0)
	for i := range l.Erased {
		e, at := &l.Erased[i], fmt.Sprintf(".erased[%d]", i)
		if e.Content < next || int(e.Content) >= len(contents) {
			return at + ".content", "names a content that the part has not, or one again"
		}
		if field, text := e.check(contents[e.Content].Bytes()); text != "" {
			return at + "." + field, text
		}
		next = e.Content + 1
	}
	return "", ""
}

// check checks what is left of a content, of which so many bytes are there.
func (l *erasedLine) check(there int64) (field, text string) {
	if there > 0 {
		return "originalLengthBytes", "must not stand beside what it says was erased"
	}
	return firstOutside(
		bound{"originalLengthBytes", l.Bytes, 0, MaxLineBytes},
		bound{"originalLengthChars", l.Chars, 0, l.Bytes},
	)
}

// unerased is the part as if nothing had been erased of it.
func (c *checks) unerased(l *partLine) conversation.Part {
	whole := *l
	whole.Erased = nil
	return *copied[conversation.Part](c.copier, &whole)
}

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
