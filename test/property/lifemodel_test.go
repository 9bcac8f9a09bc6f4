package property

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// words names a message's own text and media where a position is named.
const words = int32(-1)

// entry is a message in the independent model: what was appended, what is said of its life, and what the log of edits, folded
// as naively as can be, leaves of it in the view.
type entry struct {
	left    bool               // but for additions that live by their number
	unready map[[2]int32]int32 // the turn in which a summary was first missing, by part and the turn that it is due in

	index   int32
	message conversation.Message // as it should be on record: the blocks of plugins laid out, contents inline
	lives   map[int32]*conversation.Expiration
	ranks   map[int32]conversation.Importance // of results by position, and of its words
	turn    int32
	seen    int32 // how many messages a build had shown when it was appended
	pinned  bool  // it, or its unit
	leading bool  // a system message that leads the conversation

	shown       map[int32]shownForm
	masked      map[int32]bool
	settled     bool
	removed     bool
	hidden      bool  // a rewind took it back
	hides       int   // rewinds that took it back and were not undone
	restoredSeq int64 // the edit of the last expansion
	restored    int32 // the turn of the last expansion; -1 for none
	restoredAt  int32 // how many messages there were then
	fresh       bool  // no build was made since
	erased      map[int32]bool
	original    []conversation.Part // as it was appended; nil if nothing was corrected
	erasedAfter map[int32]int64     // the last edit before that build: what edits showed of it until then went too
}

// shownForm is what an edit put in the place of a part.
type shownForm struct {
	level  conversation.Level
	part   conversation.Part
	expiry bool
	copies bool // it names lines of others
}

// naiveUnits groups what is on record and was not taken back: an assistant's message with calls takes those of the assistant's
// that come before any result and before a build, and the tool messages directly after them.
func naiveUnits(record []*entry) [][]*entry {
	var out [][]*entry
	for _, e := range record {
		if e.hidden {
			continue
		}
		last := len(out) - 1
		if last >= 0 && e.joins(out[last]) {
			out[last] = append(out[last], e)
			continue
		}
		out = append(out, []*entry{e})
	}
	return out
}

func (e *entry) joins(u []*entry) bool {
	if !u[0].message.HasCalls() || u[0].aborted() {
		return false
	}
	if e.message.Role == conversation.RoleAssistant {
		return !e.aborted() && u[len(u)-1].message.Role == conversation.RoleAssistant && e.seen <= u[0].index
	}
	return e.message.Role == conversation.RoleTool
}

func (e *entry) aborted() bool { return slices.Contains(e.message.Tags, "aborted") }

// judged is the record in the words of the judge.
func judged(record []*entry) *validate.History {
	h := validate.NewHistory(count)
	last := int32(len(record))
	for _, e := range record {
		if e.hidden {
			continue
		}
		if e.seen > last {
			h.Shown()
		}
		h.Add(model(&e.message))
		last = e.index
	}
	return h
}

// callsBeside are the messages of calls that results stand beside which came behind other messages, by the messages of these.
func callsBeside(record []*entry) map[*entry][]*entry {
	var standing []*entry
	for _, e := range record {
		if !e.hidden {
			standing = append(standing, e)
		}
	}
	out := map[*entry][]*entry{}
	for result, calls := range judged(record).Beside() {
		for _, call := range calls {
			out[standing[result]] = append(out[standing[result]], standing[call])
		}
	}
	return out
}

// beside are the messages with such results, and with such calls.
func beside(record []*entry) map[int32]bool {
	out := map[int32]bool{}
	for result, calls := range callsBeside(record) {
		out[result.index] = true
		for _, call := range calls {
			out[call.index] = true
		}
	}
	return out
}

// pinUnits pins what is in a unit with a pinned message, or has a result that stands beside a call of one.
func pinUnits(record []*entry) {
	for _, u := range naiveUnits(record) {
		pinned := slices.ContainsFunc(u, func(e *entry) bool { return e.message.Pinned })
		for _, e := range u {
			e.pinned = pinned
		}
	}
	apart := callsBeside(record)
	for _, e := range record {
		if slices.ContainsFunc(apart[e], func(call *entry) bool { return call.pinned }) {
			e.pinned = true
		}
	}
}

