package memories

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Dispatch hands a namespace's errands to the worker, so that the sweeper waits for no target.
func (s *Service) Dispatch(ctx context.Context, key store.Key) error {
	if s.Target == nil {
		return s.partitions.lookAt(ctx, key, s.Txn.Now().Add(longestWait), nil) // another process may have a memory
	}
	at, busy := s.worker.busy(key)
	if !busy {
		at = s.Txn.Now()
		s.worker.at(key, at)
	}
	return s.partitions.lookAt(ctx, key, at.Add(sweeperGrace), nil)
}

// lookAt sets when the sweeper is to look at a partition again; zero for never.
func (p *partitions) lookAt(ctx context.Context, key store.Key, at time.Time, seen *store.Head) error {
	return p.txn.Do(ctx, key, func() error {
		snap, err := p.store.Read(ctx, key, store.Query{})
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil || snap.Head.NextDue.Equal(at) || seen != nil && seen.Version != snap.Head.Version {
			return err // something new is due since the head was read
		}
		c := &store.Change{Expect: snap.Head.Version, Head: txn.NextHead(snap.Head, p.txn.Now())}
		c.Head.NextDue = at
		return p.store.Commit(ctx, key, c)
	})
}

// errandsFor is how long a namespace's errands may run before other work gets its turn.
const errandsFor = 30 * time.Second

// forgetDue runs a namespace's due errands, oldest first, until one fails.
func (s *Service) forgetDue(ctx context.Context, key store.Key) (next time.Time, seen verdict, err error) {
	snap, err := s.Unguarded.Read(ctx, key, store.Query{SlotsOf: errandPrefix})
	if errors.Is(err, store.ErrNotFound) {
		return next, seen, nil
	}
	if err != nil {
		return next, seen, err
	}
	begun := s.Txn.Now()
	for _, name := range slices.Sorted(maps.Keys(snap.Slots)) {
		w := &work{service: s, key: key, incarnation: snap.Head.Incarnation, name: name, stored: snap.Slots[name]}
		if err := w.parse(); err != nil {
			return next, seen, err
		}
		if w.Target != s.Target.Name() {
			next = txn.Earliest(next, s.Txn.Now().Add(longestWait)) // it is left to a server that has the target
			continue
		}
		if now := s.Txn.Now(); !w.NextTry.After(now) && !seen.failed && !seen.denied && now.Sub(begun) < errandsFor {
			err = w.run(ctx, &seen)
		}
		if ctx.Err() != nil {
			return next, seen, err
		}
		if err != nil { // an errand that cannot be read holds up no other errand
			s.OnError(err)
			err = nil
			next = txn.Earliest(next, s.Txn.Now().Add(jitter(time.Second, storeFailures)))
			continue
		}
		if !w.over {
			next = txn.Earliest(next, latest(w.NextTry, s.Txn.Now()))
		}
	}
	if next.IsZero() {
		return next, seen, s.partitions.lookAt(ctx, key, next, &snap.Head)
	}
	return next, seen, s.partitions.lookAt(ctx, key, next.Add(sweeperGrace), &snap.Head)
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// work is one errand while it runs.
type work struct {
	record.MemoryErrand
	service     *Service
	key         store.Key
	incarnation [16]byte // of the partition
	name        string
	stored      []byte
	over        bool
}

func (w *work) parse() (err error) {
	w.MemoryErrand, err = record.DecodeMemoryErrand(w.stored)
	return err
}

func (w *work) id() string { return w.name[strings.LastIndexByte(w.name, '/')+1:] }

// run does what is due of an errand, and writes down how far it got.
func (w *work) run(ctx context.Context, seen *verdict) error {
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var over bool
	var err error
	if w.Kind == retractErrand {
		over, err = w.retractDeleted(call)
	} else {
		over, err = w.forgetActor(call)
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil && !isOfTarget(err) && call.Err() == nil:
		return err
	case err != nil:
		w.failed(err, seen)
	default:
		*seen = verdict{reached: true}
		w.Attempts = 0
	}
	return w.save(ctx, over)
}

// isOfTarget reports whether an error is one of the target and not of the store.
func isOfTarget(err error) bool {
	ofTarget := []error{memory.ErrUnavailable, memory.ErrOutcomeUnknown, memory.ErrRefused, memory.ErrDenied}
	return slices.ContainsFunc(ofTarget, func(of error) bool { return errors.Is(err, of) })
}

func (w *work) failed(failure error, seen *verdict) {
	var wait time.Duration
	if errors.Is(failure, memory.ErrRefused) && !errors.Is(failure, memory.ErrDenied) { // the target refused this errand only
		w.State, wait = int32(ForgetFailed), deniedFor
	} else if *seen, wait = verdictOn(failure, w.Attempts); seen.denied {
		w.State = int32(ForgetFailed)
	}
	w.Attempts++
	w.NextTry = w.service.Txn.Now().Add(wait)
}

// save writes down how far an errand got. If another process did so meanwhile, its entry stands; at worst some work is done
// twice.
func (w *work) save(ctx context.Context, over bool) error {
	value := record.EncodeMemoryErrand(&w.MemoryErrand)
	c := &store.Change{
		Aside: true, Head: store.Head{Incarnation: w.incarnation},
		Slots: map[string][]byte{w.name: value}, ExpectSlots: map[string][]byte{w.name: w.stored},
	}
	if over {
		c.Slots[w.name] = nil
		for n := range w.Lineages {
			c.Slots[savedSlot(w.id(), n)] = nil
		}
	}
	err := w.service.Unguarded.Commit(ctx, w.key, c)
	if errors.Is(err, store.ErrConflict) {
		w.NextTry = time.Time{} // next try: at once
		return nil
	}
	w.over, w.stored = over, value
	return err
}
