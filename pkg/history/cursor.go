package history

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// place is how far the texts and media of a segment have been followed.
type place struct {
	piece  int
	offset int // in bytes, in a text of which a part is followed
}

// cursor is how far a list has been followed along the record.
type cursor struct {
	segment int // -1: before the first
	place
	calls int // of the segment
	// anyText: the texts of the segment count for nothing, because it is another wording of the newest reply.
	anyText bool
	results *taken
	answers *pairing
	way
}

// taken are the results of a segment that the record has, as a list behind the last that was found.
type taken struct {
	index int
	low   int // all below are taken
	count int
	next  *taken
}

// pairing is which call of the record a call of the list is, for all that were followed.
type pairing struct {
	given, recorded *conversation.ToolCall
	next            *pairing
}

// key is what makes two cursors the same.
type key struct {
	segment int
	place
	calls   int
	anyText bool
	results int
	low     int
}

func (c *cursor) key() key {
	return key{c.segment, c.place, c.calls, c.anyText, c.results.len(), c.results.lowest()}
}

func (t *taken) len() int {
	if t == nil {
		return 0
	}
	return t.count
}

func (t *taken) lowest() int {
	if t == nil {
		return 0
	}
	return t.low
}

func (t *taken) has(index int) bool {
	if index < t.lowest() {
		return true
	}
	for ; t != nil && t.count > t.low; t = t.next {
		if t.index == index {
			return true
		}
	}
	return false
}

func (t *taken) with(index int) *taken {
	out := &taken{index: index, low: t.lowest(), count: t.len() + 1, next: t}
	for out.low < out.count && (out.low == index || t.has(out.low)) {
		out.low++
	}
	return out
}

// begin is a cursor at the beginning of a segment.
func (c cursor) begin(segment int) cursor {
	return cursor{segment: segment, answers: c.answers, way: c.way}
}

// isDone says whether all of the cursor's segment is followed, or, if made-up texts may be skipped, what formats do not make up.
func (l *list) isDone(c *cursor, skip bool) bool {
	if c.segment < 0 {
		return true
	}
	s := &l.segments[c.segment]
	if c.calls < len(s.calls) || c.offset > 0 {
		return false
	}
	for i := c.piece; i < len(s.pieces) && !c.anyText; i++ {
		if !skip || !l.isPieceMadeUp(c.segment, i) {
			return false
		}
	}
	for i := c.results.lowest(); i < len(s.results); i++ {
		if !c.results.has(i) && (!skip || !s.results[i].isMadeUp()) {
			return false
		}
	}
	return true
}

// places are where more of a side may be followed: in the cursor's segment, in the next one, or behind what formats make up.
func (l *list) places(c cursor, assistant, skip bool) []cursor {
	out := make([]cursor, 0, 2)
	if c.segment >= 0 && l.segments[c.segment].assistant == assistant {
		out = append(out, c)
	}
	if l.isDone(&c, skip) {
		for n := c.segment + 1; n < len(l.segments); n++ {
			if l.segments[n].assistant == assistant {
				out = append(out, c.begin(n))
				break
			}
			if !skip || !l.isMadeUp(n) {
				break
			}
		}
	}
	if !skip || assistant {
		return out
	}
	for _, at := range out {
		if s := &l.segments[at.segment]; at.offset == 0 && at.piece < len(s.pieces) && l.isPieceMadeUp(at.segment, at.piece) {
			at.piece++
			out = append(out, at)
		}
	}
	return out
}

// takePiece follows a text or media of the record along a segment.
func (l *list) takePiece(s *segment, at place, text conversation.Content, media *conversation.Media) (place, bool) {
	if media != nil {
		if at.offset == 0 && at.piece < len(s.pieces) && s.pieces[at.piece].media != nil {
			return place{piece: at.piece + 1}, l.sameMedia(media, s.pieces[at.piece].media)
		}
		text = conversation.Content{Inline: media.Line()}
	}
	if at.offset == 0 && at.piece < len(s.pieces) && s.pieces[at.piece].media == nil && l.isText(text, s.pieces[at.piece].text) {
		return place{piece: at.piece + 1}, true
	}
	words, ok := l.text(text, s.length(at))
	if !ok {
		return at, false
	}
	return s.takeText(at, words)
}

// takeResult follows the pieces of a result of the record along a segment.
func (l *list) takeResult(s *segment, at place, r *conversation.ToolResult) (_ place, ok bool) {
	pieces := r.Parts
	if r.Output != conversation.OutputParts {
		pieces = []conversation.ResultPart{{Text: r.Text}}
	}
	for i := range pieces {
		if at, ok = l.takePiece(s, at, pieces[i].Text, pieces[i].Media); !ok {
			return at, false
		}
	}
	return at, true
}

// length is how much text there is from a place on, up to media.
func (s *segment) length(at place) int {
	n := -at.offset
	for i := at.piece; i < len(s.pieces) && s.pieces[i].media == nil; i++ {
		n += len(s.pieces[i].text)
	}
	return n
}

// takeText follows a text along those of a segment, which may be divided otherwise.
func (s *segment) takeText(at place, text string) (place, bool) {
	for {
		if at.piece >= len(s.pieces) || s.pieces[at.piece].media != nil {
			return at, blank(text)
		}
		in := s.pieces[at.piece].text
		left, to, ok := advance(text, in, at.offset)
		if !ok {
			return at, false
		}
		at.offset = to
		if blank(in[to:]) {
			at = place{piece: at.piece + 1}
		}
		if blank(left) {
			return at, true
		}
		text = left
	}
}
