package provider

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Writer writes lines in one provider's shape, as blocks of a UnitWriter.
type Writer interface {
	// Takes reports whether the provider accepts the media in a user message.
	Takes(m *conversation.Media) bool
	// Text writes a line of the system or the user: at least one content, none of them empty.
	Text(s *UnitWriter, l *Line, contents []Content)
	// Assistant writes the assistant's lines of a unit as one turn of the model, or nothing if none of it can be shown.
	Assistant(s *UnitWriter, turn []Line)
	// Result writes a line with one result.
	Result(s *UnitWriter, l *Line, r *conversation.ToolResult)
}

// Content is something that the user or the system says: media if Media is set, otherwise text.
type Content struct {
	Text   string
	Media  *conversation.Media
	Own    string // a block of the provider's own in a system message
	Kept   Fields // other members that the provider takes back
	Tokens int32
	// Recalled is set for memories, which come before the message's own words.
	Recalled bool
}

// UnitWriter collects the blocks of a unit while it is written.
type UnitWriter struct {
	Traits  Traits
	Context UnitContext
	out     UnitBlocks
	lines   []Line
	residue bool // some line has residue that may be written back
}

// NewFormat returns a format whose units the writer writes.
func NewFormat(id conversation.Format, t Traits, w Writer) Format { return format{id, t, w} }

type format struct {
	id     conversation.Format
	traits Traits
	writer Writer
}

func (f format) Format() conversation.Format { return f.id }

func (f format) Traits() Traits { return f.traits }

// Unit pairs calls and results, and lets the writer write each line (behaviour §11).
func (f format) Unit(u *conversation.Unit, c UnitContext) UnitBlocks {
	lines, repairs := Pair(f.traits, u, c)
	s := &UnitWriter{Traits: f.traits, Context: c, out: UnitBlocks{Repairs: repairs, Blocks: make([]Block, 0, len(lines))}, lines: lines}
	s.keepOwnResidue(lines)
	turn := 0
	for turn < len(lines) && lines[turn].Role == conversation.RoleAssistant {
		turn++
	}
	s.turn(f.writer, lines[:turn])
	for i := turn; i < len(lines); i++ {
		s.line(f.writer, &lines[i])
		s.out.Ties.Spoken = s.out.Ties.Spoken || lines[i].Role != conversation.RoleTool && lines[i].written
	}
	s.tie(u, lines, turn)
	if u.Summary != nil {
		for i := range s.out.Blocks {
			s.out.Blocks[i].Summary = u.Summary.Summary.ID
		}
	}
	return s.out
}

// tie sets the ties that follow from how the unit ends.
func (s *UnitWriter) tie(u *conversation.Unit, lines []Line, turn int) {
	ties := &s.out.Ties
	ties.Spoken = ties.Spoken || u.Summary != nil
	ends := turn > 0 && turn == len(lines) && lines[turn-1].Paused && s.Reads(lines[turn-1].Model)
	ties.Thinks = ties.Thinks && turn == len(lines)
	ties.Paused = s.Traits.Pauses && ends && (ties.Serves || len(ties.Asks) > 0)
	if n := len(s.out.Blocks); n > 0 {
		s.out.Blocks[n-1].Paused = ties.Paused && ties.Serves
	}
}

// turn writes the assistant's lines of the unit.
func (s *UnitWriter) turn(w Writer, lines []Line) {
	repairs := len(s.out.Repairs)
	if len(lines) > 0 {
		w.Assistant(s, lines)
	}
	for i := range lines {
		s.reportMissing(&lines[i], repairs)
	}
}

func (s *UnitWriter) line(w Writer, l *Line) {
	repairs := len(s.out.Repairs)
	switch {
	case l.Role == conversation.RoleTool:
		w.Result(s, l, l.Parts[0].Result)
	case l.Role == conversation.RoleSystem && s.Traits.SystemApart:
		s.systemApart(l)
	default:
		if contents := s.contents(l, w.Takes); len(contents) > 0 {
			w.Text(s, l, s.withSpeaker(l, contents))
		}
	}
	s.reportMissing(l, repairs)
}

// withSpeaker adds a line that names the speaker before a user's words, if messages have no field for the name. The message's weight
// already includes the line; only the growth from joining both is added.
func (s *UnitWriter) withSpeaker(l *Line, contents []Content) []Content {
	own := slices.IndexFunc(contents, func(c Content) bool { return !c.Recalled }) // recalled memories have no speaker
	switch {
	case own < 0 || l.Name == "" || l.Role != conversation.RoleUser || s.Traits.NameField:
	case contents[own].Media == nil && contents[own].Kept == nil:
		line := SpeakerLine(l.Name)
		contents[own].Tokens += s.Context.growth(line, contents[own].Text)
		contents[own].Text = line + contents[own].Text
	default:
		return slices.Insert(contents, own, Content{Text: SpeakerLine(l.Name)})
	}
	return contents
}

// reportMissing records a repair for a line of which nothing was written because it is empty. If the repairs since from already tell of
// something dropped, that is the reason.
func (s *UnitWriter) reportMissing(l *Line, from int) {
	dropped := func(r Repair) bool { return r.Index == l.Index }
	if !l.written && !slices.ContainsFunc(s.out.Repairs[from:], dropped) {
		s.Repair(l.Index, conversation.ReasonEmptyText, -int64(l.Tokens))
	}
}

