package embedded

import (
	"context"
	"errors"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// loadAttempts is how often changed segments are read while others go on changing them. Then everything is read at once.
const loadAttempts = 3

// load returns a scope as it is now.
func (t *Target) load(ctx context.Context, s memory.Scope) (*index, error) {
	key := Partition(s)
	if x, err := t.refresh(ctx, s, key); x != nil || err != nil {
		return x, contractError(ctx, err)
	}
	done, err := t.loads.Wait(ctx, key) // of many searches of a scope that is not ready, one reads all of it
	if err != nil {
		return nil, contractError(ctx, err)
	}
	defer done()
	x, err := t.refresh(ctx, s, key)
	if x == nil && err == nil {
		x, err = t.readAll(ctx, s, key)
	}
	return x, contractError(ctx, err)
}

// Cold implements memory.Indexed.
func (t *Target) Cold(s memory.Scope) bool {
	_, ready := t.Cache.Get(Partition(s)).(*index)
	return !ready
}

// refresh returns the scope if it is ready, with what changed since read anew; nil if all is to be read.
func (t *Target) refresh(ctx context.Context, s memory.Scope, key store.Key) (*index, error) {
	x, _ := t.Cache.Get(key).(*index)
	if x == nil {
		return nil, nil
	}
	snap, err := t.Store.Read(ctx, key, store.Query{IfNewer: x.head.Version, Slots: []string{directorySlot}})
	switch {
	case errors.Is(err, store.ErrNotFound):
		t.Cache.Drop(key)
		return nil, nil
	case err != nil:
		return nil, err
	case snap.Head.Incarnation != x.head.Incarnation || snap.Head.Epoch != x.head.Epoch || snap.Head.State == store.Deleted:
		t.Cache.Drop(key)
		return nil, nil
	case snap.Head.Version == x.head.Version:
		return x, nil
	}
	return t.readChanged(ctx, s, key, x, snap)
}

// readChanged reads the segments that an index lacks.
func (t *Target) readChanged(ctx context.Context, s memory.Scope, key store.Key, x *index, snap *store.Snapshot) (*index, error) {
	have := map[segmentRef]*segment{}
	for _, kept := range x.segments {
		have[kept.segmentRef] = kept
	}
	for range loadAttempts {
		newer, lacks, err := assemble(snap, have)
		if err != nil {
			return nil, err
		}
		if len(lacks) == 0 {
			return t.ready(ctx, s, key, newer)
		}
		q := store.Query{Incarnation: x.head.Incarnation, Slots: append(lacks, directorySlot)}
		if snap, err = t.Store.Read(ctx, key, q); errors.Is(err, store.ErrNotFound) {
			break
		} else if err != nil {
			return nil, err
		}
		if snap.Head.Epoch != x.head.Epoch {
			break
		}
	}
	t.Cache.Drop(key)
	return nil, nil
}

// readAll reads a scope in one snapshot.
func (t *Target) readAll(ctx context.Context, s memory.Scope, key store.Key) (*index, error) {
	snap, err := t.Store.Read(ctx, key, store.Query{SlotsOf: directorySlot})
	if errors.Is(err, store.ErrNotFound) {
		return newIndex(store.Head{}, directory{}, nil), nil
	}
	if err != nil {
		return nil, err
	}
	if snap.Head.State == store.Deleted {
		return newIndex(snap.Head, directory{}, nil), nil
	}
	x, lacks, err := assemble(snap, nil)
	if err != nil {
		return nil, err
	}
	if len(lacks) > 0 {
		return nil, errDamaged
	}
	return t.ready(ctx, s, key, x)
}

// ready keeps an index whose lines can be searched.
func (t *Target) ready(ctx context.Context, s memory.Scope, key store.Key, x *index) (*index, error) {
	if err := t.recode(ctx, s, x); err != nil {
		return nil, err
	}
	t.Cache.Put(key, x, x.held())
	return x, nil
}

// assemble makes an index of a snapshot and of segments that are there already, and names the slots that are in neither.
func assemble(snap *store.Snapshot, have map[segmentRef]*segment) (x *index, lacks []string, err error) {
	value, ok := snap.Slots[directorySlot]
	if !ok {
		return nil, nil, errDamaged
	}
	d, err := decodeDirectory(value)
	if err != nil {
		return nil, nil, err
	}
	segments := make([]*segment, 0, len(d.segments))
	for _, ref := range d.segments {
		s := have[ref]
		if s == nil {
			slot, ok := snap.Slots[segmentSlot(ref.number)]
			if !ok {
				lacks = append(lacks, segmentSlot(ref.number))
				continue
			}
			if s, err = decodeSegment(ref, slot); err != nil {
				return nil, nil, err
			}
			if have != nil {
				have[ref] = s
			}
		}
		segments = append(segments, s)
	}
	return newIndex(snap.Head, d, segments), lacks, nil
}
