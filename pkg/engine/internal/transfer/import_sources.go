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

// maxImportedSources bounds what is kept of an import's source records until its commit, in bytes: they come into being at once.
const maxImportedSources = 64 << 20

// importedSources is what an import knows of contents.
type importedSources struct {
	slots   *contents.SlotChanges
	bytes   int // of slots
	count   int64
	runs    map[string]*contents.RunRecord
	named   map[int64]string // handles that edits named, by number, until their sources come
	current *SourceRecord    // whose chunks come
	intake  *contents.Upload // of them
	last    *SourceRecord    // of those that are a message's own
	message *conversation.Message
}

// takeRuns takes the runs of a state.
func (im *importer) takeRuns(runs []Run) error {
	if im.sources.runs != nil || im.head.Messages > 0 || len(runs) >= store.MaxSlots {
		return invalid("the state does not come once, second, with at most %d runs", store.MaxSlots-1)
	}
	im.sources.runs = make(map[string]*contents.RunRecord, len(runs))
	for _, r := range runs {
		rec := &contents.RunRecord{ID: r.ID, Used: r.Used.UnixMilli(), Gone: r.Gone}
		if !r.End.IsZero() {
			rec.End = r.End.UnixMilli()
		}
		if r.ID == "" || im.sources.runs[r.ID] != nil || rec.Gone && rec.End == 0 || runOf(rec) != r {
			return invalid("the state has a run that is damaged, or there twice")
		}
		im.sources.runs[r.ID] = rec
	}
	return nil
}

// numberOfWhole reads the number out of a handle, and demands that the sidecar could have made it: models are shown it.
func numberOfWhole(handle string) (int64, bool) {
	n, ok := contents.NumberOf(handle)
	if !ok {
		return 0, false
	}
	secret, err := contents.HandleLetters.DecodeString(strings.ToUpper(handle[len(handle)-8:]))
	return n, err == nil && handle == fmt.Sprintf("c%d-%s", n, strings.ToLower(contents.HandleLetters.EncodeToString(secret)))
}

// name notes that an edit names a content, whose source is to come.
func (im *importer) name(handle string) bool {
	n, ok := numberOfWhole(handle)
	if known := im.sources.named[n]; !ok || known != "" && known != handle {
		return false
	}
	if im.sources.named == nil {
		im.sources.named = make(map[int64]string)
	}
	im.sources.named[n] = handle
	return true
}

// names notes the contents that an edit names. It is false if one of them cannot be, or a citation cannot be shown.
func (im *importer) names(e *conversation.Edit) bool {
	if e.Content != "" && !im.name(e.Content) {
		return false
	}
	for i := range e.Parts {
		p := &e.Parts[i].Shown
		if p.Citation != nil && (e.Parts[i].Level != conversation.Cited || !im.name(p.Citation.ContentID) || !pointsWell(p)) {
			return false
		}
	}
	return true
}

// pointsWell says whether the places that a citation names lie in the text that is shown, between characters. Of a text that was
// erased nothing is left to be named.
func pointsWell(p *conversation.Part) bool {
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

// source takes a source record. Its number is the next one.
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
		return im.whole(ctx)
	}
	return nil
}

func (im *importer) newIntake(s *contents.Source) *contents.Upload {
	t := im.service
	return &contents.Upload{
		Service: t.Contents, Incarnation: im.incarnation, Before: im.head.Bytes, ID: t.IDs(), Sum: sha256.New(), Outliner: content.NewOutliner(),
		Request: &contents.StoreContentRequest{
			Key: im.key, Type: s.Type, URL: s.URL, Title: s.Title, ContentType: s.ContentType, Metadata: s.Metadata, RunID: s.RunID,
			Next: func() ([]byte, error) { return nil, io.EOF }, // the chunks are pushed
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
		return im.whole(ctx)
	}
	return nil
}

// whole ends a content whose chunks have come.
func (im *importer) whole(ctx context.Context) error {
	s, in := im.sources.current, im.sources.intake
	im.sources.current, im.sources.intake = nil, nil
	if err := in.Receive(ctx); err != nil {
		return err
	}
	rec, c := in.Record(s.Source.ContentID, s.Source.Accessed), &store.Change{}
	shared, err := in.Place(c, im.contentSlots(), rec)
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
	if err := im.weigh(contents.SharedSlot(in.Sha)); err != nil {
		return err
	}
	return im.settle(s, rec)
}

// ownText takes the source of what is a message's own text. Those come in the order of the texts.
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
	if conversation.KindOf(err) == conversation.ContentExpired { // it was erased, whatever the source says
		return im.settle(s, rec)
	}
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(text))
	rec.Kind, rec.Bytes, rec.Chars, rec.SHA256 = int8(content.KindOf("", text)), int64(len(text)), int64(utf8.RuneCountInString(text)), sum[:]
	if err := im.shareOwn(sum, part); err != nil {
		return err
	}
	return im.settle(s, rec)
}

