package transfer

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// maxImportedSources bounds the bytes of source records that an import keeps in memory: all of them are written in its last
// commit.
const maxImportedSources = 64 << 20

// importedSources is what an import knows about contents.
type importedSources struct {
	slots   *contents.SlotChanges
	bytes   int // size of slots
	count   int64
	runs    map[string]*contents.RunRecord
	named   map[int64]string // handles that edits name, by number, whose sources have not come yet
	current *SourceRecord    // the source whose chunks are coming
	intake  *contents.Upload // receives these chunks
	last    *SourceRecord    // the last source that is a message's own text
	message *conversation.Message
}

// takeRuns takes over the runs of a state, before which no message may come.
func (s *importedSources) takeRuns(runs []Run, messages int32) error {
	if s.runs != nil || messages > 0 || len(runs) >= store.MaxSlots {
		return invalid("the state does not come once, second, with at most %d runs", store.MaxSlots-1)
	}
	s.runs = make(map[string]*contents.RunRecord, len(runs))
	for _, r := range runs {
		rec := &contents.RunRecord{ID: r.ID, Used: r.Used.UnixMilli(), Gone: r.Gone}
		if !r.End.IsZero() {
			rec.End = r.End.UnixMilli()
		}
		if r.ID == "" || s.runs[r.ID] != nil || rec.Gone && rec.End == 0 || runOf(rec) != r {
			return invalid("the state has a run that is damaged, or there twice")
		}
		s.runs[r.ID] = rec
	}
	return nil
}

// numberOfWhole returns the number in a handle. It requires a handle that the sidecar could have made, because models are shown
// it.
func numberOfWhole(handle string) (int64, bool) {
	n, ok := contents.NumberOf(handle)
	if !ok {
		return 0, false
	}
	secret, err := contents.HandleLetters.DecodeString(strings.ToUpper(handle[len(handle)-8:]))
	return n, err == nil && handle == fmt.Sprintf("c%d-%s", n, strings.ToLower(contents.HandleLetters.EncodeToString(secret)))
}

// noteName records that an edit names a content, whose source must come later.
func (s *importedSources) noteName(handle string) bool {
	n, ok := numberOfWhole(handle)
	if known := s.named[n]; !ok || known != "" && known != handle {
		return false
	}
	if s.named == nil {
		s.named = make(map[int64]string)
	}
	s.named[n] = handle
	return true
}

// noteNames records the contents that an edit names. It is false if one of them cannot exist, or if a citation cannot be shown.
func (s *importedSources) noteNames(e *conversation.Edit) bool {
	if e.Content != "" && !s.noteName(e.Content) {
		return false
	}
	for i := range e.Parts {
		p := &e.Parts[i].Shown
		if p.Citation != nil && (e.Parts[i].Level != conversation.Cited || !s.noteName(p.Citation.ContentID) || !pointsIntoText(p)) {
			return false
		}
	}
	return true
}

// pointsIntoText reports whether the places that a citation names lie between characters of the text that is shown. Nothing is
// checked for a text that was erased.
func pointsIntoText(p *conversation.Part) bool {
	text, c := p.Text.Inline, p.Citation
	switch {
	case p.Kind == conversation.PartToolResult:
		text = p.Result.Words()
	case p.Kind != conversation.PartText:
		return false
	}
	if conversation.Erased([]conversation.Part{*p}) {
		return true
	}
	return c.ExcerptFrom <= c.ExcerptEnd && between(text, c.ExcerptFrom) && between(text, c.ExcerptEnd) && between(text, c.HowFrom)
}

func between(text string, at int32) bool {
	return at == int32(len(text)) || 0 <= at && int(at) < len(text) && utf8.RuneStart(text[at])
}

// source takes a source record, which must have the next number.
func (im *importer) source(ctx context.Context, s *SourceRecord) error {
	if im.sources.current != nil {
		return invalid("chunks of a content are missing")
	}
	n, ok := numberOfWhole(s.Source.ContentID)
	if named := im.sources.named[n]; !ok || n != im.sources.count+1 || named != "" && named != s.Source.ContentID {
		return invalid("source %d has no handle, or another one", im.sources.count+1)
	}
	delete(im.sources.named, n)
	im.sources.count = n
	for _, index := range s.Source.CitedBy {
		if index < 0 || index >= im.head.Messages || len(s.Source.CitedBy) > contents.MaxCitedBy {
			return invalid("source %d is cited by messages that are not there", n)
		}
	}
	switch {
	case s.Source.AtAppend:
		return im.ownText(ctx, s)
	case s.Source.Expired:
		return im.settle(s, &contents.Record{})
	}
	im.sources.current = s
	im.sources.intake = im.newIntake(&s.Source)
	if s.Source.Bytes == 0 {
		return im.completeContent(ctx)
	}
	return nil
}