// broughtBack is what an expansion of a message brings back: its unit, with results that stand beside its calls.
func broughtBack(record []*entry, e *entry) []*entry {
	return withBeside(callsBeside(record), unitOf(record, e))
}

// shownUnit is the unit that a message is shown in: with results that stand beside its calls, and for such results those of their calls.
func shownUnit(record []*entry, e *entry) []*entry {
	apart, u := callsBeside(record), unitOf(record, e)
	if calls := apart[e]; len(calls) > 0 {
		for _, call := range calls {
			u = append(unitOf(record, call), u...)
		}
	}
	return withBeside(apart, u)
}

// withBeside is a unit with the results that stand beside its calls.
func withBeside(apart map[*entry][]*entry, u []*entry) []*entry {
	var more []*entry
	for result, calls := range apart {
		if !slices.Contains(u, result) && slices.ContainsFunc(calls, func(call *entry) bool { return slices.Contains(u, call) }) {
			more = append(more, result)
		}
	}
	slices.SortFunc(more, func(a, b *entry) int { return int(a.index - b.index) })
	return append(u, more...)
}

// unitOf is the unit that a message is in.
func unitOf(record []*entry, e *entry) []*entry {
	for _, u := range naiveUnits(record) {
		if slices.Contains(u, e) {
			return u
		}
	}
	return nil
}

// newestOf finds where the newest unit begins that is surely written, and the one that is the newest if it is not.
func newestOf(record []*entry) (sure, perhaps int32) {
	perhaps = -1
	for _, u := range slices.Backward(naiveUnits(record)) {
		if slices.ContainsFunc(u, (*entry).speaks) {
			if perhaps < 0 {
				perhaps = u[0].index
			}
			return u[0].index, perhaps
		}
		if perhaps < 0 && slices.ContainsFunc(u, (*entry).stays) {
			perhaps = u[0].index
		}
	}
	return 0, max(perhaps, 0)
}

// blockText is the text of a part, if it has any that is looked for.
func blockText(p *conversation.Part) string {
	switch p.Kind {
	case conversation.PartText:
		return p.Text.Inline
	case conversation.PartToolCall:
		return p.Call.Arguments.Inline
	case conversation.PartToolResult:
		return resultText(p.Result)
	case conversation.PartMedia:
		return p.Media.Line()
	default:
		return ""
	}
}

func resultText(r *conversation.ToolResult) string {
	if r.Output != conversation.OutputParts {
		return r.Text.Inline
	}
	var pieces []string
	for i := range r.Parts {
		if m := r.Parts[i].Media; m != nil {
			pieces = append(pieces, m.Line())
		} else {
			pieces = append(pieces, r.Parts[i].Text.Inline)
		}
	}
	return strings.Join(pieces, "\n")
}

// stands says whether a part belongs to the variant that is shown, and no mask drops it.
func (e *entry) stands(p int32) bool {
	part := &e.message.Parts[p]
	if e.masked[p] {
		return false
	}
	if e.settled {
		return part.Variant != conversation.DisplayOnly
	}
	return part.Variant != conversation.PersistentOnly
}

// view is what the model says is shown of the message, part by part.
func (e *entry) view() []conversation.Part {
	if e.removed {
		return nil
	}
	var out []conversation.Part
	for i := range e.message.Parts {
		if !e.stands(int32(i)) {
			continue
		}
		if f, ok := e.shown[int32(i)]; !ok {
			out = append(out, e.message.Parts[i])
		} else if f.part.Kind != conversation.PartUnspecified {
			out = append(out, f.part)
		}
	}
	return out
}

// marksShown are the words that the model says a context shows of the message.
func (e *entry) marksShown(into map[string]bool) {
	for _, p := range e.view() {
		for _, m := range marks.FindAllString(blockText(&p), -1) {
			into[m] = true
		}
	}
}

// full says whether the message is shown as it was appended, but for what was for the first build alone.
func (e *entry) full() bool {
	for p := range e.masked {
		if e.message.Parts[p].Kind != conversation.PartText || e.message.Parts[p].Text.Inline != "" {
			return false
		}
	}
	return e.stays() && len(e.shown) == 0
}

