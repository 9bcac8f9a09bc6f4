package transfer

import (
	"context"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/appends"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// SourceChunkBytes is the size of every chunk of an exported content but the last.
const SourceChunkBytes = store.ChunkBytes

// exportPage is how many messages, and edits, are read at a time.
const exportPage = 128

// Export passes all records of a conversation to give, in the order that Import takes: the conversation, its state, messages,
// edits, manifests and sources, each oldest first. The result is one consistent state: records never change, and the head, which
// comes first, says how many of them belong to it. Request ids are not exported: they belong to the callers of this
// conversation.
func (t *Service) Export(ctx context.Context, key store.Key, give func(Record) error) error {
	snap, err := t.Contents.ReadSettled(ctx, key, store.Query{Info: true, SlotsOf: view.BuildSlots, Slots: []string{contents.LastSourceSlot, appends.SuccessorsSlot}})
	if err != nil {
		return err
	}
	if err := give(Record{Conversation: &txn.Conversation{ID: key.Conversation, Info: *snap.Info, Head: snap.Head}}); err != nil {
		return err
	}
	x := &exporter{service: t, key: key, head: snap.Head, give: give}
	if x.last, err = contents.LastSource(snap.Slots); err != nil {
		return err
	}
	state, err := x.state(ctx, snap)
	if err != nil {
		return err
	}
	if err := give(Record{State: state}); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{x.messages, x.edits, x.manifests, x.sources} {
		if err := step(ctx); err != nil {
			return txn.Failure(err)
		}
	}
	return nil
}

type exporter struct {
	service *Service
	key     store.Key
	head    store.Head
	give    func(Record) error
	last    int64                // number of the last source
	due     map[string]time.Time // when the contents of each run are deleted
}

func (x *exporter) state(ctx context.Context, snap *store.Snapshot) (*State, error) {
	hides, err := x.service.Views.Hides(ctx, view.New(x.key, snap))
	if err != nil {
		return nil, err
	}
	state := &State{Slots: snap.Slots}
	delete(state.Slots, drafts.Slot)             // its texts are not part of the record
	delete(state.Slots, view.HistorySlot)        // its hashes hold for this incarnation only
	delete(state.Slots, contents.LastSourceSlot) // the sources carry the same number
	for _, h := range hides {
		state.Rewinds = append(state.Rewinds, h.Range)
	}
	state.Runs, err = x.runs(ctx)
	return state, err
}

func (x *exporter) read(ctx context.Context, q store.Query) (*store.Snapshot, error) {
	q.Incarnation = x.head.Incarnation
	return x.service.Store.Read(ctx, x.key, q)
}

func (x *exporter) messages(ctx context.Context) error {
	for first := int32(0); first < x.head.Messages; first += exportPage {
		r := conversation.Range{First: first, End: min(first+exportPage, x.head.Messages)}
		snap, err := x.read(ctx, store.Query{Ranges: []store.MessageRange{{Range: r}}})
		if err != nil {
			return err
		}
		for i := range snap.Messages {
			m := &snap.Messages[i]
			if m.Parts, err = x.service.Blobs.Inline(ctx, x.key, x.head.Incarnation, m.Parts); err != nil {
				return err
			}
			if err := x.give(Record{Message: m}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *exporter) edits(ctx context.Context) error {
	for after := int64(0); after < x.head.EditSeq; after += exportPage {
		snap, err := x.read(ctx, store.Query{Edits: &store.EditRange{After: after, Upto: min(after+exportPage, x.head.EditSeq)}})
		if err != nil {
			return err
		}
		for i := range snap.Edits {
			if err := x.edit(ctx, &snap.Edits[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *exporter) edit(ctx context.Context, e *conversation.Edit) error {
	shown := make([]conversation.PartEdit, len(e.Parts))
	for i, p := range e.Parts {
		parts, err := x.service.Blobs.Inline(ctx, x.key, x.head.Incarnation, []conversation.Part{p.Shown})
		if err != nil {
			return err
		}
		shown[i] = conversation.PartEdit{Part: p.Part, Level: p.Level, Shown: parts[0], Copies: p.Copies}
	}
	out := *e
	out.Parts = shown
	if e.Summary != nil {
		texts, err := x.service.Blobs.Texts(ctx, x.key, x.head.Incarnation, e.Summary.Text, e.Summary.Facts)
		if err != nil {
			return err
		}
		if texts[1], err = exportedFacts(texts[1]); err != nil {
			return err
		}
		s := *e.Summary
		s.Text, s.Facts = conversation.Content{Inline: texts[0]}, conversation.Content{Inline: texts[1]}
		out.Summary = &s
	}
	return x.give(Record{Edit: &out})
}

// exportedFacts returns a summary's facts as JSON, because exports are text.
func exportedFacts(stored string) (string, error) {
	if stored == "" {
		return "", nil
	}
	k, err := record.DecodeFacts([]byte(stored))
	if err != nil {
		return "", contents.Damaged("what is stored beside a summary")
	}
	out, err := k.JSON()
	return string(out), err
}

func (x *exporter) manifests(ctx context.Context) error {
	snap, err := x.read(ctx, store.Query{Manifest: &store.ManifestRange{Before: x.head.ManifestSeq + 1, Limit: 2 * plan.ManifestsKept}})
	if err != nil {
		return err
	}
	for i := len(snap.Manifests) - 1; i >= 0; i-- {
		if err := x.give(Record{Manifest: &snap.Manifests[i]}); err != nil {
			return err
		}
	}
	return nil
}