func (im *importer) newIntake(s *contents.Source) *contents.Upload {
	t := im.service
	return &contents.Upload{
		Service: t.Contents, Incarnation: im.incarnation, Before: im.head.Bytes, ID: t.IDs(), Sum: sha256.New(), Outliner: content.NewOutliner(),
		Request: &contents.StoreContentRequest{
			Key: im.key, Type: s.Type, URL: s.URL, Title: s.Title, ContentType: s.ContentType, Metadata: s.Metadata, RunID: s.RunID,
			Next: func() ([]byte, error) { return nil, io.EOF }, // unused: the chunks are pushed
		},
	}
}

// chunk takes a chunk of the content whose source came last.
func (im *importer) chunk(ctx context.Context, c *SourceChunk) error {
	s, in := im.sources.current, im.sources.intake
	if s == nil || c.ContentID != s.Source.ContentID || c.Offset != in.Size || len(c.Data) == 0 || int64(len(c.Data)) > s.Source.Bytes-in.Size {
		return invalid("a chunk comes that does not follow what came before it")
	}
	if err := in.Add(ctx, c.Data); err != nil {
		return err
	}
	if in.Size == s.Source.Bytes {
		return im.completeContent(ctx)
	}
	return nil
}

// completeContent completes a content whose chunks have come.
func (im *importer) completeContent(ctx context.Context) error {
	s, in := im.sources.current, im.sources.intake
	im.sources.current, im.sources.intake = nil, nil
	if err := in.Receive(ctx); err != nil {
		return err
	}
	rec, c := in.Record(s.Source.ContentID, s.Source.Accessed), &store.Change{}
	shared, err := in.Place(c, im.sources.contentSlots(), rec)
	if err != nil {
		return err
	}
	if shared {
		in.Discard(ctx)
	}
	if !shared {
		txn.AddBytes(&im.head, in.Size)
	}
	im.uploads = append(im.uploads, c.Uploads...)
	if err := im.sources.weigh(contents.SharedSlot(in.Sha)); err != nil {
		return err
	}
	return im.settle(s, rec)
}

// ownText takes the source of a message's own text. These come in the order of the texts.
func (im *importer) ownText(ctx context.Context, s *SourceRecord) error {
	last := im.sources.last
	if last != nil && (s.Message < last.Message || s.Message == last.Message && s.Part <= last.Part) {
		return invalid("source %d is of a text before that of another", im.sources.count)
	}
	im.sources.last = s
	part, err := im.partOf(ctx, s)
	if err != nil {
		return err
	}
	rec := &contents.Record{AtAppend: true, Message: s.Message, Part: s.Part}
	if s.Source.Expired {
		return im.settle(s, rec)
	}
	text, err := im.textAt(ctx, part)
	if conversation.KindOf(err) == conversation.ContentExpired { // the text was erased, whatever the source says
		return im.settle(s, rec)
	}
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(text))
	rec.Kind, rec.Bytes, rec.Chars, rec.SHA256 = int8(content.KindOf("", text)), int64(len(text)), int64(utf8.RuneCountInString(text)), sum[:]
	if err := im.sources.shareOwn(sum, part); err != nil {
		return err
	}
	return im.settle(s, rec)
}

// shareOwn lets later contents share the bytes of a message's own text, as an append does.
func (s *importedSources) shareOwn(sum [32]byte, part []conversation.Part) error {
	if part[0].Kind == conversation.PartToolResult && part[0].Result.Output == conversation.OutputParts {
		return nil
	}
	ref := contents.WholeOf(&part[0]).Ref
	if ref == nil {
		return nil
	}
	if err := s.contentSlots().Share(sum, ref.ID); err != nil {
		return err
	}
	return s.weigh(contents.SharedSlot(sum))
}