// speaks says whether every format writes the message; some write even what is blank.
func (e *entry) speaks() bool {
	return slices.ContainsFunc(e.view(), func(p conversation.Part) bool {
		switch p.Kind {
		case conversation.PartText:
			return strings.TrimSpace(p.Text.Inline) != ""
		case conversation.PartReasoning, conversation.PartOpaque:
			return false
		default:
			return true
		}
	})
}

func (e *entry) stays() bool { return len(e.view()) > 0 }

// fold applies an edit to the model. It knows nothing of levels: that they only rise is checked where edits are.
func fold(record []*entry, ed *conversation.Edit) {
	for i := ed.Range.First; i < ed.Range.End; i++ {
		e := record[i]
		switch ed.Kind {
		case conversation.EditParts:
			for _, p := range ed.Parts {
				e.shown[p.Part] = shownForm{level: p.Level, part: p.Shown, expiry: expires(ed.Reason), copies: len(p.Copies) > 0}
			}
		case conversation.EditMask:
			e.settled = true
			for _, p := range ed.Mask {
				e.masked[p] = true
			}
		case conversation.EditRemove:
			e.removed = true
		case conversation.EditRestore:
			e.shown, e.masked, e.removed = map[int32]shownForm{}, map[int32]bool{}, false
			e.left = false
			e.restored, e.restoredAt, e.restoredSeq, e.fresh = ed.Turn, int32(len(record)), ed.Seq, true
		case conversation.EditCorrect:
			e.correct(ed)
		case conversation.EditReturn:
			maps.DeleteFunc(e.shown, func(_ int32, f shownForm) bool { return f.copies })
		case conversation.EditHide:
			e.hides++
		case conversation.EditUnhide:
			e.hides--
		}
		e.hidden = e.hides > 0
	}
}

func expires(r conversation.Reason) bool {
	switch r {
	case conversation.ReasonExpired, conversation.ReasonUnitExpired, conversation.ReasonExpiredFirstChars,
		conversation.ReasonExpiredSummary, conversation.ReasonExpiredExtract:
		return true
	default:
		return false
	}
}

// thing is a tool result, or a message's own words: what has a life of its own.
type thing struct {
	entry     *entry
	part      int32 // or words
	positions []int32
	life      conversation.Expiration
	mortal    bool
	since     int32 // the first turn that it is due in
}

// things lists what of a message has a life, as it is in force in a build.
func (e *entry) things(results conversation.Expiration, over *conversation.ExpirationOverride) []thing {
	var out []thing
	carries := e.message.Type == conversation.TypeActionResult || e.message.Type == conversation.TypeSubAgentResult
	if positions := e.wordsAt(); len(positions) > 0 {
		out = append(out, e.thing(words, positions, carries, results, over))
	}
	for i := range e.message.Parts {
		if e.message.Parts[i].Kind == conversation.PartToolResult {
			out = append(out, e.thing(int32(i), []int32{int32(i)}, true, results, over))
		}
	}
	return out
}

// wordsAt is where a message's own words stand: text that is not blank, and media, without a retention that ends.
func (e *entry) wordsAt() []int32 {
	var out []int32
	for i := range e.message.Parts {
		p := &e.message.Parts[i]
		text := p.Kind == conversation.PartText && strings.TrimSpace(p.Text.Inline) != ""
		if (text || p.Kind == conversation.PartMedia) && p.Retention.Kind != conversation.RetentionKeepLast && p.Variant != conversation.DisplayOnly {
			out = append(out, int32(i))
		}
	}
	return out
}

func (e *entry) thing(part int32, positions []int32, carries bool, results conversation.Expiration, over *conversation.ExpirationOverride) thing {
	th := thing{entry: e, part: part, positions: positions}
	if carries {
		th.life = results
		if turns := results.Turns; turns != nil {
			switch e.ranks[part] {
			case conversation.ImportanceLow:
				th.life.Turns = new(*turns / 2)
			case conversation.ImportanceHigh:
				th.life.Turns = nil
			}
		}
	}
	if stored := e.lives[part]; stored != nil {
		th.life = above(*stored, th.life)
	}
	if over != nil && carries {
		th.life = above(over.Expiration, th.life)
	}
	th.mortal = th.life.Turns != nil && (th.life.Mode == conversation.ExpirationRemove || th.life.Mode == conversation.ExpirationCompact)
	if th.mortal {
		th.since = th.dueAt()
	}
	return th
}

