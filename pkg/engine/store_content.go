package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// StoreContent keeps what the caller holds itself, and answers with what stands for it (behaviour §9). A conversation that does not
// exist is created with it.
func (e *Engine) StoreContent(ctx context.Context, r StoreContentRequest) (*StoreContentResult, error) {
	in := &intake{engine: e, request: &r, fresh: e.ids(), id: e.ids(), sum: sha256.New(), outliner: content.NewOutliner()}
	if err := in.open(ctx); err != nil {
		return nil, err
	}
	var out *StoreContentResult
	err := in.take(ctx)
	if err == nil {
		err = e.txn.Do(ctx, r.Key, func() (err error) {
			out, err = in.commit(ctx)
			return err
		})
	}
	if in.unused || err != nil {
		in.discard(ctx)
	}
	return out, err
}

// openRun says whether a run still takes something.
func openRun(value []byte, now time.Time) error {
	run, err := parseRun(value)
	if err != nil || run == nil || !run.ended(now) {
		return err
	}
	return conversation.Errorf(conversation.RunEnded, "the run has ended: store for another run, or for the conversation")
}

// headBytes is how much of a content is looked at to cite it.
const headBytes = 4 << 20

// intake takes in one content: its bytes are staged as they come.
type intake struct {
	engine      *Engine
	request     *StoreContentRequest
	fresh       conversation.ID // of the conversation, should the content create it
	incarnation conversation.ID // under which the chunks are staged
	id          conversation.ID // of the chunks

	pending  []byte // of the chunk that is not full yet
	chunks   int32
	size     int64
	head     bytes.Buffer
	sum      hash.Hash
	sha      [32]byte
	outliner *content.Outliner
	outline  *content.Outline
	unused   bool // the conversation had the bytes already, or the call was a retry
}

// read reads the conversation that the content is for, or makes up the head of the one that it will create.
func (in *intake) read(ctx context.Context, q store.Query) (*store.Snapshot, error) {
	q.Request = in.request.Request.Key()
	snap, err := in.engine.store.Read(ctx, in.request.Key, q)
	if errors.Is(err, store.ErrNotFound) {
		return &store.Snapshot{Head: txn.NewHead(in.fresh, in.engine.txn.Now()), Info: &Info{Counter: DefaultCounter}}, nil
	}
	if err != nil {
		return nil, txn.Failure(err)
	}
	return snap, in.engine.txn.Live(&snap.Head)
}

// open refuses before any byte comes what would be refused in the end.
func (in *intake) open(ctx context.Context) error {
	run := runSlot(in.request.RunID)
	snap, err := in.read(ctx, store.Query{Slots: []string{run}})
	if err != nil {
		return err
	}
	in.incarnation = snap.Head.Incarnation
	if snap.Outcome != nil { // who only tries again is answered, whatever became of the run since
		return nil
	}
	return openRun(snap.Slots[run], in.engine.txn.Now())
}

// discard lets go what was staged. What fails here is swept in an hour.
func (in *intake) discard(ctx context.Context) {
	if in.chunks == 0 {
		return
	}
	d := store.Deletion{Incarnation: in.incarnation, Upload: in.id}
	if in.incarnation == in.fresh { // there is nothing else under it
		d.Upload = conversation.ID{}
	}
	_ = in.engine.remove(context.WithoutCancel(ctx), in.request.Key, d)
}

// moveTo stages the bytes anew for a conversation that was made while they came. What is longer than its head, which is at hand, has to
// be sent again.
func (in *intake) moveTo(ctx context.Context, incarnation conversation.ID) error {
	if in.size > int64(in.head.Len()) {
		return madeMeanwhile()
	}
	in.discard(ctx)
	in.incarnation, in.id, in.chunks = incarnation, in.engine.ids(), 0
	for chunk := range slices.Chunk(in.head.Bytes(), store.ChunkBytes) {
		if err := in.stage(ctx, chunk); err != nil {
			return err
		}
	}
	return nil
}

func madeMeanwhile() error {
	return conversation.Errorf(conversation.Contention, "the conversation was made, or made anew, while the content came in: send it again")
}