// contents returns the texts and media of a line; media that takes refuses become a line of text.
func (s *UnitWriter) contents(l *Line, takes func(*conversation.Media) bool) []Content {
	out := make([]Content, 0, len(l.Parts))
	for i := range l.Parts {
		p := &l.Parts[i]
		switch {
		case p.Kind == conversation.PartText && s.Blank(p.Text.Inline):
		case p.Kind == conversation.PartText:
			out = append(out, Content{Text: p.Text.Inline, Tokens: p.Tokens, Kept: s.Kept(p), Recalled: p.Recalled != nil})
		case p.Kind == conversation.PartMedia && l.Role != conversation.RoleSystem && (takes(p.Media) || s.Kept(p).isFile(p.Media)):
			out = append(out, Content{Media: p.Media, Tokens: p.Tokens, Kept: s.Kept(p)})
		case p.Kind == conversation.PartMedia:
			line, tokens := s.MediaAsText(l.Index, p)
			out = append(out, Content{Text: line, Tokens: tokens})
		case p.Kind == conversation.PartOpaque && s.Native(l, p) && s.systemInside(l) && IsObject(p.Opaque.JSON.Inline):
			out = append(out, Content{Own: p.Opaque.JSON.Inline, Tokens: p.Tokens})
		default:
			s.Drop(l.Index, p)
		}
	}
	return out
}

// Blank reports whether a text cannot be shown because it is empty.
func (s *UnitWriter) Blank(text string) bool {
	return text == "" || s.Traits.NoBlank && strings.TrimSpace(text) == ""
}

// MediaAsText returns the line that replaces media, and its weight.
func (s *UnitWriter) MediaAsText(index int32, p *conversation.Part) (line string, tokens int32) {
	line = p.Media.Line()
	tokens = s.Context.count(line)
	s.Repair(index, conversation.ReasonMediaAsText, int64(tokens-p.Tokens))
	return line, tokens
}

// Drop records that a part is not shown because the provider cannot take it back.
func (s *UnitWriter) Drop(index int32, p *conversation.Part) {
	s.Repair(index, conversation.ReasonForeignBlock, -int64(p.Tokens))
}

// Count weighs a text that the record does not contain.
func (s *UnitWriter) Count(text string) int32 { return s.Context.count(text) }

// Repair records a change made for legality.
func (s *UnitWriter) Repair(index int32, reason conversation.Reason, tokens int64) {
	s.out.Repairs = append(s.out.Repairs, Repair{Index: index, Reason: reason, Tokens: tokens})
}

// Add writes a block of a line; tokens is the weight of its content.
func (s *UnitWriter) Add(l *Line, role string, json []byte, tokens int32) {
	s.add(Block{Role: role, JSON: json, Tokens: s.Charge(l, tokens), Index: l.Index})
}

// AddIn writes a block of a line with the members of the message that it came from. They become the message's members if the block begins
// its message.
func (s *UnitWriter) AddIn(l *Line, role, head string, json []byte, tokens int32) {
	s.add(Block{Role: role, Head: head, JSON: json, Tokens: s.Charge(l, tokens), Index: l.Index})
}

func (s *UnitWriter) add(b Block) { s.out.Blocks = append(s.out.Blocks, b) }

// Charge adds to a weight what the line weighs besides its content, the first time it is called.
func (s *UnitWriter) Charge(l *Line, tokens int32) int32 {
	overhead := l.Tokens
	for i := range l.Parts {
		overhead -= l.Parts[i].Tokens
	}
	l.Tokens -= overhead
	l.written = true
	return tokens + overhead
}

// Call returns a call's name and arguments as they are written, and what the call weighs. clean makes a name legal, and isLegal reports
// whether arguments can be written unchanged.
func (s *UnitWriter) Call(
	index int32, p *conversation.Part, clean func(string) string, isLegal func(string) bool,
) (name, arguments string, tokens int32) {
	name, more := s.ToolName(index, p.Call.Name, clean)
	arguments, wrapped := s.arguments(index, p.Call.Arguments.Inline, isLegal)
	return name, arguments, p.Tokens + more + wrapped
}

// ToolName returns a tool's name as it is written, and its weight beyond the stored count.
func (s *UnitWriter) ToolName(index int32, name string, clean func(string) string) (string, int32) {
	legal := clean(name)
	if legal == name {
		return name, 0
	}
	n := s.Context.count(legal)
	s.Repair(index, conversation.ReasonNameReplaced, int64(n))
	return legal, n
}

// arguments returns a call's arguments as they are written, and their weight beyond the stored count.
func (s *UnitWriter) arguments(index int32, arguments string, isLegal func(string) bool) (string, int32) {
	came := arguments
	switch arguments = mendSurrogates(came); {
	case strings.TrimSpace(arguments) == "" || arguments == "null":
		return "{}", s.Context.count("{}")
	case isLegal(arguments):
		return arguments, max(0, s.Context.count(arguments)-s.Context.count(came))
	}
	raw := AppendField(nil, `{"_raw":`, arguments)
	wrapped := string(append(raw, '}'))
	n := max(0, s.Context.count(wrapped)-s.Context.count(came))
	s.Repair(index, conversation.ReasonArgumentsWrapped, int64(n))
	return wrapped, n
}

// AppendContents appends contents as a list, at least one: media as the provider has them, and each text behind its prefix as an object.
func AppendContents(dst []byte, contents []Content, textPrefix string, appendMedia func([]byte, *Content) []byte) []byte {
	for i := range contents {
		dst = append(dst, "[,"[min(i, 1)])
		if contents[i].Media != nil {
			dst = appendMedia(dst, &contents[i])
			continue
		}
		dst = append(dst, textPrefix...)
		dst = append(AppendString(dst, contents[i].Text), '}')
	}
	return append(dst, ']')
}

// Weigh returns the total weight of contents.
func Weigh(contents []Content) int32 {
	var n int32
	for i := range contents {
		n += contents[i].Tokens
	}
	return n
}
