package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/actors"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// How many messages, manifests and bytes of them are staged at a time.
const (
	importBatch      = 128
	importBatchBytes = 1 << 20
	// The memory that a part of a message, or a cut of a manifest, takes besides its texts.
	importEntryBytes = 256
)

// Import creates a conversation from an export, all or nothing, under an id that must not exist. The records are staged under
// an incarnation that is not reachable before the last commit, so that a broken import leaves nothing behind. What an append
// derives (pairs, pins, the newest user message) is derived again instead of trusted.
func (t *Service) Import(ctx context.Context, key store.Key, next func() (*Record, error)) (*txn.Conversation, error) {
	if err := t.requireAbsent(ctx, key); err != nil {
		return nil, err
	}
	if err := t.Txn.CheckRoom(ctx, key, true, 0); err != nil {
		return nil, err
	}
	im := &importer{service: t, key: key, incarnation: t.IDs()}
	defer func() {
		if !im.mayStand {
			t.Txn.Discard(ctx, key, im.incarnation)
		}
	}()
	if err := im.run(ctx, next); err != nil {
		return nil, txn.Failure(err)
	}
	var made *txn.Conversation
	err := t.Txn.Do(ctx, key, func() (err error) {
		made, err = im.commit(ctx)
		if errors.Is(err, store.ErrConflict) {
			return conversation.Errorf(conversation.ConversationExists, "a conversation with this id was created meanwhile")
		}
		return err
	})
	return made, err
}

func (t *Service) requireAbsent(ctx context.Context, key store.Key) error {
	snap, err := t.Store.Read(ctx, key, store.Query{})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return txn.Failure(err)
	}
	if err := t.Txn.Live(&snap.Head); err != nil {
		return err
	}
	return conversation.Errorf(conversation.ConversationExists, "a conversation with this id exists")
}

type importer struct {
	service     *Service
	key         store.Key
	incarnation conversation.ID

	from      *txn.Conversation // as the export holds it
	slots     map[string][]byte
	head      store.Head // as derived from the messages
	rewinds   rewinds
	editSeq   int64
	commits   struct{ message, edit uint64 } // commit numbers of the last message and of the last edit: they never fall
	manifests int
	last      int64 // seq of the last manifest
	batch     store.Upload
	weight    int // size of the batch in bytes
	uploads   []conversation.ID
	mayStand  bool // a commit refers to what is staged, or may
	sources   importedSources
}

func invalid(format string, args ...any) error {
	return conversation.Errorf(conversation.InvalidField, "the export cannot be read").At("chunk", fmt.Sprintf(format, args...))
}

func (im *importer) run(ctx context.Context, next func() (*Record, error)) error {
	for {
		r, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := im.take(ctx, r); err != nil {
			return err
		}
	}
	if im.from == nil {
		return invalid("the export holds no conversation")
	}
	return im.complete(ctx)
}

func (im *importer) take(ctx context.Context, r *Record) error {
	switch {
	case r.Conversation != nil && im.from == nil:
		im.from = r.Conversation
		im.from.Info.ActorID = actors.OwnerOf(ctx, im.from.Info.ActorID)
		im.head = txn.NewHead(im.incarnation, r.Conversation.Head.CreateTime)
		im.head.ActorID = im.from.Info.ActorID
		if err := actors.Check(ctx, im.head.ActorID); err != nil {
			return err
		}
		_, err := im.service.Views.Counter(r.Conversation.Info.Counter)
		if err != nil {
			return invalid("the counter is not known")
		}
		if !isName(r.Conversation.Info.Continues) {
			return invalid("what the conversation continues is no id")
		}
		return nil
	case im.from == nil:
		return invalid("the conversation does not come first")
	case im.sources.count > 0 && r.Source == nil && r.Chunk == nil:
		return invalid("the sources do not come last")
	case r.State != nil:
		im.slots = maps.Clone(r.State.Slots)
		if err := im.sources.takeRuns(r.State.Runs, im.head.Messages); err != nil {
			return err
		}
		return im.rewinds.take(r.State.Rewinds)
	case r.Message != nil:
		return im.message(ctx, r.Message)
	case r.Edit != nil:
		return im.edit(ctx, r.Edit)
	case r.Manifest != nil:
		return im.manifest(ctx, r.Manifest)
	case r.Source != nil:
		return im.source(ctx, r.Source)
	case r.Chunk != nil:
		return im.chunk(ctx, r.Chunk)
	default:
		return invalid("a second conversation, or an empty record")
	}
}

