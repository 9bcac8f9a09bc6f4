package expiry

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Erases reports whether the due edit erases anything: a text no longer than what compaction leaves is not erased.
func (d *Due) Erases() bool {
	o := d.size()
	return len(d.Erase) > 0 && (d.Kind != Compact || o.chars > int64(d.Expiration.Length()) || o.mediaLines > 0)
}

// Tokens is the weight of what the view shows now, in tokens.
func (d *Due) Tokens() int64 {
	if d.Kind == Remove {
		return d.Unit.Tokens()
	}
	n := int64(0)
	positions := d.Positions()
	for i := range d.Unit.Items {
		it := &d.Unit.Items[i]
		if it.Message.Index != d.Index {
			continue
		}
		for j := range it.Parts {
			if slices.Contains(positions, it.Position(j)) {
				n += int64(it.Parts[j].Tokens)
			}
		}
	}
	return n
}

// Positions returns the parts that expire together.
func (d *Due) Positions() []int32 {
	if d.Part == MessageText {
		return TextParts(d.Message())
	}
	return []int32{d.Part}
}

// Recall returns the tool call that brings the text back.
func (d *Due) Recall() string {
	if d.Part == MessageText {
		return conversation.ExpandCall(d.Index)
	}
	return d.Message().Parts[d.Part].Result.Recall(d.Index)
}

// placeholderTokens is the approximate weight of a placeholder, and annotationTokens that of the annotation of a shortened text.
const (
	placeholderTokens = 20
	annotationTokens  = 25
)

// Gain is the approximate number of tokens that the due edit frees.
func (d *Due) Gain() int64 {
	now := d.Tokens()
	switch d.Kind {
	case Remove:
		return now
	case Clear:
		return now - placeholderTokens
	}
	o := d.size()
	freed := o.media - o.mediaLines*placeholderTokens
	if length := int64(d.Expiration.Length()); o.chars > length {
		freed += o.text - o.text*length/o.chars - annotationTokens
	}
	return freed - (o.text + o.media - now) // part of it may have been shortened earlier
}

// LongestText is the greatest length in characters of the text from which a summary is made: with a line for each medium, and separators
// between pieces.
func (d *Due) LongestText() int64 {
	o := d.size()
	return o.chars + o.mediaLines*mediaLineChars + 2*o.pieces
}

const mediaLineChars = 300

// originalSize describes the original of a tool result, or of a message's words: its weight and its length.
type originalSize struct {
	chars, text       int64 // its text: characters, tokens
	media, mediaLines int64 // its media: tokens, pieces
	pieces            int64
}

func (d *Due) size() (o originalSize) {
	m := d.Message()
	for _, p := range d.Positions() {
		o.pieces++
		switch part := &m.Parts[p]; part.Kind {
		case conversation.PartMedia:
			o.mediaLines, o.media = o.mediaLines+1, o.media+int64(part.Tokens)
		case conversation.PartToolResult:
			o.addResult(part)
		default:
			o.chars, o.text = o.chars+part.Text.Chars(), o.text+int64(part.Tokens)
		}
	}
	return o
}

// addResult adds a tool result. The weight of its text without its media is not recorded: it is estimated as a token for every four
// characters.
func (o *originalSize) addResult(p *conversation.Part) {
	chars, media := p.Result.Text.Chars(), int64(0)
	o.pieces += int64(len(p.Result.Parts))
	for i := range p.Result.Parts {
		chars += p.Result.Parts[i].Text.Chars()
		if p.Result.Parts[i].Media != nil {
			media++
		}
	}
	text := int64(p.Tokens)
	if media > 0 {
		text = min(text, (chars+3)/4)
	}
	o.chars, o.text = o.chars+chars, o.text+text
	o.mediaLines, o.media = o.mediaLines+media, o.media+int64(p.Tokens)-text
}
