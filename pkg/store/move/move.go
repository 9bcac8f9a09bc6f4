// Package move copies everything that one store holds into another, of whatever kind: to change the store, to back it up, to restore it.
// Conversations go one by one. The head comes last, so that a conversation is in the new store whole or not at all, and a copy that was
// interrupted goes on where it ended. Each is read again from the
// target and compared by SHA-256.
//
// What no commit refers to, unfinished uploads and what waits to be deleted, stays behind.
package move

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Options say how to copy.
type Options struct {
	// Online copies from a store that is written to meanwhile. Each conversation is copied as it was at one moment, not all at the same. Without
	// it the source is sealed first, and stays so.
	Online bool
	// Progress, if set, is told after each conversation.
	Progress func(Report)
	// Now is the time that unfinished copies count from; time.Now if it is nil.
	Now func() time.Time
}

// Report counts what was copied.
type Report struct {
	Names    int64 // conversations and namespaces' own partitions
	Present  int64 // of them, those that were there already
	Messages int64
	Contents int64
	Bytes    int64 // of records and contents, uncompressed
}

// A conversation that moves while it is copied is begun again, after a pause that grows; one that never rests is put off to the end, and
// begun again there so often.
const (
	maxRestarts  = 10
	firstPause   = 5 * time.Millisecond
	lastRestarts = 3 * maxRestarts
)

const (
	atOnce       = 16 // conversations
	namesPage    = 256
	recordsPage  = 256
	tokensPage   = 100_000 // of messages on a page: some 400 kB of text
	outcomesPage = 1000
	contentsPage = 1000
)

var (
	errMoved = errors.New("the conversation moved while it was copied")
	errGone  = errors.New("the conversation is gone")
)

// ErrBusy says that conversations were written to all the time, and are missing in the copy. All others are there.
var ErrBusy = errors.New("conversations that were written to all the time are missing in the copy")

// ErrSame says that source and target are one store.
var ErrSame = errors.New("source and target are the same store")

// ErrDiffers says that a conversation is not the same in both stores.
var ErrDiffers = errors.New("a conversation differs in the two stores")

// Copy copies all that one store holds into another, which may hold part of it already.
func Copy(ctx context.Context, from, to store.Store, o Options) (Report, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &copier{from: from, to: to, options: o, codec: record.New()}
	if err := c.probe(ctx); err != nil {
		return c.report, err
	}
	if !o.Online {
		if err := from.Seal(ctx, true); err != nil {
			return c.report, fmt.Errorf("seal the source: %w", err)
		}
	}
	err := c.all(ctx)
	if err == nil {
		err = c.putOff(ctx)
	}
	return c.report, err
}

// probe writes something to the target, looks for it in the source, and takes it away again: before anything is sealed, a target that takes
// no writes or is the source itself is refused.
func (c *copier) probe(ctx context.Context) error {
	var id conversation.ID
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	u := &store.Upload{Incarnation: id, Time: c.options.Now(), Outcomes: []store.Outcome{{Key: store.RequestKey{RPC: "probe"}}}}
	if err := c.to.Stage(ctx, store.Key{}, u); err != nil {
		return fmt.Errorf("write the target: %w", err)
	}
	_, err := c.from.Read(ctx, store.Key{}, store.Query{Incarnation: id})
	if err == nil {
		err = ErrSame
	} else if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return errors.Join(err, c.clear(ctx, store.Key{}, id, true))
}

// all copies the conversations, several at once: where each write waits for a disk or a network, they wait together.
func (c *copier) all(ctx context.Context) error {
	caller := ctx
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for after := (*store.Key)(nil); ctx.Err() == nil; {
		keys, err := c.from.Names(ctx, after, namesPage)
		if err != nil {
			return errors.Join(fmt.Errorf("list the source: %w", err), group.Wait())
		}
		if len(keys) == 0 {
			break
		}
		for _, key := range keys {
			group.Go(func() error { return c.copyOrPutOff(ctx, key) })
		}
		after = &keys[len(keys)-1]
	}
	return errors.Join(group.Wait(), caller.Err())
}

type copier struct {
	from, to store.Store
	options  Options
	codec    *record.Codec

	mu     sync.Mutex
	report Report
	busy   []store.Key
}

// putOff copies what was written to all the time, one by one, and says how much of it is missing in the end.
func (c *copier) putOff(ctx context.Context) error {
	missing := 0
	for _, key := range c.busy {
		err := c.conversation(ctx, key, lastRestarts)
		if errors.Is(err, errMoved) {
			missing++
			continue
		}
		if err != nil {
			return err
		}
	}
	if missing > 0 {
		return fmt.Errorf("%w: %d", ErrBusy, missing)
	}
	return nil
}

// copyOrPutOff is conversation, for one of many.
func (c *copier) copyOrPutOff(ctx context.Context, key store.Key) error {
	err := c.conversation(ctx, key, maxRestarts)
	if !errors.Is(err, errMoved) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = append(c.busy, key)
	return nil
}