func (im *importer) message(ctx context.Context, m *conversation.Message) error {
	h := &im.head
	switch {
	case m.Index != h.Messages:
		return invalid("message %d comes where %d should", m.Index, h.Messages)
	case slices.ContainsFunc(m.Parts, func(p conversation.Part) bool { return p.Citation != nil }):
		return invalid("message %d cites what only views do", m.Index)
	case m.Tokens < 0 || m.TurnAdded < 0 || m.Commit < im.commits.message || m.Commit > im.from.Head.Version:
		return invalid("message %d has impossible figures", m.Index)
	}
	im.commits.message = m.Commit
	if err := im.derive(m); err != nil {
		return err
	}
	h.Messages++
	h.Tokens += int64(m.Tokens)
	if err := im.count(ctx, &store.Change{Messages: []conversation.Message{*m}}); err != nil {
		return err
	}
	uploads, err := im.service.Blobs.StageParts(ctx, im.key, im.incarnation, m.Parts)
	if err != nil {
		return err
	}
	im.uploads = append(im.uploads, uploads...)
	im.batch.Messages = append(im.batch.Messages, *m)
	return im.staged(ctx, memoryOf(m))
}

// count adds up the bytes that came. If the namespace has no room for them, it ends the import before they are staged.
func (im *importer) count(ctx context.Context, c *store.Change) error {
	txn.AddBytes(&im.head, txn.GivenBytes(c))
	return im.service.Txn.CheckRoom(ctx, im.key, true, im.head.Bytes)
}

// memoryOf estimates the memory in bytes of a message whose large parts are staged.
func memoryOf(m *conversation.Message) int {
	n := len(m.Metadata) + importEntryBytes*(1+len(m.Parts)+len(m.Tags)+len(m.Actions))
	for _, c := range conversation.Contents(m.Parts) {
		n += len(c.Inline)
	}
	return n
}

// staged notes that a record was added to the batch, and stages the batch once it is full.
func (im *importer) staged(ctx context.Context, weight int) error {
	im.weight += weight
	if len(im.batch.Messages)+len(im.batch.Manifests) < importBatch && im.weight < importBatchBytes {
		return nil
	}
	return im.flush(ctx)
}

// derive repeats what an append does, and requires the same outcome.
func (im *importer) derive(m *conversation.Message) error {
	im.rewinds.pass(&im.head, m.Index)
	ordinals, unit := callOrdinals(m), m.Unit
	if unit != im.head.UnitStart+1 { // the message's unit may be closed because a build had shown it, and an export need not include builds
		im.head.CallsEnd = 0
	}
	if err := placement.PairAgain(&im.head, m, "message"); err != nil {
		return invalid("message %d answers no call", m.Index)
	}
	if !slices.Equal(ordinals, callOrdinals(m)) {
		return invalid("message %d is paired with other calls", m.Index)
	}
	if unit > 0 && unit != m.Unit {
		return invalid("message %d belongs to another unit", m.Index)
	}
	if err := placement.Admit(&im.head, m); err != nil {
		return err
	}
	m.Unit = unit
	if m.Role == conversation.RoleUser || m.Role == conversation.RoleTool {
		im.rewinds.inputs++
	}
	return nil
}

func callOrdinals(m *conversation.Message) []int32 {
	var out []int32
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case conversation.PartToolCall:
			out = append(out, p.Call.Ordinal)
		case conversation.PartToolResult:
			out = append(out, p.Result.Ordinal)
		}
	}
	return out
}

func (im *importer) flush(ctx context.Context) error {
	if len(im.batch.Messages)+len(im.batch.Manifests) == 0 {
		return nil
	}
	im.batch.Incarnation, im.batch.Time = im.incarnation, im.service.Txn.Now()
	err := im.service.Store.Stage(ctx, im.key, &im.batch)
	im.batch, im.weight = store.Upload{}, 0
	return err
}