func (in *intake) take(ctx context.Context) error {
	for {
		piece, err := in.request.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return txn.Failure(err)
		}
		if err := in.add(ctx, piece); err != nil {
			return err
		}
	}
	if len(in.pending) > 0 {
		if err := in.stage(ctx, in.pending); err != nil {
			return err
		}
	}
	in.sha, in.outline = [32]byte(in.sum.Sum(nil)), in.outliner.Outline()
	if want := in.request.SHA256; want != nil && *want != in.sha {
		return conversation.Errorf(conversation.ChecksumMismatch, "the bytes do not have the SHA-256 that the header gives")
	}
	// A retry is one of the same header and the same bytes.
	in.request.Request.Digest = sha256.Sum256(append(in.request.Request.Digest[:], in.sha[:]...))
	return nil
}

func (in *intake) add(ctx context.Context, piece []byte) error {
	in.size += int64(len(piece))
	if in.size > MaxContentBytes {
		return conversation.Errorf(conversation.LimitExceeded, "a content has at most %d bytes", MaxContentBytes)
	}
	in.sum.Write(piece)
	in.outliner.Feed(piece)
	in.head.Write(piece[:min(len(piece), max(0, headBytes-in.head.Len()))])
	for len(in.pending)+len(piece) >= store.ChunkBytes {
		n := store.ChunkBytes - len(in.pending)
		if err := in.stage(ctx, append(in.pending, piece[:n]...)); err != nil {
			return err
		}
		in.pending, piece = in.pending[:0], piece[n:]
	}
	in.pending = append(in.pending, piece...)
	return nil
}

func (in *intake) stage(ctx context.Context, chunk []byte) error {
	u := &store.Upload{Incarnation: in.incarnation, Time: in.engine.txn.Now(), ID: in.id, Chunk: in.chunks, Data: chunk}
	in.chunks++
	err := in.engine.store.Stage(ctx, in.request.Key, u)
	if errors.Is(err, store.ErrNotFound) { // the conversation was deleted
		return madeMeanwhile()
	}
	return txn.Failure(err)
}

// commit puts the content on record, as one attempt.
func (in *intake) commit(ctx context.Context) (*StoreContentResult, error) {
	e, r := in.engine, in.request
	snap, err := in.read(ctx, store.Query{Info: true, Slots: []string{lastSourceSlot, runSlot(r.RunID), sharedSlot(in.sha)}})
	if err != nil {
		return nil, err
	}
	first, err := e.txn.Recall(snap, r.Request)
	if err != nil {
		return nil, err
	}
	if first != nil {
		in.unused = true
		return in.repeat(ctx, snap, first)
	}
	if snap.Head.Incarnation != in.incarnation {
		if err := in.moveTo(ctx, snap.Head.Incarnation); err != nil {
			return nil, err
		}
	}
	return in.commitNew(ctx, snap)
}

func (in *intake) commitNew(ctx context.Context, snap *store.Snapshot) (*StoreContentResult, error) {
	e, now := in.engine, in.engine.txn.Now()
	c := &store.Change{Expect: snap.Head.Version, Head: txn.NextHead(snap.Head, now)}
	c.Head.Revision++
	if snap.Head.Version == 0 {
		c.Info = snap.Info
	}
	slots := newSlotChanges(snap.Slots)
	number, err := lastSource(snap.Slots)
	if err != nil {
		return nil, err
	}
	number++
	rec := in.record(newHandle(number, e.ids()), now)
	shared, err := in.settle(c, slots, rec)
	if err != nil {
		return nil, err
	}
	if err := in.join(c, slots, number, now); err != nil {
		return nil, err
	}
	slots.changed[lastSourceSlot] = strconv.AppendInt(nil, number, 10)
	if err := slots.set(sourceSlot(number), rec.encode()); err != nil {
		return nil, err
	}
	slots.apply(c)
	in.log(c, rec, now)
	e.renewTTL(&c.Head, snap.Info, now)
	txn.Remember(c, in.request.Request, store.Outcome{Manifest: number, Revision: c.Head.Revision})
	out, err := in.answer(snap.Info, rec)
	if err != nil {
		return nil, err
	}
	if err := e.store.Commit(ctx, in.request.Key, c); err != nil {
		return nil, err
	}
	in.unused = shared
	out.Events, out.Revision, out.Shared = events(c.Edits), c.Head.Revision, shared
	return out, nil
}

