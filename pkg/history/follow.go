package history

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// maxCursors is how many ways of following a list are held open at a time. Beyond it, the list is full of repeats.
const maxCursors = 64

// trail is a list as far as it was followed along a tape.
type trail struct {
	list *list
	tape []Entry
	// strict takes messages in their original form alone, and nothing that formats make up.
	strict bool
	// anywhere lets the list begin at any message behind the first: its front was cut off.
	anywhere bool

	open   int // how many calls of the tape have no result in it
	newest int
	// steps are the cursors before each entry, and behind the last that the list has.
	steps    [][]cursor
	overflow bool
}

// follow follows the list along the tape as far as it goes.
func (l *list) follow(tape []Entry, strict, anywhere bool) *trail {
	t := &trail{list: l, tape: tape, strict: strict, anywhere: anywhere, open: waiting(tape), newest: newestReply(tape)}
	t.run()
	return t
}

// run follows entry by entry. What builds have shown nothing of may be passed over.
func (t *trail) run() {
	at, later, behind := []cursor{{segment: -1}}, map[int][]cursor{}, 0
	t.steps = append(t.steps, at)
	for i := range t.tape {
		if end := t.gone(i); end > i && !t.strict {
			later[end], behind = append(later[end], at...), end
		}
		at = distinct(append(t.step(at, i), later[i+1]...))
		if t.steps = append(t.steps, at); len(at) == 0 && i+1 >= behind || t.overflow {
			break
		}
	}
	for len(t.steps[len(t.steps)-1]) == 0 {
		t.steps = t.steps[:len(t.steps)-1]
	}
}

// gone is the end of what went together, if it begins at an entry; else the entry.
func (t *trail) gone(i int) int {
	number := t.tape[i].Gone
	if number == 0 || i > 0 && t.tape[i-1].Gone == number {
		return i
	}
	for i < len(t.tape) && t.tape[i].Gone == number {
		i++
	}
	return i
}

func (t *trail) step(from []cursor, i int) []cursor {
	e := &t.tape[i]
	var out []cursor
	for _, c := range from {
		if t.anywhere && c.segment < 0 && i == 0 {
			continue
		}
		before := c
		for _, to := range t.entry(c, i, e) {
			out = append(out, to.linked(e, &before))
		}
	}
	out = distinct(out)
	if t.anywhere && !slices.ContainsFunc(out, func(c cursor) bool { return c.segment < 0 }) {
		out = append(out, cursor{segment: -1})
	}
	t.overflow = t.overflow || len(out) > maxCursors
	return out
}

func distinct(cursors []cursor) []cursor {
	if len(cursors) < 2 {
		return cursors
	}
	seen := make(map[key]bool, len(cursors))
	return slices.DeleteFunc(cursors, func(c cursor) bool {
		k := c.key()
		was := seen[k]
		seen[k] = true
		return was
	})
}

// entry follows one message. The newest reply may stand in other words, with the same calls; a reply with calls may stand without its words.
func (t *trail) entry(c cursor, i int, e *Entry) []cursor {
	out := t.parts(c, e)
	newest := i >= t.newest && (c.segment >= 0 || !t.anywhere)
	if e.Role != conversation.RoleAssistant || !newest && (t.strict || !e.hasCalls()) {
		return out
	}
	for _, at := range t.list.places(c, true, !t.strict) {
		if s := &t.list.segments[at.segment]; !at.anyText && (newest || len(s.pieces) == 0) {
			at.anyText, at.place = true, place{piece: len(s.pieces)} // what they are now is the caller's
			out = append(out, t.parts(at, e)...)
		}
	}
	return out
}

func (t *trail) parts(c cursor, e *Entry) []cursor {
	at, named := []cursor{c}, e.Role == conversation.RoleUser && e.Name != ""
	for p := range e.Parts {
		part := &e.Parts[p]
		next := make([]cursor, 0, len(at))
		for _, c := range at {
			next = append(next, t.part(c, e, part, named)...)
		}
		if at = distinct(next); len(at) == 0 {
			return nil
		}
		if len(part.Forms) > 0 && isSaid(&part.Forms[0]) && part.Forms[0].Recalled == nil {
			named = false
		}
	}
	return at
}

// part follows a part in each of its forms.
func (t *trail) part(c cursor, e *Entry, p *Part, named bool) []cursor {
	var out []cursor
	for f := range p.Forms {
		if t.strict && f > 0 {
			break
		}
		at := c
		at.changed = at.changed || f > 0 || p.Forms[f].Recalled != nil
		out = append(out, t.form(at, e, &p.Forms[f], named)...)
	}
	if p.Absent && (!t.strict || len(p.Forms) > 0 && p.Forms[0].Recalled != nil) {
		c.changed = c.changed || len(p.Forms) == 0 || p.Forms[0].Recalled == nil
		out = append(out, c)
	}
	return out
}