// dueAt is the first turn that its age, counted from the turn it was added or expanded in, is over its turns.
func (th *thing) dueAt() int32 {
	due := max(th.entry.turn, th.entry.restored) + *th.life.Turns + 1
	if th.entry.restored >= 0 { // what came back is shown once at least
		due = max(due, th.entry.restored+2)
	}
	return due
}

// above lays what is set of one configuration over another, field by field.
func above(a, b conversation.Expiration) conversation.Expiration {
	if a.Turns != nil {
		b.Turns = a.Turns
	}
	if a.Mode != conversation.ExpirationUnspecified {
		b.Mode = a.Mode
	}
	if a.CompactMode != conversation.CompactUnspecified {
		b.CompactMode = a.CompactMode
	}
	if a.CompactLength != nil {
		b.CompactLength = a.CompactLength
	}
	if a.CompactPromptID != "" {
		b.CompactPromptID = a.CompactPromptID
	}
	if a.PreserveOriginal != nil {
		b.PreserveOriginal = a.PreserveOriginal
	}
	return b
}

func (th *thing) due(turn int32) bool { return th.mortal && turn >= th.since }

func (th *thing) erases() bool { return th.life.PreserveOriginal != nil && !*th.life.PreserveOriginal }

func (th *thing) length() int {
	if th.life.CompactLength == nil {
		return 500
	}
	return int(*th.life.CompactLength)
}

// text is the original's text as one.
func (th *thing) text() string {
	var b strings.Builder
	for _, p := range th.positions {
		if part := &th.entry.message.Parts[p]; part.Kind != conversation.PartMedia {
			b.WriteString(blockText(part))
		}
	}
	return b.String()
}

// hasMedia says whether media are among what becomes a line each.
func (th *thing) hasMedia() bool {
	for _, p := range th.positions {
		part := &th.entry.message.Parts[p]
		if part.Kind == conversation.PartMedia {
			return true
		}
		for i := range resultParts(part) {
			if part.Result.Parts[i].Media != nil {
				return true
			}
		}
	}
	return false
}

func resultParts(p *conversation.Part) []conversation.ResultPart {
	if p.Kind != conversation.PartToolResult {
		return nil
	}
	return p.Result.Parts
}

func (th *thing) isErased() bool {
	for _, p := range th.positions {
		if th.entry.erased[p] {
			return true
		}
	}
	return false
}

// weight is what the view shows for it now, by the independent formula.
func (th *thing) weight() int {
	n := 0
	for _, p := range th.positions {
		if !th.entry.stands(p) {
			continue
		}
		part := th.entry.message.Parts[p]
		if f, ok := th.entry.shown[p]; ok {
			part = f.part
		}
		n += partWeight(&part)
	}
	return n
}

func partWeight(p *conversation.Part) int {
	switch p.Kind {
	case conversation.PartMedia:
		return mediaWeight
	case conversation.PartToolResult:
		n := 0
		for i := range p.Result.Parts {
			if p.Result.Parts[i].Media != nil {
				n += mediaWeight
			}
		}
		return n + count(resultText(p.Result))
	case conversation.PartText:
		return count(p.Text.Inline)
	default:
		return 0
	}
}

const mediaWeight = 1600

// made says whether the thing has expired before, to what it would become now or further.
func (th *thing) made() bool {
	f, ok := th.entry.shown[th.positions[0]]
	for _, p := range th.positions { // of words, parts that are short enough as they are may have none
		if !ok {
			f, ok = th.entry.shown[p]
		}
	}
	if !ok {
		return false
	}
	if th.life.Mode == conversation.ExpirationRemove {
		return f.level >= conversation.Cleared
	}
	return f.expiry
}

// head is the first n characters of a text, fewer where what is drawn as one would be cut.
func head(text string, n int) string {
	out, state := 0, -1
	for rest := text; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if n -= utf8.RuneCountInString(cluster); n < 0 {
			break
		}
		out += len(cluster)
	}
	return text[:out]
}
