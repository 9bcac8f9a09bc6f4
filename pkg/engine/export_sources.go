package engine

import (
	"context"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// runs reads the runs that contents belong to.
func (x *exporting) runs(ctx context.Context) ([]Run, error) {
	snap, err := x.read(ctx, store.Query{SlotsOf: runSlots})
	if err != nil {
		return nil, txn.Failure(err)
	}
	if len(snap.Slots) >= store.MaxSlots {
		return nil, conversation.Errorf(conversation.LimitExceeded, "the conversation has more than %d runs: export it when some are over", store.MaxSlots-1)
	}
	names := make([]string, 0, len(snap.Slots))
	for name := range snap.Slots {
		names = append(names, name)
	}
	slices.Sort(names)
	out := make([]Run, 0, len(names))
	x.due = make(map[string]time.Time, len(names))
	for _, name := range names {
		r, err := parseRun(snap.Slots[name])
		if err != nil {
			return nil, err
		}
		out = append(out, r.run())
		x.due[r.ID] = r.due()
	}
	return out, nil
}

// run is what is told of the run. Which contents it has, these say themselves.
func (r *runRecord) run() Run {
	out := Run{ID: r.ID, Used: time.UnixMilli(r.Used).UTC(), Gone: r.Gone}
	if r.End > 0 {
		out.End = time.UnixMilli(r.End).UTC()
	}
	return out
}

// sources gives the source records, and what StoreContent stored. A record may be newer than the head: what it says of messages
// that came since is left out.
func (x *exporting) sources(ctx context.Context) error {
	return x.engine.eachSource(ctx, x.key, x.head.Incarnation, 1, x.last, func(_ int64, r *sourceRecord) error {
		r.CitedBy = slices.DeleteFunc(r.CitedBy, func(index int32) bool { return index >= x.head.Messages })
		if r.AtAppend || r.Expired || r.Bytes == 0 {
			return x.source(r)
		}
		h, err := x.engine.hold(ctx, x.key, &x.head, r)
		if err != nil {
			return err
		}
		return x.content(ctx, h)
	})
}

func (x *exporting) source(r *sourceRecord) error {
	return x.give(Record{Source: &SourceRecord{Source: r.source(x.due[r.Run]), Message: r.Message, Part: r.Part}})
}

// content gives a source with its chunks. One that expires before the first of them is read is told as expired.
func (x *exporting) content(ctx context.Context, h *holding) error {
	first := true
	err := h.each(ctx, 0, func(at int64, data []byte) error {
		if first {
			if err := x.source(h.record); err != nil {
				return err
			}
		}
		first = false
		return x.give(Record{Chunk: &SourceChunk{ContentID: h.record.Handle, Offset: at, Data: data}})
	})
	switch {
	case err == nil || conversation.KindOf(err) != conversation.ContentExpired:
		return err
	case first:
		h.record.Expired = true
		return x.source(h.record)
	default:
		return conversation.Errorf(conversation.Contention, "a content expired while it was exported")
	}
}