func (t *trail) form(c cursor, e *Entry, p *conversation.Part, named bool) []cursor {
	if !isSaid(p) {
		return []cursor{c}
	}
	switch p.Kind {
	case conversation.PartToolCall:
		if e.Role != conversation.RoleAssistant {
			return []cursor{c} // no format shows it
		}
		return t.call(c, p.Call)
	case conversation.PartToolResult:
		return append(t.result(c, p.Result), t.lateResult(c, p.Result)...)
	}
	if c.anyText && e.Role == conversation.RoleAssistant {
		return []cursor{c}
	}
	var out []cursor
	for _, at := range t.list.places(c, e.Role == conversation.RoleAssistant, !t.strict) {
		out = append(out, t.words(at, e, p)...)
		if named && p.Recalled == nil {
			if spoken, ok := t.text(at, provider.SpeakerLine(e.Name)); ok {
				out = append(out, t.words(spoken, e, p)...)
			}
		}
	}
	return out
}

// words follows a text or media.
func (t *trail) words(at cursor, e *Entry, p *conversation.Part) []cursor {
	if e.Role == conversation.RoleSystem {
		headed, ok := t.text(at, provider.SystemHeader)
		if !ok {
			return nil
		}
		at = headed
	}
	to, ok := t.list.takePiece(&t.list.segments[at.segment], at.place, p.Text, p.Media)
	if !ok {
		return nil
	}
	at.place = to
	return []cursor{at}
}

// text follows a text that the record does not have.
func (t *trail) text(at cursor, text string) (cursor, bool) {
	to, ok := t.list.segments[at.segment].takeText(at.place, text)
	at.place = to
	return at, ok
}

func (t *trail) call(c cursor, call *conversation.ToolCall) []cursor {
	var out []cursor
	for _, at := range t.list.places(c, true, !t.strict) {
		s := &t.list.segments[at.segment]
		if at.calls < len(s.calls) && t.list.sameCall(call, s.calls[at.calls].call) {
			given := s.calls[at.calls].call
			at.answers = &pairing{given: given, recorded: call, next: at.answers}
			at.renamed = at.renamed || given.CallID != "" && given.CallID != call.CallID
			at.calls++
			out = append(out, at)
		}
	}
	return out
}

// maxApart is how far apart results may stand in a list that answer neighbors on record.
const maxApart = 1024

// result follows a result, wherever in its segment the list has it.
func (t *trail) result(c cursor, r *conversation.ToolResult) []cursor {
	var out []cursor
	for _, at := range t.list.places(c, false, !t.strict) {
		s, low := &t.list.segments[at.segment], at.results.lowest()
		for i := low; i < min(len(s.results), low+maxApart); i++ {
			if !at.results.has(i) && t.answers(&at, &s.results[i], r) {
				at.results, at.changed = at.results.with(i), at.changed || s.results[i].isMadeUp()
				out = append(out, at)
				break
			}
		}
	}
	return out
}

// answers says whether a result of the list is one of the record: it answers the same call, and says the same. What stands for a result that was
// not there yet is that result.
func (t *trail) answers(c *cursor, given *listResult, recorded *conversation.ToolResult) bool {
	if call := c.answers.of(given.call); call != nil && call.Ordinal != recorded.Ordinal {
		return false
	}
	return t.list.sameResult(recorded, given) || !t.strict && given.isMadeUp()
}

// lateResult follows a result as the user's text: so formats show one whose unit has ended.
func (t *trail) lateResult(c cursor, r *conversation.ToolResult) []cursor {
	if t.strict {
		return nil
	}
	var out []cursor
	for _, at := range t.list.places(c, false, true) {
		at, ok := t.text(at, provider.LateHeader(r))
		if !ok {
			continue
		}
		at.changed = true
		if at.place, ok = t.list.takeResult(&t.list.segments[at.segment], at.place, r); ok {
			out = append(out, at)
		}
	}
	return out
}

// agreed is how many entries the list has before it differs, or ends.
func (t *trail) agreed() int { return len(t.steps) - 1 }

// ends are the places where the list may go on behind the first n entries. Words of the newest reply that count for nothing are told apart from
// none that do.
func (t *trail) ends(n int) []cursor {
	ends := slices.DeleteFunc(slices.Clone(t.steps[n]), func(c cursor) bool { return !t.isEnd(&c) })
	if slices.ContainsFunc(ends, func(c cursor) bool { return !c.anyText }) {
		ends = slices.DeleteFunc(ends, func(c cursor) bool { return c.anyText })
	}
	return ends
}

// isEnd says whether a list may go on behind a cursor: it stands between two parts, and nothing that the assistant said before is left.
func (t *trail) isEnd(c *cursor) bool {
	if c.segment < 0 {
		return !t.anywhere
	}
	s := &t.list.segments[c.segment]
	switch {
	case c.offset > 0, t.anywhere && t.list.orphans(c) > t.open:
		return false
	case c.anyText:
		return c.calls > 0 && c.calls == len(s.calls)
	case c.calls > 0 && c.piece < len(s.pieces) && s.pieces[c.piece].at.before(s.calls[c.calls-1].at):
		return false
	case c.piece > 0 && c.calls < len(s.calls) && s.calls[c.calls].at.before(s.pieces[c.piece-1].at):
		return false
	}
	return true
}

// orphans are how many results are left behind a cursor whose calls were cut off with the list's front.
func (l *list) orphans(c *cursor) int {
	n := 0
	for i := range l.segments[0].results {
		if l.segments[0].results[i].call == nil && c.segment == 0 && !c.results.has(i) {
			n++
		}
	}
	return n
}
