package exportformat

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

const editSummarize = editName(conversation.EditSummarize)

// checks follows an export and refuses what contradicts itself: an import would be a conversation that cannot be built.
type checks struct {
	copier    *copier
	head      *headLine
	state     bool
	parts     []int32 // number of parts by message
	edits     int64
	summaries map[int64]rangeLine // by id
	manifests int
	manifest  int64 // the last one's
	sources   int
	awaited   awaited
}

// admit checks one line; it is nil if the line is good.
func (c *checks) admit(l *line) *FaultError {
	if (l.Conversation == nil) != (c.head != nil) {
		return fault("", "comes out of order: the conversation comes once, and first")
	}
	switch {
	case l.Conversation != nil:
		c.head = &l.Conversation.Head
		return c.checkHead().in("conversation.head")
	case c.sources > 0 && l.Source == nil && l.Chunk == nil:
		return fault("", "comes out of order: nothing but chunks comes between sources, and the end after them")
	case l.State != nil:
		return c.admitState(l.State).in("state")
	case l.Message != nil:
		return c.admitMessage(l.Message).in("message")
	case l.Edit != nil:
		return c.admitEdit(l.Edit).in("edit")
	case l.Manifest != nil:
		return c.admitManifest(l.Manifest).in("manifest")
	case l.Source != nil:
		return c.admitSource(l.Source).in("source")
	case l.Chunk != nil:
		return c.admitChunk(l.Chunk).in("chunk")
	default:
		return fault("", "comes out of order: the header comes once, and first")
	}
}

// fault is what is wrong with a field of what is checked, or with all of it if the field is empty.
func fault(field, format string, args ...any) *FaultError {
	return &FaultError{Field: field, Text: fmt.Sprintf(format, args...)}
}

// in is the fault of what stands in a field; nil if there is none.
func (f *FaultError) in(field string) *FaultError {
	switch {
	case f == nil:
	case f.Field == "":
		f.Field = field
	default:
		f.Field = field + "." + f.Field
	}
	return f
}