// partOf returns the part that a source belongs to. The last message is kept, because many of its parts may have sources.
func (im *importer) partOf(ctx context.Context, s *SourceRecord) ([]conversation.Part, error) {
	if s.Message < 0 || s.Message >= im.head.Messages || s.Part < 0 {
		return nil, invalid("source %d is of a message that is not there", im.sources.count)
	}
	if im.sources.message == nil || im.sources.message.Index != s.Message {
		if err := im.flush(ctx); err != nil {
			return nil, err
		}
		at := conversation.Range{First: s.Message, End: s.Message + 1}
		snap, err := im.service.Store.Read(ctx, im.key, store.Query{Incarnation: im.incarnation, Ranges: []store.MessageRange{{Range: at}}})
		if err != nil {
			return nil, err
		}
		im.sources.message = &snap.Messages[0]
	}
	m := im.sources.message
	if int(s.Part) >= len(m.Parts) || m.RunID != s.Source.RunID {
		return nil, invalid("source %d is of a part that is not there", im.sources.count)
	}
	part := m.Parts[s.Part : s.Part+1]
	if k := part[0].Kind; k != conversation.PartText && k != conversation.PartToolResult {
		return nil, invalid("source %d is of a part that is no text", im.sources.count)
	}
	return part, nil
}

// textAt returns the text of a part, as its source describes it.
func (im *importer) textAt(ctx context.Context, part []conversation.Part) (string, error) {
	h := &contents.Reader{Service: im.service.Contents, Key: im.key, Incarnation: im.incarnation}
	if err := h.OfPart(ctx, part); err != nil || h.Ref == nil {
		return h.Inline, err
	}
	text, err := h.Read(ctx, 0, h.Ref.Bytes)
	return string(text), err
}

// settle records a source if it agrees with the record. rec holds what was derived from the record.
func (im *importer) settle(s *SourceRecord, rec *contents.Record) error {
	from := &s.Source
	rec.Handle, rec.Type, rec.URL, rec.Title = from.ContentID, from.Type, from.URL, from.Title
	rec.ContentType, rec.Metadata = from.ContentType, from.Metadata
	rec.Accessed, rec.CitedBy, rec.Run, rec.Expired = from.Accessed.UnixMilli(), slices.Clone(from.CitedBy), from.RunID, from.Expired
	if rec.SHA256 == nil { // the text is gone, so nothing can disagree
		rec.Bytes, rec.Chars = from.Bytes, from.Chars
		if from.SHA256 != nil {
			rec.SHA256 = from.SHA256[:]
		}
	}
	txn.AddBytes(&im.head, int64(len(from.Metadata)))
	due, err := im.sources.joinRun(from, rec)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(rec.Source(due), *from) {
		return invalid("source %d does not say what its content is", im.sources.count)
	}
	return im.sources.keep(contents.SourceSlot(im.sources.count), rec.Encode())
}

// joinRun adds a content to its run, if it goes with one, and returns when that is due.
func (s *importedSources) joinRun(from *contents.Source, rec *contents.Record) (time.Time, error) {
	rec.OfRun = !from.Expires.IsZero()
	if !rec.OfRun {
		return time.Time{}, nil
	}
	run := s.runs[from.RunID]
	if run == nil || run.Gone {
		return time.Time{}, invalid("source %d goes with a run that there is not", s.count)
	}
	run.Add(s.count)
	return run.Due(), nil
}

// contentSlots returns the content slots that the commit will write.
func (s *importedSources) contentSlots() *contents.SlotChanges {
	if s.slots == nil {
		s.slots = contents.NewSlotChanges(nil)
	}
	return s.slots
}

// keep keeps a slot for the commit.
func (s *importedSources) keep(name string, value []byte) error {
	if err := s.contentSlots().Set(name, value); err != nil {
		return err
	}
	return s.weigh(name)
}

// weigh counts the bytes of a slot that is kept.
func (s *importedSources) weigh(name string) error {
	if s.bytes += len(name) + len(s.slots.Changed[name]); s.bytes > maxImportedSources {
		return invalid("the export has more sources than an import takes")
	}
	return nil
}

// complete requires that every content that was named has come, and keeps the runs.
func (s *importedSources) complete() error {
	if s.current != nil {
		return invalid("the export is not whole: chunks of source %d are missing", s.count)
	}
	if len(s.named) > 0 {
		return invalid("the export is not whole: source %d is missing", slices.Min(slices.Collect(maps.Keys(s.named))))
	}
	for id, r := range s.runs {
		if err := s.keep(contents.RunSlot(id), r.Encode()); err != nil {
			return err
		}
	}
	if s.count > 0 {
		s.slots.Changed[contents.LastSourceSlot] = strconv.AppendInt(nil, s.count, 10)
	}
	return nil
}

// apply adds the content slots to the commit.
func (s *importedSources) apply(c *store.Change) {
	if s.slots != nil {
		s.slots.Apply(c)
	}
	for _, r := range s.runs {
		c.Head.NextDue = txn.Earliest(c.Head.NextDue, r.NextAction())
	}
}
