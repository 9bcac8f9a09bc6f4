package exportformat

import (
	"cmp"
	"math"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func (c *checks) checkPart(p *partLine) *FaultError {
	if _, n := p.kinds(); n != 1 {
		return fault("", "must hold exactly one kind")
	}
	return cmp.Or(p.checkFrame(), c.checkCall(p.ToolCall).in("toolCall"), c.checkResult(p.ToolResult).in("toolResult"), c.checkErased(p))
}

// checkFrame checks what parts of every kind have.
func (l *partLine) checkFrame() *FaultError {
	r := l.Retention
	switch {
	case l.Tokens < 0:
		return fault("tokens", "must not be negative")
	case r.Permanent && r.KeepLast != nil:
		return fault("retention", "must be permanent or keep the last, not both")
	case r.KeepLast != nil && *r.KeepLast < 1:
		return fault("retention.keepLast", "must be 1 or more")
	case l.Variant != 0 && l.Plugin == "":
		return fault("variant", "belongs to parts that a plugin added")
	default:
		return nil
	}
}

// checkAppended checks a part of a message, which holds nothing that only views show.
func (l *partLine) checkAppended() *FaultError {
	switch {
	case l.Citation != nil:
		return fault("citation", "belongs to what an edit shows")
	case l.Recalled != nil:
		return fault("recalled", "belongs to what an edit shows")
	default:
		return nil
	}
}

func (c *checks) checkCall(call *callLine) *FaultError {
	if call != nil && (call.Ordinal < 1 || call.Ordinal > c.head.CallOrdinal) {
		return fault("ordinal", "must be from 1 to the conversation's callOrdinal")
	}
	return nil
}

func (c *checks) checkResult(r *resultLine) *FaultError {
	switch {
	case r == nil:
		return nil
	case r.Ordinal < 0 || r.Ordinal > c.head.CallOrdinal:
		return fault("ordinal", "must be from 0 to the conversation's callOrdinal")
	case r.Text != nil && r.JSON != nil || r.Parts != nil && (r.Text != nil || r.JSON != nil):
		return fault("", "must hold at most one of text, json and parts")
	}
	for i, p := range r.Parts {
		if (p.Text == nil) == (p.Media == nil) {
			return fault(element("parts", i), "must hold exactly one kind")
		}
	}
	return cmp.Or(checkExpiration(r.Expiration), r.Recalled.check().in("recalledFrom"), r.Source.check().in("source"))
}

func checkExpiration(e *expirationLine) *FaultError {
	if e == nil {
		return nil
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
func (c *checks) checkErased(l *partLine) *FaultError {
	if len(l.Erased) == 0 {
		return nil
	}
	contents := conversation.Contents([]conversation.Part{c.unerased(l)})
	next := int32(0)
	for i := range l.Erased {
		e := &l.Erased[i]
		if e.Content < next || int(e.Content) >= len(contents) {
			return fault("content", "names a content that the part has not, or one again").in(element("erased", i))
		}
		if f := e.check(contents[e.Content].Bytes()); f != nil {
			return f.in(element("erased", i))
		}
		next = e.Content + 1
	}
	return nil
}

// check checks what is left of a content, of which so many bytes are there.
func (l *erasedLine) check(there int64) *FaultError {
	if there > 0 {
		return fault("originalLengthBytes", "must not stand beside what it says was erased")
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
func (c *checks) checkCopies(e *editLine, p *shownLine) *FaultError {
	end := int32(0)
	for i := range p.Copies {
		l := &p.Copies[i]
		if l.First < 0 || l.End <= l.First || l.At < 0 || l.Message < 0 || l.Message > e.Range.First || l.Part < 0 || l.Part >= c.parts[l.Message] {
			return fault(element("copies", i), "names lines of no earlier message")
		}
		if l.First < end || l.At > math.MaxInt32-(l.End-l.First) {
			return fault(element("copies", i), "does not stand for lines behind those before it")
		}
		end = l.End
	}
	return nil
}
