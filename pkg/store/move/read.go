package move

import (
	"context"
	"errors"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// reader reads all records of a conversation, page by page, as they are at one version.
type reader struct {
	store  store.Store
	key    store.Key
	head   store.Head
	info   *store.Info
	online bool
}

// read asks for more of the conversation. Where it may be written to meanwhile, an answer of another version is of no use.
func (r *reader) read(ctx context.Context, q store.Query) (*store.Snapshot, error) {
	q.Incarnation = r.head.Incarnation
	snap, err := r.store.Read(ctx, r.key, q)
	if errors.Is(err, store.ErrNotFound) { // it was there: it was begun anew, or deleted
		return nil, errMoved
	}
	if err == nil && r.online && (snap.Head.Version != r.head.Version || snap.Head.Epoch != r.head.Epoch) {
		err = errMoved
	}
	return snap, err
}

// records gives all records in pieces as they are staged: messages, edits, manifests, outcomes, slots, contents.
func (r *reader) records(ctx context.Context, give func(*store.Upload) error) error {
	for _, part := range []func(context.Context, func(*store.Upload) error) error{r.messages, r.edits, r.manifests, r.outcomes, r.slots, r.contents} {
		if err := part(ctx, give); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) messages(ctx context.Context, give func(*store.Upload) error) error {
	for next := int32(0); next < r.head.Messages; {
		snap, err := r.read(ctx, store.Query{Ranges: []store.MessageRange{{
			Range: conversation.Range{First: next, End: r.head.Messages}, Limit: recordsPage, MaxTokens: tokensPage,
		}}})
		if err != nil || len(snap.Messages) == 0 { // a tombstone has none
			return err
		}
		if err := give(&store.Upload{Messages: snap.Messages}); err != nil {
			return err
		}
		next = snap.Messages[len(snap.Messages)-1].Index + 1
	}
	return nil
}

func (r *reader) edits(ctx context.Context, give func(*store.Upload) error) error {
	for after := int64(0); after < r.head.EditSeq; after += recordsPage {
		snap, err := r.read(ctx, store.Query{Edits: &store.EditRange{After: after, Upto: min(after+recordsPage, r.head.EditSeq)}})
		if err != nil {
			return err
		}
		if len(snap.Edits) == 0 {
			continue
		}
		if err := give(&store.Upload{Edits: snap.Edits}); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) manifests(ctx context.Context, give func(*store.Upload) error) error {
	for before := int64(0); ; {
		snap, err := r.read(ctx, store.Query{Manifest: &store.ManifestRange{Before: before, Limit: recordsPage}})
		if err != nil || len(snap.Manifests) == 0 {
			return err
		}
		if err := give(&store.Upload{Manifests: snap.Manifests}); err != nil {
			return err
		}
		before = snap.Manifests[len(snap.Manifests)-1].Seq
	}
}

func (r *reader) outcomes(ctx context.Context, give func(*store.Upload) error) error {
	for after := (*store.RequestKey)(nil); ; {
		snap, err := r.read(ctx, store.Query{Outcomes: &store.OutcomeRange{After: after, Limit: outcomesPage}})
		if err != nil || len(snap.Outcomes) == 0 {
			return err
		}
		if err := give(&store.Upload{Outcomes: snap.Outcomes}); err != nil {
			return err
		}
		after = &snap.Outcomes[len(snap.Outcomes)-1].Key
	}
}

func (r *reader) slots(ctx context.Context, give func(*store.Upload) error) error {
	snap, err := r.read(ctx, store.Query{AllSlots: true})
	if err != nil {
		return err
	}
	if len(snap.Slots) < store.MaxSlots {
		return giveSlots(snap.Slots, give)
	}
	return r.slotsUnder(ctx, "", give)
}

// slotsUnder gives the slots whose names begin with a prefix, for conversations that have more than one answer holds.
func (r *reader) slotsUnder(ctx context.Context, prefix string, give func(*store.Upload) error) error {
	exact, err := r.read(ctx, store.Query{Slots: []string{prefix}})
	if err != nil {
		return err
	}
	if err := giveSlots(exact.Slots, give); err != nil {
		return err
	}
	for b := range 256 {
		longer := prefix + string([]byte{byte(b)})
		snap, err := r.read(ctx, store.Query{SlotsOf: longer})
		if err != nil {
			return err
		}
		if len(snap.Slots) < store.MaxSlots {
			err = giveSlots(snap.Slots, give)
		} else {
			err = r.slotsUnder(ctx, longer, give)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// giveSlots gives slots in pieces that are no larger than a page of the largest.
func giveSlots(slots map[string][]byte, give func(*store.Upload) error) error {
	const most = 1 << 20 // bytes of a piece
	piece, size := map[string][]byte{}, 0
	for name, value := range slots {
		if size += len(name) + len(value); size > most && len(piece) > 0 {
			if err := give(&store.Upload{Slots: piece}); err != nil {
				return err
			}
			piece, size = map[string][]byte{}, len(name)+len(value)
		}
		piece[name] = value
	}
	if len(piece) == 0 {
		return nil
	}
	return give(&store.Upload{Slots: piece})
}

func (r *reader) contents(ctx context.Context, give func(*store.Upload) error) error {
	for after := (conversation.ID{}); ; {
		snap, err := r.read(ctx, store.Query{Stored: &store.StoredRange{After: after, Limit: contentsPage}})
		if err != nil || len(snap.Stored) == 0 {
			return err
		}
		for _, id := range snap.Stored {
			if err := r.content(ctx, id, give); err != nil {
				return err
			}
		}
		after = snap.Stored[len(snap.Stored)-1]
	}
}

// content gives a content chunk by chunk. An empty one has an empty chunk.
func (r *reader) content(ctx context.Context, id conversation.ID, give func(*store.Upload) error) error {
	for chunk := int32(0); ; chunk++ {
		snap, err := r.read(ctx, store.Query{Contents: []store.ContentRange{{ID: id, Offset: int64(chunk) * store.ChunkBytes, Length: store.ChunkBytes}}})
		if err != nil {
			return err
		}
		data := snap.Contents[0]
		if len(data) == 0 && chunk > 0 {
			return nil
		}
		if err := give(&store.Upload{ID: id, Chunk: chunk, Data: data}); err != nil {
			return err
		}
		if len(data) < store.ChunkBytes {
			return nil
		}
	}
}