// count adds to the report, and tells of it.
func (c *copier) count(more Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Names += more.Names
	c.report.Present += more.Present
	c.report.Messages += more.Messages
	c.report.Contents += more.Contents
	c.report.Bytes += more.Bytes
	if c.options.Progress != nil {
		c.options.Progress(c.report)
	}
}

// conversation copies one conversation, or a namespace's own partition, and compares it. Errors do not name it: names are callers' words.
func (c *copier) conversation(ctx context.Context, key store.Key, restarts int) error {
	pause := firstPause
	for try := 1; ; try++ {
		done, err := c.once(ctx, key)
		switch {
		case errors.Is(err, errMoved) && try < restarts:
			if err := store.Pause(ctx, pause); err != nil {
				return err
			}
			pause = min(2*pause, 100*firstPause)
			continue
		case errors.Is(err, errGone) && c.options.Online:
			return nil
		case err == nil:
			c.count(done)
		}
		return err
	}
}

func (c *copier) once(ctx context.Context, key store.Key) (Report, error) {
	first, err := c.from.Read(ctx, key, store.Query{Info: true})
	if errors.Is(err, store.ErrNotFound) {
		return Report{}, fmt.Errorf("read the source: %w: %w", errGone, err)
	}
	if err != nil {
		return Report{}, fmt.Errorf("read the source: %w", err)
	}
	there, err := c.present(ctx, key, &first.Head)
	if err != nil {
		return Report{}, err
	}
	source := &reader{store: c.from, key: key, head: first.Head, info: first.Info, online: c.options.Online}
	read := c.write
	if there {
		read = c.digest
	}
	want, err := read(ctx, source)
	if err != nil {
		return Report{}, err
	}
	done := Report{Names: 1, Messages: want.messages, Contents: want.contents, Bytes: want.bytes}
	if there {
		done.Present = 1
	}
	return done, c.compare(ctx, key, want)
}

// present says whether the target has the conversation already, and refuses one that it has as something else.
func (c *copier) present(ctx context.Context, key store.Key, head *store.Head) (bool, error) {
	snap, err := c.to.Read(ctx, key, store.Query{})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, c.clear(ctx, key, head.Incarnation, false)
	case err != nil:
		return false, fmt.Errorf("read the target: %w", err)
	case snap.Head.Incarnation != head.Incarnation || snap.Head.Version != head.Version:
		return false, fmt.Errorf("%w: the target holds another of its name, or another version of it", ErrDiffers)
	default:
		return true, nil
	}
}

// clear removes what is left in the target of a copy that was interrupted, or that moved. What cannot be read there may be half deleted,
// which is told when it is written to.
func (c *copier) clear(ctx context.Context, key store.Key, incarnation conversation.ID, unread bool) error {
	if !unread {
		if _, err := c.to.Read(ctx, key, store.Query{Incarnation: incarnation}); errors.Is(err, store.ErrNotFound) {
			return nil
		}
	}
	for {
		done, err := c.to.Delete(ctx, key, store.Deletion{Incarnation: incarnation})
		if err != nil {
			return fmt.Errorf("clear the target: %w", err)
		}
		if done {
			return nil
		}
	}
}

// write stages all records in the target and commits the head, and returns what it has read.
func (c *copier) write(ctx context.Context, r *reader) (*digest, error) {
	d := newDigest(c.codec, r)
	err := r.records(ctx, func(u *store.Upload) error {
		u.Incarnation, u.Time = r.head.Incarnation, c.options.Now()
		if err := c.wrote(ctx, r, c.to.Stage(ctx, r.key, u)); err != nil {
			return err
		}
		return d.add(u)
	})
	if err != nil {
		return nil, err
	}
	head := r.head
	head.Epoch = ""
	return d, c.wrote(ctx, r, c.to.Commit(ctx, r.key, &store.Change{Head: head, Info: r.info}))
}

// wrote is the error of a write to the target: where somebody swept what was staged, the copy begins again.
func (c *copier) wrote(ctx context.Context, r *reader, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return errors.Join(c.clear(ctx, r.key, r.head.Incarnation, true), errMoved)
	default:
		return fmt.Errorf("write the target: %w", err)
	}
}

// digest reads a conversation.
func (c *copier) digest(ctx context.Context, r *reader) (*digest, error) {
	d := newDigest(c.codec, r)
	return d, r.records(ctx, d.add)
}

// compare reads the conversation from the target.
func (c *copier) compare(ctx context.Context, key store.Key, want *digest) error {
	snap, err := c.to.Read(ctx, key, store.Query{Info: true})
	if err != nil {
		return fmt.Errorf("read the target: %w", err)
	}
	got, err := c.digest(ctx, &reader{store: c.to, key: key, head: snap.Head, info: snap.Info})
	if err != nil {
		return fmt.Errorf("read the target: %w", err)
	}
	if got.total != want.total {
		return ErrDiffers
	}
	return nil
}