// shareOwn lets contents that are stored later have the bytes of a message's own text, as an append does.
func (im *importer) shareOwn(sum [32]byte, part []conversation.Part) error {
	if part[0].Kind == conversation.PartToolResult && part[0].Result.Output == conversation.OutputParts {
		return nil
	}
	ref := contents.WholeOf(&part[0]).Ref
	if ref == nil {
		return nil
	}
	if err := im.contentSlots().Share(sum, ref.ID); err != nil {
		return err
	}
	return im.weigh(contents.SharedSlot(sum))
}

// partOf is the part that a source is of. The last message is kept: many of its parts may be sources.
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

// textAt is the text of a part, as a source has it.
func (im *importer) textAt(ctx context.Context, part []conversation.Part) (string, error) {
	h := &contents.Reader{Service: im.service.Contents, Key: im.key, Incarnation: im.incarnation}
	if err := h.OfPart(ctx, part); err != nil || h.Ref == nil {
		return h.Inline, err
	}
	text, err := h.Read(ctx, 0, h.Ref.Bytes)
	return string(text), err
}

// settle puts a source on record if it says what the record says: what is derived of it, rec has already.
func (im *importer) settle(s *SourceRecord, rec *contents.Record) error {
	from := &s.Source
	rec.Handle, rec.Type, rec.URL, rec.Title = from.ContentID, from.Type, from.URL, from.Title
	rec.ContentType, rec.Metadata = from.ContentType, from.Metadata
	rec.Accessed, rec.CitedBy, rec.Run, rec.Expired = from.Accessed.UnixMilli(), slices.Clone(from.CitedBy), from.RunID, from.Expired
	if rec.SHA256 == nil { // nothing is there that could say otherwise
		rec.Bytes, rec.Chars = from.Bytes, from.Chars
		if from.SHA256 != nil {
			rec.SHA256 = from.SHA256[:]
		}
	}
	txn.AddBytes(&im.head, int64(len(from.Metadata)))
	due, err := im.joinRun(from, rec)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(rec.Source(due), *from) {
		return invalid("source %d does not say what its content is", im.sources.count)
	}
	return im.keep(contents.SourceSlot(im.sources.count), rec.Encode())
}

// joinRun makes a content that goes with a run part of it, and says when that is.
func (im *importer) joinRun(from *contents.Source, rec *contents.Record) (time.Time, error) {
	rec.OfRun = !from.Expires.IsZero()
	if !rec.OfRun {
		return time.Time{}, nil
	}
	run := im.sources.runs[from.RunID]
	if run == nil || run.Gone {
		return time.Time{}, invalid("source %d goes with a run that there is not", im.sources.count)
	}
	run.Add(im.sources.count)
	return run.Due(), nil
}

// contentSlots are those about contents that the commit will write.
func (im *importer) contentSlots() *contents.SlotChanges {
	if im.sources.slots == nil {
		im.sources.slots = contents.NewSlotChanges(nil)
	}
	return im.sources.slots
}

// keep keeps a slot for the commit.
func (im *importer) keep(name string, value []byte) error {
	if err := im.contentSlots().Set(name, value); err != nil {
		return err
	}
	return im.weigh(name)
}

// weigh counts a slot that is kept.
func (im *importer) weigh(name string) error {
	if im.sources.bytes += len(name) + len(im.sources.slots.Changed[name]); im.sources.bytes > maxImportedSources {
		return invalid("the export has more sources than an import takes")
	}
	return nil
}

// completeSources demands that all that was named has come, and keeps the runs.
func (im *importer) completeSources() error {
	if im.sources.current != nil {
		return invalid("the export is not whole: chunks of source %d are missing", im.sources.count)
	}
	if len(im.sources.named) > 0 {
		return invalid("the export is not whole: source %d is missing", slices.Min(slices.Collect(maps.Keys(im.sources.named))))
	}
	for id, r := range im.sources.runs {
		if err := im.keep(contents.RunSlot(id), r.Encode()); err != nil {
			return err
		}
	}
	if im.sources.count > 0 {
		im.sources.slots.Changed[contents.LastSourceSlot] = strconv.AppendInt(nil, im.sources.count, 10)
	}
	return nil
}

// applySources adds what is known of contents to the commit.
func (im *importer) applySources(c *store.Change) {
	if im.sources.slots != nil {
		im.sources.slots.Apply(c)
	}
	for _, r := range im.sources.runs {
		c.Head.NextDue = txn.Earliest(c.Head.NextDue, r.NextAction())
	}
}
