package transfer

import (
	"context"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// runs reads the runs that contents belong to.
func (x *exporter) runs(ctx context.Context) ([]Run, error) {
	snap, err := x.read(ctx, store.Query{SlotsOf: contents.RunSlots})
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
		r, err := contents.ParseRun(snap.Slots[name])
		if err != nil {
			return nil, err
		}
		out = append(out, runOf(r))
		x.due[r.ID] = r.Due()
	}
	return out, nil
}

// runOf returns a run in the form that exports have. It does not list the run's contents: each source names its run.
func runOf(r *contents.RunRecord) Run {
	out := Run{ID: r.ID, Used: time.UnixMilli(r.Used).UTC(), Gone: r.Gone}
	if r.End > 0 {
		out.End = time.UnixMilli(r.End).UTC()
	}
	return out
}

// sources passes on the source records, and the contents that StoreContent stored. A record may be newer than the head:
// messages in it that came later are left out.
func (x *exporter) sources(ctx context.Context) error {
	return x.service.Contents.EachSource(ctx, x.key, x.head.Incarnation, 1, x.last, func(_ int64, r *contents.Record) error {
		r.CitedBy = slices.DeleteFunc(r.CitedBy, func(index int32) bool { return index >= x.head.Messages })
		if r.AtAppend || r.Expired || r.Bytes == 0 {
			return x.source(r)
		}
		h, err := x.service.Contents.Open(ctx, x.key, &x.head, r)
		if err != nil {
			return err
		}
		return x.content(ctx, h)
	})
}

func (x *exporter) source(r *contents.Record) error {
	return x.give(Record{Source: &SourceRecord{Source: r.Source(x.due[r.Run]), Message: r.Message, Part: r.Part}})
}

// content passes on a source with its chunks. If the content expires before its first chunk is read, the source is marked as
// expired.
func (x *exporter) content(ctx context.Context, h *contents.Reader) error {
	first := true
	err := h.Each(ctx, 0, func(at int64, data []byte) error {
		if first {
			if err := x.source(h.Record); err != nil {
				return err
			}
		}
		first = false
		return x.give(Record{Chunk: &SourceChunk{ContentID: h.Record.Handle, Offset: at, Data: data}})
	})
	switch {
	case err == nil || conversation.KindOf(err) != conversation.ContentExpired:
		return err
	case first:
		h.Record.Expired = true
		return x.source(h.Record)
	default:
		return conversation.Errorf(conversation.Contention, "a content expired while it was exported")
	}
}
