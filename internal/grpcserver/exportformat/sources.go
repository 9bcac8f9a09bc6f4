package exportformat

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// sourceLine says where a content came from. Chunk lines follow it if the content can be had and is no message's own.
type sourceLine struct {
	ContentID   string         `json:"contentId"`
	Type        sourceTypeName `json:"sourceType,omitzero"`
	URL         string         `json:"sourceUrl,omitempty"`
	Title       string         `json:"sourceTitle,omitempty"`
	ContentType string         `json:"contentType,omitempty"`
	Bytes       int64          `json:"totalBytes"`
	Chars       int64          `json:"totalChars"`
	SHA256      *digest        `json:"sha256,omitempty"`
	Accessed    time.Time      `json:"accessTime,omitzero"`
	CitedBy     []int32        `json:"citedBy,omitempty"`
	Expired     bool           `json:"expired,omitempty"`
	RunID       string         `json:"runId,omitempty"`
	Metadata    string         `json:"metadataJson,omitempty"`
	Expires     time.Time      `json:"expireTime,omitzero"`
	At          *placeOfText   `json:"citedAtAppend,omitempty"`
}

// placeOfText is where the record has a content that is a message's own.
type placeOfText struct {
	Message int32 `json:"messageIndex"`
	Part    int32 `json:"part"`
}

type chunkLine struct {
	ContentID string `json:"contentId"`
	Offset    int64  `json:"offsetBytes"`
	Data      []byte `json:"data"`
}

type runLine struct {
	ID   string    `json:"runId"`
	Used time.Time `json:"lastUseTime,omitzero"`
	End  time.Time `json:"endTime,omitzero"`
	Gone bool      `json:"gone,omitempty"`
}

// citationLine says what the part that an edit shows stands for.
type citationLine struct {
	ContentID   string         `json:"contentId"`
	Type        sourceTypeName `json:"sourceType,omitzero"`
	URL         string         `json:"sourceUrl,omitempty"`
	Title       string         `json:"sourceTitle,omitempty"`
	ContentType string         `json:"contentType,omitempty"`
	Bytes       int64          `json:"totalBytes"`
	Chars       int64          `json:"totalChars"`
	Location    string         `json:"location,omitempty"`
	ExcerptFrom int32          `json:"excerptStart"`
	ExcerptEnd  int32          `json:"excerptEnd"`
	HowFrom     int32          `json:"howToRetrieveStart"`
}

// originLine is what a caller says that a result came from.
type originLine struct {
	Type  sourceTypeName `json:"type,omitzero"`
	URL   string         `json:"url,omitempty"`
	Title string         `json:"title,omitempty"`
}

// recalledLine holds exactly one of its fields.
type recalledLine struct {
	ContentID string `json:"contentId,omitempty"`
	Index     *int32 `json:"messageIndex,omitempty"`
	Memories  bool   `json:"memories,omitempty"`
}

type citationsLine struct {
	On              *bool     `json:"enabled,omitempty"`
	ThresholdChars  *int32    `json:"thresholdChars,omitempty"`
	ReleaseOnEndRun *bool     `json:"releaseOnEndRun,omitempty"`
	RecallTools     *[]string `json:"recallTools,omitempty"`

	Unknown string `json:"-"`
}

func fromSource(r *engine.SourceRecord) *sourceLine {
	s := &r.Source
	out := &sourceLine{
		ContentID: s.ContentID, Type: sourceTypeName(s.Type), URL: s.URL, Title: s.Title, ContentType: s.ContentType, Bytes: s.Bytes, Chars: s.Chars,
		SHA256: (*digest)(s.SHA256), Accessed: s.Accessed.UTC(), CitedBy: s.CitedBy, Expired: s.Expired, RunID: s.RunID,
		Metadata: s.Metadata, Expires: s.Expires.UTC(),
	}
	if s.AtAppend {
		out.At = &placeOfText{Message: r.Message, Part: r.Part}
	}
	return out
}

func (l *sourceLine) record() *engine.SourceRecord {
	out := &engine.SourceRecord{Source: engine.Source{
		ContentID: l.ContentID, Type: conversation.SourceType(l.Type), URL: l.URL, Title: l.Title, ContentType: l.ContentType, Bytes: l.Bytes, Chars: l.Chars,
		SHA256: (*[32]byte)(l.SHA256), Accessed: l.Accessed.UTC(), CitedBy: l.CitedBy, Expired: l.Expired, RunID: l.RunID,
		Metadata: l.Metadata, Expires: l.Expires.UTC(), AtAppend: l.At != nil,
	}}
	if l.At != nil {
		out.Message, out.Part = l.At.Message, l.At.Part
	}
	return out
}

// hasChunks says whether chunks follow.
func (l *sourceLine) hasChunks() bool { return l.At == nil && !l.Expired && l.Bytes > 0 }

func fromRun(r *engine.Run) runLine {
	return runLine{ID: r.ID, Used: r.Used.UTC(), End: r.End.UTC(), Gone: r.Gone}
}

func (l *runLine) record() engine.Run {
	return engine.Run{ID: l.ID, Used: l.Used.UTC(), End: l.End.UTC(), Gone: l.Gone}
}

func fromCitation(c *conversation.Citation) *citationLine {
	if c == nil {
		return nil
	}
	return &citationLine{
		ContentID: c.ContentID, Type: sourceTypeName(c.SourceType), URL: c.SourceURL, Title: c.SourceTitle, ContentType: c.ContentType,
		Bytes: c.TotalBytes, Chars: c.TotalChars, Location: c.Location,
		ExcerptFrom: c.ExcerptFrom, ExcerptEnd: c.ExcerptEnd, HowFrom: c.HowFrom,
	}
}

func (l *citationLine) record() *conversation.Citation {
	if l == nil {
		return nil
	}
	return &conversation.Citation{
		ContentID: l.ContentID, SourceType: conversation.SourceType(l.Type), SourceURL: l.URL, SourceTitle: l.Title, ContentType: l.ContentType,
		TotalBytes: l.Bytes, TotalChars: l.Chars, Location: l.Location,
		ExcerptFrom: l.ExcerptFrom, ExcerptEnd: l.ExcerptEnd, HowFrom: l.HowFrom,
	}
}

func fromRecalled(r *conversation.Recalled) *recalledLine {
	switch {
	case r == nil:
		return nil
	case r.Memories:
		return &recalledLine{Memories: true}
	case r.ContentID != "":
		return &recalledLine{ContentID: r.ContentID}
	default:
		return &recalledLine{Index: &r.Index}
	}
}

func (l *recalledLine) record() *conversation.Recalled {
	switch {
	case l == nil:
		return nil
	case l.Index != nil:
		return &conversation.Recalled{Index: *l.Index}
	default:
		return &conversation.Recalled{ContentID: l.ContentID, Memories: l.Memories}
	}
}

func fromOrigin(s *conversation.ResultSource) *originLine {
	if s == nil {
		return nil
	}
	return &originLine{Type: sourceTypeName(s.Type), URL: s.URL, Title: s.Title}
}

func (l *originLine) record() *conversation.ResultSource {
	if l == nil {
		return nil
	}
	return &conversation.ResultSource{Type: conversation.SourceType(l.Type), URL: l.URL, Title: l.Title}
}

func (l *originLine) check() (field, text string) {
	if l == nil {
		return "", ""
	}
	return firstTooLong(length{"url", l.URL, maxURLBytes}, length{"title", l.Title, maxNameBytes})
}
