package exportformat

import (
	"fmt"
	"math"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// The limits of source records and runs: those of the requests that make them.
const (
	maxHandleBytes   = 64
	maxReasonBytes   = 1024 // of an expansion
	maxNameBytes     = 256
	maxURLBytes      = 2048
	maxMetadataBytes = 8192
	maxLocationBytes = 4096
	maxCitedBy       = 100
)

// awaited is the content whose chunks come next.
type awaited struct {
	id         string
	next, size int64 // bytes
}

func (c *checks) admitSource(s *sourceLine) (field, text string) {
	if c.awaited.next < c.awaited.size {
		return "", "comes too early: chunks of the content before it are missing"
	}
	for _, check := range []func() (string, string){
		func() (string, string) { return firstTooLong(s.texts()...) },
		s.checkFigures,
		s.checkTimes,
		s.checkMetadata,
		func() (string, string) { return c.checkCitedBy(s.CitedBy) },
		func() (string, string) { return c.checkPlace(s.At) },
	} {
		if field, text := check(); text != "" {
			return field, text
		}
	}
	c.sources++
	c.awaited = awaited{id: s.ContentID}
	if s.hasChunks() {
		c.awaited.size = s.Bytes
	}
	return "", ""
}

// hasChunks says whether chunks follow.
func (l *sourceLine) hasChunks() bool { return l.At == nil && !l.Expired && l.Bytes > 0 }

// length is a text and how long it may be.
type length struct {
	field, text string
	most        int
}

func firstTooLong(lengths ...length) (field, text string) {
	for _, l := range lengths {
		if len(l.text) > l.most {
			return l.field, fmt.Sprintf("must be at most %d bytes", l.most)
		}
	}
	return "", ""
}

func (l *sourceLine) texts() []length {
	return []length{
		{"contentId", l.ContentID, maxHandleBytes}, {"sourceUrl", l.URL, maxURLBytes}, {"sourceTitle", l.Title, maxNameBytes}, {"contentType", l.ContentType, maxNameBytes},
		{"runId", l.RunID, maxNameBytes}, {"metadataJson", l.Metadata, maxMetadataBytes},
	}
}

func (l *sourceLine) checkFigures() (field, text string) {
	if field, text := firstOutside(
		bound{"totalBytes", l.Bytes, 0, engine.MaxContentBytes},
		bound{"totalChars", l.Chars, 0, l.Bytes},
	); text != "" {
		return field, text
	}
	if l.SHA256 == nil && !l.Expired {
		return "sha256", "is missing, of a content that is there"
	}
	return "", ""
}

func (l *sourceLine) checkTimes() (field, text string) {
	if field, text := checkExact("accessTime", l.Accessed); text != "" {
		return field, text
	}
	if !l.Expires.IsZero() && (l.Expired || l.RunID == "") {
		return "expireTime", "belongs to contents that are there, and go with a run"
	}
	return checkExact("expireTime", l.Expires)
}

// checkExact refuses what a source record would round.
func checkExact(field string, at time.Time) (string, string) {
	if !at.Equal(at.Truncate(time.Millisecond)) {
		return field, "must be exact to the millisecond"
	}
	return "", ""
}

func (l *sourceLine) checkMetadata() (field, text string) {
	if l.Metadata == "" {
		return "", ""
	}
	return "metadataJson", rules.JSONObject(l.Metadata)
}

func (c *checks) checkCitedBy(messages []int32) (field, text string) {
	if len(messages) > maxCitedBy {
		return "citedBy", fmt.Sprintf("must name at most %d messages", maxCitedBy)
	}
	for i, index := range messages {
		if index < 0 || int(index) >= len(c.parts) {
			return fmt.Sprintf("citedBy[%d]", i), "names a message that there is not"
		}
	}
	return "", ""
}

func (c *checks) checkPlace(at *placeOfText) (field, text string) {
	switch {
	case at == nil:
		return "", ""
	case at.Message < 0 || int(at.Message) >= len(c.parts):
		return "citedAtAppend.messageIndex", "names a message that there is not"
	case at.Part < 0 || at.Part >= c.parts[at.Message]:
		return "citedAtAppend.part", "names a part that the message has not"
	default:
		return "", ""
	}
}

func (c *checks) admitChunk(l *chunkLine) (field, text string) {
	a := &c.awaited
	switch {
	case l.ContentID != a.id || a.next == a.size:
		return "", "comes out of order: it follows the source that it is of"
	case l.Offset != a.next:
		return "offsetBytes", fmt.Sprintf("must be %d", a.next)
	case int64(len(l.Data)) != min(engine.SourceChunkBytes, a.size-a.next):
		return "data", fmt.Sprintf("must be %d bytes", min(engine.SourceChunkBytes, a.size-a.next))
	}
	a.next += int64(len(l.Data))
	return "", ""
}

func (c *checks) checkRuns(runs []runLine) (field, text string) {
	known := make(map[string]bool, len(runs))
	for i := range runs {
		r := &runs[i]
		if field, text := r.check(known); text != "" {
			return fmt.Sprintf("runs[%d].%s", i, field), text
		}
		known[r.ID] = true
	}
	return "", ""
}

func (l *runLine) check(known map[string]bool) (field, text string) {
	switch {
	case l.ID == "" || len(l.ID) > maxNameBytes:
		return "runId", fmt.Sprintf("must be 1 to %d bytes", maxNameBytes)
	case known[l.ID]:
		return "runId", "is that of another run"
	case l.Gone && l.End.IsZero():
		return "endTime", "is missing, of a run that is over"
	}
	if field, text := checkExact("lastUseTime", l.Used); text != "" {
		return field, text
	}
	return checkExact("endTime", l.End)
}

// checkCitation checks what a part that an edit shows stands for.
func (l *shownLine) checkCitation() (field, text string) {
	x := l.Shown.Citation
	switch {
	case x == nil:
		return "", ""
	case l.Level != levelName(conversation.Cited):
		return "", "belongs to what is cited"
	case l.Shown.Text == nil && l.Shown.ToolResult == nil:
		return "", "belongs to texts and to tool results"
	}
	if field, text := firstTooLong(
		length{"contentId", x.ContentID, maxHandleBytes}, length{"sourceUrl", x.URL, maxURLBytes}, length{"sourceTitle", x.Title, maxNameBytes},
		length{"contentType", x.ContentType, maxNameBytes}, length{"location", x.Location, maxLocationBytes},
	); text != "" {
		return field, text
	}
	return firstOutside(
		bound{"totalBytes", x.Bytes, 0, engine.MaxContentBytes},
		bound{"totalChars", x.Chars, 0, x.Bytes},
		bound{"excerptEnd", int64(x.ExcerptEnd), 0, math.MaxInt32},
		bound{"excerptStart", int64(x.ExcerptFrom), 0, int64(x.ExcerptEnd)},
		bound{"howToRetrieveStart", int64(x.HowFrom), 0, math.MaxInt32},
	)
}

func (l *recalledLine) check() (field, text string) {
	switch {
	case l == nil:
		return "", ""
	case l.Memories && l.ContentID == "" && l.Index == nil:
		return "", ""
	case l.Memories || (l.ContentID == "") == (l.Index == nil):
		return "", "must hold exactly one of contentId, messageIndex and memories"
	case len(l.ContentID) > maxHandleBytes:
		return ".contentId", fmt.Sprintf("must be at most %d bytes", maxHandleBytes)
	case l.Index != nil && *l.Index < 0:
		return ".messageIndex", "must not be negative"
	default:
		return "", ""
	}
}

func (l *originLine) check() (field, text string) {
	if l == nil {
		return "", ""
	}
	return firstTooLong(length{"url", l.URL, maxURLBytes}, length{"title", l.Title, maxNameBytes})
}