// element is the path of an element of a list.
func element(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// bound is a number and what it may be.
type bound struct {
	field      string
	n          int64
	least, max int64
}

func firstOutside(bounds ...bound) *FaultError {
	for _, b := range bounds {
		if b.n < b.least || b.n > b.max {
			return fault(b.field, "must be %d to %d", b.least, b.max)
		}
	}
	return nil
}

func indexOrNone(i *int32) int32 {
	if i == nil {
		return -1
	}
	return *i
}

func (c *checks) checkHead() *FaultError {
	h := c.head
	messages := int64(h.Messages)
	if f := firstOutside(
		bound{"messageCount", messages, 0, math.MaxInt32},
		bound{"version", int64(min(h.Version, math.MaxInt64)), 1, math.MaxInt64 - 1},
		bound{"revision", h.Revision, 0, math.MaxInt64 - 1},
		bound{"tokenCount", h.Tokens, 0, math.MaxInt64},
		bound{"editSeq", h.EditSeq, 0, math.MaxInt64 - 1},
		bound{"manifestSeq", h.ManifestSeq, 0, math.MaxInt64 - 1},
		bound{"turn", int64(h.Turn), 0, math.MaxInt32},
		bound{"seen", int64(h.Seen), 0, messages},
		bound{"seenBefore", int64(h.SeenBefore), 0, int64(h.Seen)},
		bound{"place.inputs", int64(h.Place.Inputs), 0, messages},
		bound{"place.carrying", int64(h.Place.Carrying), 0, int64(h.Place.Inputs)},
		bound{"windowStartIndex", int64(h.Start), 0, messages},
		bound{"unitStart", int64(h.UnitStart), 0, messages},
		bound{"callsEnd", int64(h.CallsEnd), 0, messages},
		bound{"leadingSystem", int64(h.LeadingSystem), 0, messages},
		bound{"request", int64(h.Request), -1, messages - 1},
		bound{"opening", int64(indexOrNone(h.Opening)), -1, messages - 1},
		bound{"callOrdinal", int64(h.CallOrdinal), 0, math.MaxInt32},
		bound{"lastManifest", int64(len(h.LastManifest)), manifestFormats, manifestFormats},
	); f != nil {
		return f
	}
	for i, n := range h.LastManifest {
		if n < 0 || n > h.ManifestSeq {
			return fault(element("lastManifest", i), "names a manifest that there is not")
		}
	}
	return c.checkLists()
}

const manifestFormats = 6

func (c *checks) checkLists() *FaultError {
	for i, call := range c.head.Unanswered {
		if call.Message < 0 || call.Message >= c.head.Messages || call.Ordinal < 1 || call.Ordinal > c.head.CallOrdinal {
			return fault(element("unanswered", i), "names a call that there is not")
		}
	}
	return c.checkRanges("pins", c.head.Pins, c.head.Messages)
}

func (c *checks) checkRanges(field string, ranges []rangeLine, messages int32) *FaultError {
	for i, r := range ranges {
		if !r.within(messages) {
			return fault(element(field, i), "is no range of messages")
		}
	}
	return nil
}

func (l rangeLine) within(messages int32) bool {
	return 0 <= l.First && l.First < l.End && l.End <= messages
}

func (c *checks) admitState(s *stateLine) *FaultError {
	if c.state || len(c.parts) > 0 || c.edits > 0 || c.manifests > 0 {
		return fault("", "comes out of order: it comes once, after the conversation")
	}
	c.state = true
	return c.checkRuns(s.Runs)
}

func (c *checks) admitMessage(m *messageLine) *FaultError {
	if int(m.Index) != len(c.parts) || m.Index >= c.head.Messages {
		return fault("index", "must be %d, and below the conversation's messageCount", len(c.parts))
	}
	if f := firstOutside(
		bound{"turnAdded", int64(m.TurnAdded), 0, int64(c.head.Turn)},
		bound{"tokenCount", int64(m.Tokens), 0, math.MaxInt32},
		bound{"place.inputs", int64(m.Place.Inputs), 0, int64(m.Index) + 1},
		bound{"place.carrying", int64(m.Place.Carrying), 0, int64(m.Place.Inputs)},
	); f != nil {
		return f
	}
	if m.Unit != nil && (*m.Unit < 0 || *m.Unit > m.Index) {
		return fault("unitStart", "must be 0 to the message's own index")
	}
	if f := checkExpiration(m.Expiration); f != nil {
		return f
	}
	if m.Commit > c.head.Version {
		return fault("commit", "must not be above the conversation's version")
	}
	for i := range m.Parts {
		if f := cmp.Or(c.checkPart(&m.Parts[i]), m.Parts[i].checkAppended()); f != nil {
			return f.in(element("parts", i))
		}
	}
	c.parts = append(c.parts, int32(len(m.Parts)))
	return nil
}

func (c *checks) admitEdit(e *editLine) *FaultError {
	switch {
	case e.Seq != c.edits+1 || e.Seq > c.head.EditSeq:
		return fault("seq", "must be %d, and not above the conversation's editSeq", c.edits+1)
	case !e.within(int32(len(c.parts))):
		return fault("range", "is no range of messages that came before it")
	case e.Commit > c.head.Version:
		return fault("commit", "must not be above the conversation's version")
	case (e.Summary != nil) != (e.Kind == editSummarize):
		return fault("summary", "belongs to edits that summarize, and to all of them")
	case len(e.Said) > maxReasonBytes:
		return fault("said", "takes more than %d bytes", maxReasonBytes)
	case (e.Content != "") != e.Kind.aboutContent() || len(e.Content) > maxHandleBytes:
		return fault("contentId", "belongs to edits about contents, and to all of them; at most %d bytes", maxHandleBytes)
	case len(e.Parts)+len(e.Mask) > 0 && e.Range.End != e.Range.First+1:
		return fault("range", "must be one message where parts are named")
	}
	c.edits++
	return c.checkShown(e)
}

// within says whether the edit is about messages of so many, or about a content between two of them, or after the last.
func (l *editLine) within(messages int32) bool {
	if l.Kind.aboutContent() && l.Range.First == l.Range.End {
		return 0 <= l.Range.First && l.Range.First <= messages
	}
	return l.Range.within(messages)
}

func (c *checks) checkShown(e *editLine) *FaultError {
	for i := range e.Parts {
		if f := c.checkShownPart(e, &e.Parts[i]); f != nil {
			return f.in(element("parts", i))
		}
	}
	for i, part := range e.Mask {
		if part < 0 || part >= c.parts[e.Range.First] {
			return fault(element("mask", i), "names a part that the message has not")
		}
	}
	if e.Summary == nil {
		return nil
	}
	return c.admitSummary(e.Summary, e.Range).in("summary")
}

func (c *checks) checkShownPart(e *editLine, p *shownLine) *FaultError {
	recalled := p.Part == conversation.RecalledPart && conversation.EditKind(e.Kind) == conversation.EditRecall
	switch {
	case (p.Part < 0 || p.Part >= c.parts[e.Range.First]) && !recalled:
		return fault("part", "names a part that the message has not")
	case recalled != (p.Shown.Recalled != nil):
		return fault("shown.recalled", "belongs to edits that recall, and to all of them")
	case reflect.ValueOf(p.Shown).IsZero():
		return nil // another part tells its content too
	default:
		return cmp.Or(c.checkPart(&p.Shown).in("shown"), p.checkCitation().in("shown.citation"), c.checkCopies(e, p))
	}
}

func (c *checks) admitManifest(m *manifestLine) *FaultError {
	if m.Seq <= c.manifest || m.Seq > c.head.ManifestSeq {
		return fault("seq", "must rise, and not above the conversation's manifestSeq")
	}
	messages := int64(len(c.parts))
	if f := firstOutside(
		bound{"messageCount", int64(m.MessageCount), 0, messages},
		bound{"editSeq", m.EditSeq, 0, c.edits},
		bound{"turn", int64(m.Turn), 0, int64(c.head.Turn)},
		bound{"windowStartIndex", int64(m.WindowStart), 0, int64(m.MessageCount)},
		bound{"windowRequestIndex", int64(m.WindowRequest), -1, int64(m.MessageCount) - 1},
		bound{"windowOpeningIndex", int64(indexOrNone(m.WindowOpening)), -1, int64(m.MessageCount) - 1},
		bound{"windowAfreshEdit", m.WindowAfresh, 0, m.EditSeq},
		bound{"windowRestoredEdit", m.WindowRestored, 0, m.EditSeq},
		bound{"leadingSystem", int64(m.LeadingSystem), 0, int64(m.MessageCount)},
		bound{"earlierEnd", int64(m.EarlierEnd), 0, int64(max(m.Blocks, 0))},
	); f != nil {
		return f
	}
	c.manifest = m.Seq
	c.manifests++
	if slices.ContainsFunc(m.WindowCuts, func(l cutLine) bool { return !l.possible(m) }) {
		return fault("windowCuts", "must be of messages or summaries on record, with lengths of at least 0")
	}
	return c.checkRanges("pins", m.Pins, m.MessageCount)
}

// possible says whether a cut is of something that a manifest may show, and of lengths that no sum overflows.
func (l *cutLine) possible(m *manifestLine) bool {
	const most = math.MaxInt32 / 2
	return 0 <= l.Message && l.Message < max(m.MessageCount, 1) && 0 <= l.Summary && l.Summary <= m.EditSeq && (l.Summary == 0 || l.Message == 0) &&
		min(l.Head, l.From, l.Tail) >= 0 && max(l.Head, l.From, l.Tail) <= most
}

// complete compares what came with what the end and the conversation say there is.
func (c *checks) complete(end *endLine) *FaultError {
	switch {
	case c.head == nil:
		return fault("", "comes out of order: there is no conversation")
	case end.Messages != len(c.parts) || c.head.Messages != int32(len(c.parts)):
		return fault("end.messages", "messages are missing")
	case int64(end.Edits) != c.edits || c.head.EditSeq != c.edits:
		return fault("end.edits", "edits are missing")
	case end.Manifests != c.manifests:
		return fault("end.manifests", "manifests are missing")
	case end.Sources != c.sources || c.awaited.next < c.awaited.size:
		return fault("end.sources", "sources are missing, or chunks of the last")
	}
	return nil
}
