package contents

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/actors"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// StoreContent keeps a content that the caller holds, and returns the citation that stands for it (behaviour §9). It creates the
// conversation if there is none.
func (cs *Service) StoreContent(ctx context.Context, r StoreContentRequest) (*StoreContentResult, error) {
	in := &Upload{Service: cs, Request: &r, fresh: cs.IDs(), ID: cs.IDs(), Sum: sha256.New(), Outliner: content.NewOutliner()}
	if err := in.open(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if !in.mayStand {
			in.Discard(ctx)
		}
	}()
	if err := in.Receive(ctx); err != nil {
		return nil, err
	}
	return txn.Decide(ctx, cs.Txn, r.Key, func() (*StoreContentResult, error) { return in.commit(ctx) })
}

// openRun refuses a run that accepts no more contents.
func openRun(value []byte, now time.Time) error {
	run, err := ParseRun(value)
	if err != nil || run == nil || !run.ended(now) {
		return err
	}
	return conversation.Errorf(conversation.RunEnded, "the run has ended: store for another run, or for the conversation")
}

// headBytes is how many bytes at the start of a content are looked at to cite it.
const headBytes = 4 << 20

// Upload receives one content and stages its bytes as they arrive.
type Upload struct {
	Service     *Service
	Request     *StoreContentRequest
	fresh       conversation.ID // the incarnation of the conversation, should the content create it
	Incarnation conversation.ID // the incarnation under which the chunks are staged
	ID          conversation.ID // the id of the chunks

	pending  []byte // the bytes of the last chunk, which is not full yet
	chunks   int32
	Size     int64
	head     bytes.Buffer
	Sum      hash.Hash
	Sha      [32]byte
	Outliner *content.Outliner
	outline  *content.Outline
	again    bool  // the call is a retry
	Before   int64 // bytes that are new besides this content; for an import, all those before it
	mayStand bool  // a commit refers to the chunks, or may
}

// read reads the conversation that the content belongs to, or makes up the head of the one that it will create.
func (in *Upload) read(ctx context.Context, q store.Query) (*store.Snapshot, error) {
	q.Request = in.Request.Request.Key()
	snap, err := in.Service.Store.Read(ctx, in.Request.Key, q)
	if errors.Is(err, store.ErrNotFound) {
		info := actors.NewInfo(ctx)
		head := txn.NewHead(in.fresh, in.Service.Txn.Now())
		head.ActorID = info.ActorID
		return &store.Snapshot{Head: head, Info: info}, nil
	}
	if err != nil {
		return nil, txn.Failure(err)
	}
	return snap, in.Service.Txn.Live(&snap.Head)
}

// open refuses, before any bytes arrive, what would be refused at the end.
func (in *Upload) open(ctx context.Context) error {
	run := RunSlot(in.Request.RunID)
	snap, err := in.read(ctx, store.Query{Slots: []string{run}})
	if err != nil {
		return err
	}
	in.Incarnation = snap.Head.Incarnation
	if in.again = snap.Outcome != nil; in.again { // a retry is answered, whatever has become of the run and of the quota since
		return nil
	}
	return openRun(snap.Slots[run], in.Service.Txn.Now())
}

// Discard deletes what was staged.
func (in *Upload) Discard(ctx context.Context) {
	if in.chunks == 0 {
		return
	}
	if in.Incarnation == in.fresh { // nothing else is staged under it
		in.Service.Txn.Discard(ctx, in.Request.Key, in.fresh)
		return
	}
	in.Service.Txn.Discard(ctx, in.Request.Key, in.Incarnation, in.ID)
}

// moveTo stages the bytes again for a conversation that was created while they arrived. Only the head of the content is still in
// memory: a longer content has to be sent again.
func (in *Upload) moveTo(ctx context.Context, incarnation conversation.ID) error {
	if in.Size > int64(in.head.Len()) {
		return madeMeanwhile()
	}
	in.Discard(ctx)
	in.Incarnation, in.ID, in.chunks = incarnation, in.Service.IDs(), 0
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

// Receive stages what the caller sends, and checks it against the size and hash that the header announced.
func (in *Upload) Receive(ctx context.Context) error {
	for {
		piece, err := in.Request.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return txn.Failure(err)
		}
		if err := in.Add(ctx, piece); err != nil {
			return err
		}
	}
	if len(in.pending) > 0 {
		if err := in.stage(ctx, in.pending); err != nil {
			return err
		}
	}
	in.Sha, in.outline = [32]byte(in.Sum.Sum(nil)), in.Outliner.Outline()
	if want := in.Request.SHA256; want != nil && *want != in.Sha {
		return conversation.Errorf(conversation.ChecksumMismatch, "the bytes do not have the SHA-256 that the header gives")
	}
	// A retry has the same header and the same bytes.
	in.Request.Request.Digest = sha256.Sum256(append(in.Request.Request.Digest[:], in.Sha[:]...))
	return nil
}