func (im *importer) manifest(ctx context.Context, m *conversation.Manifest) error {
	ok := m.Seq > im.last && m.Counter == im.from.Info.Counter && im.service.Views.Formats[m.Format] != nil && m.Seq <= im.from.Head.ManifestSeq && im.manifests < 2*plan.ManifestsKept &&
		0 <= m.MessageCount && m.MessageCount <= im.head.Messages && 0 <= m.EditSeq && m.EditSeq <= im.editSeq &&
		0 <= m.Window.Start && m.Window.Start <= m.MessageCount && m.Window.Request < m.MessageCount && m.LeadingSystem <= m.MessageCount &&
		0 <= m.Window.Restored && m.Window.Restored <= m.EditSeq
	if !ok {
		return invalid("manifest %d does not fit the record", m.Seq)
	}
	im.manifests++
	im.last = m.Seq
	im.batch.Manifests = append(im.batch.Manifests, *m)
	return im.staged(ctx, importEntryBytes*(4+len(m.Window.Cuts)))
}

// complete stages the rest, and takes over from the export what cannot be derived.
func (im *importer) complete(ctx context.Context) error {
	if err := im.flush(ctx); err != nil {
		return err
	}
	from, h := &im.from.Head, &im.head
	im.rewinds.pass(h, h.Messages)
	if !im.rewinds.followed() {
		return invalid("the export is not whole")
	}
	if from.Messages != h.Messages || from.EditSeq != im.editSeq || from.Tokens != h.Tokens {
		return invalid("the export is not whole")
	}
	if from.Seen < 0 || from.Seen > h.Messages || from.SeenBefore < 0 || from.SeenBefore > from.Seen || from.Start < 0 || from.Start > h.Messages || !possible(from) {
		return invalid("the conversation has impossible figures")
	}
	known := importedRecord{messages: h.Messages, editSeq: im.editSeq}
	if err := known.checkSlots(im.slots); err != nil {
		return err
	}
	if err := im.sources.complete(); err != nil {
		return err
	}
	h.Version, h.Revision, h.Turn, h.EditSeq = from.Version, from.Revision, from.Turn, im.editSeq
	h.SeenBefore, h.Seen, h.Start, h.ManifestSeq, h.LastManifest = from.SeenBefore, from.Seen, from.Start, from.ManifestSeq, from.LastManifest
	h.UpdateTime, h.ExpireTime = from.UpdateTime, from.ExpireTime
	h.Reusable = conversation.ValueOr(im.from.Info.Policy.Or(im.service.Defaults).TTLWithoutTombstone, false)
	return nil
}

// maxImported bounds the counters of an import, so that they cannot overflow later.
const maxImported = 1 << 48

// possible reports whether commits can have led to these counters: a commit moves each of them by one, and the turn by at most
// maxTurnsAhead.
func possible(h *store.Head) bool {
	return 0 < h.Version && h.Version <= maxImported && 0 <= h.Revision && uint64(h.Revision) <= h.Version &&
		0 <= h.ManifestSeq && uint64(h.ManifestSeq) <= h.Version && 0 <= h.Turn && h.Turn <= math.MaxInt32/2
}

func (im *importer) commit(ctx context.Context) (*txn.Conversation, error) {
	now := im.service.Txn.Now()
	if im.service.Txn.Live(&im.head) != nil { // it was past its ttl where it came from; here its time begins anew
		txn.RenewTTL(&im.head, im.from.Info.Policy.Or(im.service.Defaults), now)
	}
	im.head.NextDue = txn.Earliest(im.head.ExpireTime, now.Add(txn.RequestMemory)) // the sweeper cleans up the imported state
	c := &store.Change{Head: im.head, Info: &im.from.Info, Slots: maps.Clone(im.slots), Uploads: im.uploads}
	im.sources.apply(c)
	err := im.service.Txn.Commit(ctx, im.key, &store.Head{}, c)
	im.mayStand = txn.MayStand(err)
	if err != nil {
		return nil, err
	}
	return &txn.Conversation{ID: im.key.Conversation, Info: im.from.Info, Head: im.head}, nil
}
