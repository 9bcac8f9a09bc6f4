package exportformat

import (
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

// admit checks one line; text is empty if it is good.
func (c *checks) admit(l *line) (field, text string) {
	if (l.Conversation == nil) != (c.head != nil) {
		return "", "comes out of order: the conversation comes once, and first"
	}
	switch {
	case l.Conversation != nil:
		c.head = &l.Conversation.Head
		return under("conversation.head", c.checkHead)
	case c.sources > 0 && l.Source == nil && l.Chunk == nil:
		return "", "comes out of order: nothing but chunks comes between sources, and the end after them"
	case l.State != nil:
		return under("state", func() (string, string) { return c.admitState(l.State) })
	case l.Message != nil:
		return under("message", func() (string, string) { return c.admitMessage(l.Message) })
	case l.Edit != nil:
		return under("edit", func() (string, string) { return c.admitEdit(l.Edit) })
	case l.Manifest != nil:
		return under("manifest", func() (string, string) { return c.admitManifest(l.Manifest) })
	case l.Source != nil:
		return under("source", func() (string, string) { return c.admitSource(l.Source) })
	case l.Chunk != nil:
		return under("chunk", func() (string, string) { return c.admitChunk(l.Chunk) })
	default:
		return "", "comes out of order: the header comes once, and first"
	}
}

func under(prefix string, check func() (field, text string)) (string, string) {
	field, text := check()
	if text == "" {
		return "", ""
	}
	if field == "" {
		return prefix, text
	}
	return prefix + "." + field, text
}

// bound is a number and what it may be.
type bound struct {
	field      string
	n          int64
	least, max int64
}

func firstOutside(bounds ...bound) (field, text string) {
	for _, b := range bounds {
		if b.n < b.least || b.n > b.max {
			return b.field, fmt.Sprintf("must be %d to %d", b.least, b.max)
		}
	}
	return "", ""
}

func indexOrNone(i *int32) int32 {
	if i == nil {
		return -1
	}
	return *i
}

func (c *checks) checkHead() (field, text string) {
	h := c.head
	messages := int64(h.Messages)
	if field, text := firstOutside(
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
	); text != "" {
		return field, text
	}
	for i, n := range h.LastManifest {
		if n < 0 || n > h.ManifestSeq {
			return fmt.Sprintf("lastManifest[%d]", i), "names a manifest that there is not"
		}
	}
	return c.checkLists()
}

const manifestFormats = 6

func (c *checks) checkLists() (field, text string) {
	for i, call := range c.head.Unanswered {
		if call.Message < 0 || call.Message >= c.head.Messages || call.Ordinal < 1 || call.Ordinal > c.head.CallOrdinal {
			return fmt.Sprintf("unanswered[%d]", i), "names a call that there is not"
		}
	}
	return c.checkRanges("pins", c.head.Pins, c.head.Messages)
}

func (c *checks) checkRanges(field string, ranges []rangeLine, messages int32) (string, string) {
	for i, r := range ranges {
		if !r.within(messages) {
			return fmt.Sprintf("%s[%d]", field, i), "is no range of messages"
		}
	}
	return "", ""
}

func (l rangeLine) within(messages int32) bool {
	return 0 <= l.First && l.First < l.End && l.End <= messages
}

func (c *checks) admitState(s *stateLine) (field, text string) {
	if c.state || len(c.parts) > 0 || c.edits > 0 || c.manifests > 0 {
		return "", "comes out of order: it comes once, after the conversation"
	}
	c.state = true
	return c.checkRuns(s.Runs)
}

func (c *checks) admitMessage(m *messageLine) (field, text string) {
	if int(m.Index) != len(c.parts) || m.Index >= c.head.Messages {
		return "index", fmt.Sprintf("must be %d, and below the conversation's messageCount", len(c.parts))
	}
	if field, text := firstOutside(
		bound{"turnAdded", int64(m.TurnAdded), 0, int64(c.head.Turn)},
		bound{"tokenCount", int64(m.Tokens), 0, math.MaxInt32},
		bound{"place.inputs", int64(m.Place.Inputs), 0, int64(m.Index) + 1},
		bound{"place.carrying", int64(m.Place.Carrying), 0, int64(m.Place.Inputs)},
	); text != "" {
		return field, text
	}
	if m.Unit != nil && (*m.Unit < 0 || *m.Unit > m.Index) {
		return "unitStart", "must be 0 to the message's own index"
	}
	if field, text := checkExpiration(m.Expiration); text != "" {
		return field, text
	}
	if m.Commit > c.head.Version {
		return "commit", "must not be above the conversation's version"
	}
	for i := range m.Parts {
		if field, text := c.checkPart(&m.Parts[i]); text != "" {
			return fmt.Sprintf("parts[%d]%s", i, field), text
		}
		if m.Parts[i].Citation != nil {
			return fmt.Sprintf("parts[%d].citation", i), "belongs to what an edit shows"
		}
		if m.Parts[i].Recalled != nil {
			return fmt.Sprintf("parts[%d].recalled", i), "belongs to what an edit shows"
		}
	}
	c.parts = append(c.parts, int32(len(m.Parts)))
	return "", ""
}

func (c *checks) admitEdit(e *editLine) (field, text string) {
	switch {
	case e.Seq != c.edits+1 || e.Seq > c.head.EditSeq:
		return "seq", fmt.Sprintf("must be %d, and not above the conversation's editSeq", c.edits+1)
	case !e.within(int32(len(c.parts))):
		return "range", "is no range of messages that came before it"
	case e.Commit > c.head.Version:
		return "commit", "must not be above the conversation's version"
	case (e.Summary != nil) != (e.Kind == editSummarize):
		return "summary", "belongs to edits that summarize, and to all of them"
	case len(e.Said) > maxReasonBytes:
		return "said", fmt.Sprintf("takes more than %d bytes", maxReasonBytes)
	case (e.Content != "") != e.Kind.aboutContent() || len(e.Content) > maxHandleBytes:
		return "contentId", fmt.Sprintf("belongs to edits about contents, and to all of them; at most %d bytes", maxHandleBytes)
	case len(e.Parts)+len(e.Mask) > 0 && e.Range.End != e.Range.First+1:
		return "range", "must be one message where parts are named"
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

func (c *checks) checkShown(e *editLine) (field, text string) {
	if len(e.Parts)+len(e.Mask) == 0 {
		return c.checkSummary(e)
	}
	parts := c.parts[e.Range.First]
	for i := range e.Parts {
		p := &e.Parts[i]
		recalled := p.Part == conversation.RecalledPart && conversation.EditKind(e.Kind) == conversation.EditRecall
		if (p.Part < 0 || p.Part >= parts) && !recalled {
			return fmt.Sprintf("parts[%d].part", i), "names a part that the message has not"
		}
		if recalled != (p.Shown.Recalled != nil) {
			return fmt.Sprintf("parts[%d].shown.recalled", i), "belongs to edits that recall, and to all of them"
		}
		if reflect.ValueOf(p.Shown).IsZero() {
			continue // another part tells its content too
		}
		if field, text := c.checkPart(&p.Shown); text != "" {
			return fmt.Sprintf("parts[%d].shown%s", i, field), text
		}
		if field, text := under(fmt.Sprintf("parts[%d].shown.citation", i), p.checkCitation); text != "" {
			return field, text
		}
		if field, text := c.checkCopies(e, p); text != "" {
			return fmt.Sprintf("parts[%d].%s", i, field), text
		}
	}
	for i, part := range e.Mask {
		if part < 0 || part >= parts {
			return fmt.Sprintf("mask[%d]", i), "names a part that the message has not"
		}
	}
	return c.checkSummary(e)
}

func (c *checks) checkSummary(e *editLine) (field, text string) {
	if e.Summary == nil {
		return "", ""
	}
	return under("summary", func() (string, string) { return c.admitSummary(e.Summary, e.Range) })
}

func (c *checks) admitManifest(m *manifestLine) (field, text string) {
	if m.Seq <= c.manifest || m.Seq > c.head.ManifestSeq {
		return "seq", "must rise, and not above the conversation's manifestSeq"
	}
	messages := int64(len(c.parts))
	if field, text := firstOutside(
		bound{"messageCount", int64(m.MessageCount), 0, messages},
		bound{"editSeq", m.EditSeq, 0, c.edits},
		bound{"turn", int64(m.Turn), 0, int64(c.head.Turn)},
		bound{"windowStartIndex", int64(m.WindowStart), 0, int64(m.MessageCount)},
		bound{"windowRequestIndex", int64(m.WindowRequest), -1, int64(m.MessageCount) - 1},
		bound{"windowOpeningIndex", int64(indexOrNone(m.WindowOpening)), -1, int64(m.MessageCount) - 1},
		bound{"windowAfreshEdit", m.WindowAfresh, 0, m.EditSeq},
		bound{"windowRestoredEdit", m.WindowRestored, 0, m.EditSeq},
		bound{"leadingSystem", int64(m.LeadingSystem), 0, int64(m.MessageCount)},
	); text != "" {
		return field, text
	}
	c.manifest = m.Seq
	c.manifests++
	if slices.ContainsFunc(m.WindowCuts, func(l cutLine) bool { return !l.possible(m) }) {
		return "windowCuts", "must be of messages or summaries on record, with lengths of at least 0"
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
func (c *checks) complete(end *endLine) (field, text string) {
	switch {
	case c.head == nil:
		return "", "comes out of order: there is no conversation"
	case end.Messages != len(c.parts) || c.head.Messages != int32(len(c.parts)):
		return "end.messages", "messages are missing"
	case int64(end.Edits) != c.edits || c.head.EditSeq != c.edits:
		return "end.edits", "edits are missing"
	case end.Manifests != c.manifests:
		return "end.manifests", "manifests are missing"
	case end.Sources != c.sources || c.awaited.next < c.awaited.size:
		return "end.sources", "sources are missing, or chunks of the last"
	}
	return "", ""
}