// record is the source record of the content.
func (in *intake) record(handle string, now time.Time) *sourceRecord {
	r := in.request
	rec := &sourceRecord{
		Handle: handle, Type: r.Type, URL: r.URL, Title: r.Title, ContentType: r.ContentType, Bytes: in.size, SHA256: in.sha[:], Accessed: now.UnixMilli(),
		Run: r.RunID, OfRun: r.RunID != "", Metadata: r.Metadata,
	}
	if rec.Type == conversation.SourceTypeUnspecified {
		rec.Type = conversation.SourceTypeTool
	}
	if !in.outline.Text() {
		if rec.ContentType == "" {
			rec.ContentType = "application/octet-stream"
		}
		return rec
	}
	kind := content.KindOf(r.ContentType, in.headText())
	rec.Chars, rec.Kind = in.outline.Chars(), int8(kind)
	if rec.ContentType == "" {
		rec.ContentType = kind.MediaType()
	}
	return rec
}

// headText is the beginning of the content, in whole characters.
func (in *intake) headText() string {
	head := in.head.Bytes()
	if in.size > int64(len(head)) {
		head = head[:wholeRunes(head)]
	}
	return string(head)
}

// settle lets the content have its chunks: those that came, or those that the conversation had already.
func (in *intake) settle(c *store.Change, slots *slotChanges, rec *sourceRecord) (shared bool, err error) {
	if in.chunks == 0 {
		return false, nil
	}
	known, err := parseShared(slots.get(sharedSlot(in.sha)))
	if err != nil {
		return false, err
	}
	id := in.id
	if known != nil {
		id = conversation.ID(known.ID)
	} else {
		c.Uploads = []conversation.ID{id}
	}
	rec.Content = id[:]
	return known != nil, slots.share(in.sha, id)
}

// join makes the content part of its run.
func (in *intake) join(c *store.Change, slots *slotChanges, number int64, now time.Time) error {
	id := in.request.RunID
	if id == "" {
		return nil
	}
	if err := openRun(slots.get(runSlot(id)), now); err != nil {
		return err
	}
	due, err := slots.join(id, number, now)
	c.Head.NextDue = txn.Earliest(c.Head.NextDue, due)
	return err
}

// log adds the entry that says that the content came.
func (in *intake) log(c *store.Change, rec *sourceRecord, now time.Time) {
	h := &c.Head
	h.EditSeq++
	c.Edits = []conversation.Edit{{
		Seq: h.EditSeq, Kind: conversation.EditStoreContent, Range: conversation.Range{First: h.Messages, End: h.Messages},
		Reason: conversation.ReasonStoreContentRequest, Turn: h.Turn, Time: now, Commit: h.Version, Content: rec.Handle,
	}}
}

// answer words the citation.
func (in *intake) answer(info *Info, rec *sourceRecord) (*StoreContentResult, error) {
	counter, err := in.engine.views.Counter(info.Counter)
	if err != nil {
		return nil, err
	}
	head := ""
	if rec.text() {
		head = in.headText()
	}
	text, cited := makeCitation(rec, head, in.size <= headBytes, "", counting(counter))
	return &StoreContentResult{Cited: citedIn(text, cited)}, nil
}

// repeat answers a retry with the first outcome.
func (in *intake) repeat(ctx context.Context, snap *store.Snapshot, o *store.Outcome) (*StoreContentResult, error) {
	slots := newSlotChanges(nil)
	if err := in.engine.readSlots(ctx, in.request.Key, snap.Head.Incarnation, slots, sourceSlot(o.Manifest)); err != nil {
		return nil, err
	}
	value := slots.get(sourceSlot(o.Manifest))
	if value == nil {
		return nil, damaged("a source record")
	}
	rec, err := parseSource(value)
	if err != nil {
		return nil, err
	}
	out, err := in.answer(snap.Info, rec)
	if err != nil {
		return nil, err
	}
	out.Revision, out.Duplicate = o.Revision, true
	return out, nil
}