// Add receives the next bytes.
func (in *Upload) Add(ctx context.Context, piece []byte) error {
	in.Size += int64(len(piece))
	if in.Size > MaxContentBytes {
		return conversation.Errorf(conversation.LimitExceeded, "a content has at most %d bytes", MaxContentBytes)
	}
	in.Sum.Write(piece)
	in.Outliner.Feed(piece)
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

func (in *Upload) stage(ctx context.Context, chunk []byte) error {
	if !in.again {
		if err := in.Service.Txn.CheckRoom(ctx, in.Request.Key, in.Incarnation == in.fresh, in.Before+in.Size); err != nil {
			return err
		}
	}
	u := &store.Upload{Incarnation: in.Incarnation, Time: in.Service.Txn.Now(), ID: in.ID, Chunk: in.chunks, Data: chunk}
	in.chunks++
	err := in.Service.Store.Stage(ctx, in.Request.Key, u)
	if errors.Is(err, store.ErrNotFound) { // the conversation was deleted
		return madeMeanwhile()
	}
	return txn.Failure(err)
}

// commit tries once to put the content on record.
func (in *Upload) commit(ctx context.Context) (*StoreContentResult, error) {
	r := in.Request
	snap, err := in.read(ctx, store.Query{Info: true, Slots: []string{LastSourceSlot, RunSlot(r.RunID), SharedSlot(in.Sha)}})
	if err != nil {
		return nil, err
	}
	first, err := in.Service.Txn.Recall(snap, r.Request)
	if err != nil {
		return nil, err
	}
	if first != nil {
		return in.repeat(ctx, snap, first)
	}
	if r.Reuse {
		if rec, err := in.firstWithBytes(ctx, snap); err != nil || rec != nil {
			return in.reused(snap, rec, err)
		}
	}
	if snap.Head.Incarnation != in.Incarnation {
		if err := in.moveTo(ctx, snap.Head.Incarnation); err != nil {
			return nil, err
		}
	}
	return in.commitNew(ctx, snap)
}

func (in *Upload) commitNew(ctx context.Context, snap *store.Snapshot) (*StoreContentResult, error) {
	now := in.Service.Txn.Now()
	c := &store.Change{Expect: snap.Head.Version, Head: txn.NextHead(snap.Head, now)}
	c.Head.Revision++
	if snap.Head.Version == 0 {
		c.Info = snap.Info
	}
	slots := NewSlotChanges(snap.Slots)
	number, err := LastSource(snap.Slots)
	if err != nil {
		return nil, err
	}
	number++
	rec := in.Record(NewHandle(number, in.Service.IDs()), now)
	shared, err := in.Place(c, slots, rec)
	if err != nil {
		return nil, err
	}
	txn.AddBytes(&c.Head, in.given(shared))
	if err := in.join(c, slots, number, now); err != nil {
		return nil, err
	}
	slots.Changed[LastSourceSlot] = strconv.AppendInt(nil, number, 10)
	if err := slots.Set(SourceSlot(number), rec.Encode()); err != nil {
		return nil, err
	}
	slots.Apply(c)
	in.log(c, rec)
	txn.RenewTTL(&c.Head, snap.Info.Policy.Or(in.Service.Defaults), now)
	txn.Remember(c, in.Request.Request, store.Outcome{Manifest: number, Revision: c.Head.Revision})
	out, err := in.answer(snap.Info, rec)
	if err != nil {
		return nil, err
	}
	err = in.Service.Txn.Commit(ctx, in.Request.Key, &snap.Head, c)
	in.mayStand = txn.MayStand(err) && !shared
	if err != nil {
		return nil, err
	}
	out.Events, out.Revision, out.Shared = conversation.EventsOf(c.Edits), c.Head.Revision, shared
	return out, nil
}

// Record makes the source record of the content.
func (in *Upload) Record(handle string, now time.Time) *Record {
	r := in.Request
	rec := &Record{
		Handle: handle, Type: r.Type, URL: r.URL, Title: r.Title, ContentType: r.ContentType, Bytes: in.Size, SHA256: in.Sha[:], Accessed: now.UnixMilli(),
		Run: r.RunID, OfRun: r.RunID != "", Metadata: r.Metadata,
	}
	rec.Type = cmp.Or(rec.Type, conversation.SourceTypeTool)
	if !in.outline.Text() {
		rec.ContentType = cmp.Or(rec.ContentType, "application/octet-stream")
		return rec
	}
	kind := content.KindOf(r.ContentType, in.headText())
	rec.Chars, rec.Kind = in.outline.Chars(), int8(kind)
	rec.ContentType = cmp.Or(rec.ContentType, kind.MediaType())
	return rec
}

// headText returns the beginning of the content, in whole characters.
func (in *Upload) headText() string {
	head := in.head.Bytes()
	if in.Size > int64(len(head)) {
		head = head[:WholeRunes(head)]
	}
	return string(head)
}

// Place assigns chunks to the content: those that were staged, or those that the conversation already has.
func (in *Upload) Place(c *store.Change, slots *SlotChanges, rec *Record) (shared bool, err error) {
	if in.chunks == 0 {
		return false, nil
	}
	known, err := ParseShared(slots.Get(SharedSlot(in.Sha)))
	if err != nil {
		return false, err
	}
	id := in.ID
	if known != nil {
		id = conversation.ID(known.ID)
	} else {
		c.Uploads = []conversation.ID{id}
	}
	rec.Content = id[:]
	return known != nil, slots.Share(in.Sha, id)
}

// given returns by how many bytes the content adds to what callers gave: its metadata, and its bytes unless they are shared.
func (in *Upload) given(shared bool) int64 {
	n := int64(len(in.Request.Metadata))
	if !shared {
		n += in.Size
	}
	return n
}

// join adds the content to its run.
func (in *Upload) join(c *store.Change, slots *SlotChanges, number int64, now time.Time) error {
	id := in.Request.RunID
	if id == "" {
		return nil
	}
	if err := openRun(slots.Get(RunSlot(id)), now); err != nil {
		return err
	}
	due, err := slots.Join(id, number, now)
	c.Head.NextDue = txn.Earliest(c.Head.NextDue, due)
	return err
}

// log adds the edit that says that the content was stored.
func (in *Upload) log(c *store.Change, rec *Record) {
	behind := c.Head.Messages
	txn.AddEdit(c, conversation.Edit{
		Kind: conversation.EditStoreContent, Range: conversation.Range{First: behind, End: behind},
		Reason: conversation.ReasonStoreContentRequest, Content: rec.Handle,
	})
}

// answer writes the citation.
func (in *Upload) answer(info *store.Info, rec *Record) (*StoreContentResult, error) {
	counter, err := in.Service.Views.Counter(info.Counter)
	if err != nil {
		return nil, err
	}
	head := ""
	if rec.isText() {
		head = in.headText()
	}
	text, cited := MakeCitation(rec, head, in.Size <= headBytes, "", CountWith(counter))
	return &StoreContentResult{Cited: citedFrom(text, cited)}, nil
}

// firstWithBytes returns the first content of the conversation that was stored with the same bytes; nil if there is none.
func (in *Upload) firstWithBytes(ctx context.Context, snap *store.Snapshot) (*Record, error) {
	last, err := LastSource(snap.Slots)
	if err != nil || snap.Slots[SharedSlot(in.Sha)] == nil {
		return nil, err
	}
	var found *Record
	err = in.Service.EachSource(ctx, in.Request.Key, snap.Head.Incarnation, 1, last, func(_ int64, rec *Record) error {
		if found == nil && !rec.Expired && !rec.AtAppend && !rec.OfRun && bytes.Equal(rec.SHA256, in.Sha[:]) {
			found = rec
		}
		return nil
	})
	return found, err
}

func (in *Upload) reused(snap *store.Snapshot, rec *Record, err error) (*StoreContentResult, error) {
	if err != nil {
		return nil, err
	}
	out, err := in.answer(snap.Info, rec)
	if err != nil {
		return nil, err
	}
	out.Revision, out.Shared = snap.Head.Revision, true
	return out, nil
}

// repeat answers a retry with the first outcome.
func (in *Upload) repeat(ctx context.Context, snap *store.Snapshot, o *store.Outcome) (*StoreContentResult, error) {
	slots := NewSlotChanges(nil)
	if err := in.Service.ReadSlots(ctx, in.Request.Key, snap.Head.Incarnation, slots, SourceSlot(o.Manifest)); err != nil {
		return nil, err
	}
	value := slots.Get(SourceSlot(o.Manifest))
	if value == nil {
		return nil, Damaged("a source record")
	}
	rec, err := ParseRecord(value)
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
