package exportformat

import (
	"cmp"
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

func (c *checks) admitSource(s *sourceLine) *FaultError {
	if c.awaited.next < c.awaited.size {
		return fault("", "comes too early: chunks of the content before it are missing")
	}
	if f := cmp.Or(firstTooLong(s.texts()...), s.checkFigures(), s.checkTimes(), s.checkMetadata(), c.checkCitedBy(s.CitedBy), c.checkPlace(s.At)); f != nil {
		return f
	}
	c.sources++
	c.awaited = awaited{id: s.ContentID}
	if s.hasChunks() {
		c.awaited.size = s.Bytes
	}
	return nil
}

// hasChunks says whether chunks follow.
func (l *sourceLine) hasChunks() bool { return l.At == nil && !l.Expired && l.Bytes > 0 }

// length is a text and how long it may be.
type length struct {
	field, text string
	most        int
}

func firstTooLong(lengths ...length) *FaultError {
	for _, l := range lengths {
		if len(l.text) > l.most {
			return fault(l.field, "must be at most %d bytes", l.most)
		}
	}
	return nil
}

func (l *sourceLine) texts() []length {
	return []length{
		{"contentId", l.ContentID, maxHandleBytes}, {"sourceUrl", l.URL, maxURLBytes}, {"sourceTitle", l.Title, maxNameBytes}, {"contentType", l.ContentType, maxNameBytes},
		{"runId", l.RunID, maxNameBytes}, {"metadataJson", l.Metadata, maxMetadataBytes},
	}
}

func (l *sourceLine) checkFigures() *FaultError {
	outside := firstOutside(
		bound{"totalBytes", l.Bytes, 0, engine.MaxContentBytes},
		bound{"totalChars", l.Chars, 0, l.Bytes},
	)
	if outside == nil && l.SHA256 == nil && !l.Expired {
		return fault("sha256", "is missing, of a content that is there")
	}
	return outside
}

func (l *sourceLine) checkTimes() *FaultError {
	if f := checkExact("accessTime", l.Accessed); f != nil {
		return f
	}
	if !l.Expires.IsZero() && (l.Expired || l.RunID == "") {
		return fault("expireTime", "belongs to contents that are there, and go with a run")
	}
	return checkExact("expireTime", l.Expires)
}

// checkExact refuses what a source record would round.
func checkExact(field string, at time.Time) *FaultError {
	if !at.Equal(at.Truncate(time.Millisecond)) {
		return fault(field, "must be exact to the millisecond")
	}
	return nil
}

func (l *sourceLine) checkMetadata() *FaultError {
	if l.Metadata == "" {
		return nil
	}
	if wrong := rules.JSONObject(l.Metadata); wrong != "" {
		return fault("metadataJson", "%s", wrong)
	}
	return nil
}

func (c *checks) checkCitedBy(messages []int32) *FaultError {
	if len(messages) > maxCitedBy {
		return fault("citedBy", "must name at most %d messages", maxCitedBy)
	}
	for i, index := range messages {
		if index < 0 || int(index) >= len(c.parts) {
			return fault(element("citedBy", i), "names a message that there is not")
		}
	}
	return nil
}

func (c *checks) checkPlace(at *placeOfText) *FaultError {
	switch {
	case at == nil:
		return nil
	case at.Message < 0 || int(at.Message) >= len(c.parts):
		return fault("citedAtAppend.messageIndex", "names a message that there is not")
	case at.Part < 0 || at.Part >= c.parts[at.Message]:
		return fault("citedAtAppend.part", "names a part that the message has not")
	default:
		return nil
	}
}

func (c *checks) admitChunk(l *chunkLine) *FaultError {
	a := &c.awaited
	switch {
	case l.ContentID != a.id || a.next == a.size:
		return fault("", "comes out of order: it follows the source that it is of")
	case l.Offset != a.next:
		return fault("offsetBytes", "must be %d", a.next)
	case int64(len(l.Data)) != min(engine.SourceChunkBytes, a.size-a.next):
		return fault("data", "must be %d bytes", min(engine.SourceChunkBytes, a.size-a.next))
	}
	a.next += int64(len(l.Data))
	return nil
}

func (c *checks) checkRuns(runs []runLine) *FaultError {
	known := make(map[string]bool, len(runs))
	for i := range runs {
		r := &runs[i]
		if f := r.check(known); f != nil {
			return f.in(element("runs", i))
		}
		known[r.ID] = true
	}
	return nil
}

func (l *runLine) check(known map[string]bool) *FaultError {
	switch {
	case l.ID == "" || len(l.ID) > maxNameBytes:
		return fault("runId", "must be 1 to %d bytes", maxNameBytes)
	case known[l.ID]:
		return fault("runId", "is that of another run")
	case l.Gone && l.End.IsZero():
		return fault("endTime", "is missing, of a run that is over")
	}
	return cmp.Or(checkExact("lastUseTime", l.Used), checkExact("endTime", l.End))
}

// checkCitation checks what a part that an edit shows stands for.
func (l *shownLine) checkCitation() *FaultError {
	x := l.Shown.Citation
	switch {
	case x == nil:
		return nil
	case l.Level != levelName(conversation.Cited):
		return fault("", "belongs to what is cited")
	case l.Shown.Text == nil && l.Shown.ToolResult == nil:
		return fault("", "belongs to texts and to tool results")
	}
	return cmp.Or(firstTooLong(
		length{"contentId", x.ContentID, maxHandleBytes}, length{"sourceUrl", x.URL, maxURLBytes}, length{"sourceTitle", x.Title, maxNameBytes},
		length{"contentType", x.ContentType, maxNameBytes}, length{"location", x.Location, maxLocationBytes},
	), firstOutside(
		bound{"totalBytes", x.Bytes, 0, engine.MaxContentBytes},
		bound{"totalChars", x.Chars, 0, x.Bytes},
		bound{"excerptEnd", int64(x.ExcerptEnd), 0, math.MaxInt32},
		bound{"excerptStart", int64(x.ExcerptFrom), 0, int64(x.ExcerptEnd)},
		bound{"howToRetrieveStart", int64(x.HowFrom), 0, math.MaxInt32},
	))
}

func (l *recalledLine) check() *FaultError {
	switch {
	case l == nil, l.Memories && l.ContentID == "" && l.Index == nil:
		return nil
	case l.Memories || (l.ContentID == "") == (l.Index == nil):
		return fault("", "must hold exactly one of contentId, messageIndex and memories")
	case len(l.ContentID) > maxHandleBytes:
		return fault("contentId", "must be at most %d bytes", maxHandleBytes)
	case l.Index != nil && *l.Index < 0:
		return fault("messageIndex", "must not be negative")
	default:
		return nil
	}
}

func (l *originLine) check() *FaultError {
	if l == nil {
		return nil
	}
	return firstTooLong(length{"url", l.URL, maxURLBytes}, length{"title", l.Title, maxNameBytes})
}
