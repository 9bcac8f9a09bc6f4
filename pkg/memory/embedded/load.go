package embedded

import (
	"context"
	"errors"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// loadAttempts is how often changed segments are read while others go on changing them. Then everything is read at once.
const loadAttempts = 3

// load returns a scope as it is now.
func (t *Target) load(ctx context.Context, key store.Key) (*index, error) {
	if x, err := t.refresh(ctx, key); x != nil || err != nil {
		return x, contractError(ctx, err)
	}
	done, err := t.loads.Wait(ctx, key) // of many searches of a scope that is not ready, one reads all of it
	if err != nil {
		return nil, contractError(ctx, err)
	}
	defer done()
	x, err := t.refresh(ctx, key)
	if x == nil && err == nil {
		x, err = t.readAll(ctx, key)
	}
	return x, contractError(ctx, err)
}

// refresh returns the scope if it is ready, with what changed since read anew; nil if all is to be read.
func (t *Target) refresh(ctx context.Context, key store.Key) (*index, error) {
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
	return t.readChanged(ctx, key, x, snap)
}

// readChanged reads the segments that an index lacks.
func (t *Target) readChanged(ctx context.Context, key store.Key, x *index, snap *store.Snapshot) (*index, error) {
	have := map[segmentRef]*segment{}
	for _, s := range x.segments {
		have[s.segmentRef] = s
	}
	for range loadAttempts {
		newer, lacks, err := assemble(snap, have)
		if err != nil {
			return nil, err
		}
		if len(lacks) == 0 {
			t.Cache.Put(key, newer, newer.held())
			return newer, nil
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
func (t *Target) readAll(ctx context.Context, key store.Key) (*index, error) {
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
