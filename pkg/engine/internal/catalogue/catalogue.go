// Package catalogue holds what operators configure in namespaces: model profiles, action policies and prompts. Each namespace has a
// partition of its own. A reader trusts what it has read for a second.
package catalogue

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// The prefixes of the slots in a namespace's own partition, which belong to no conversation.
const (
	profileSlot = "model/"
	policySlot  = "action/"
	promptSlot  = "prompt/"
)

// maxEntries is how many entries of each kind a namespace holds.
const maxEntries = 1000

// freshFor is how long a catalogue is trusted before the store is asked whether another process changed it.
const freshFor = time.Second

// Entries is what operators configured for a namespace. It must not be changed.
type Entries struct {
	version  uint64
	asked    time.Time
	profiles map[string]conversation.ModelProfile
	shipped  map[string]conversation.ModelProfile // the profiles of models that nothing was put for
	Policies expiry.Policies
	prompts  map[string]conversation.Prompt
}

// Reader reads what is configured in namespaces.
type Reader struct {
	store   store.Store
	clock   func() time.Time
	shipped map[string]conversation.ModelProfile

	mu         sync.Mutex
	namespaces map[string]*Entries
}

// NewReader returns a reader. shipped are the profiles of models that nothing was put for.
func NewReader(s store.Store, clock func() time.Time, shipped map[string]conversation.ModelProfile) *Reader {
	return &Reader{store: s, clock: clock, shipped: shipped, namespaces: make(map[string]*Entries)}
}

func (c *Reader) get(namespace string) *Entries {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.namespaces[namespace]
}

func (c *Reader) replace(namespace string, entry *Entries) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.namespaces[namespace] = entry
}

// Read returns what is configured in a namespace.
func (c *Reader) Read(ctx context.Context, namespace string) (*Entries, error) {
	cached, now := c.get(namespace), c.clock()
	if cached != nil && now.Sub(cached.asked) < freshFor {
		return cached, nil
	}
	if cached == nil {
		cached = &Entries{}
	}
	fresh, err := c.readCatalogue(ctx, namespace, cached)
	if err != nil {
		return nil, err
	}
	current := *fresh
	current.asked, current.shipped = now, c.shipped
	c.replace(namespace, &current)
	return &current, nil
}

func (c *Reader) readCatalogue(ctx context.Context, namespace string, cached *Entries) (*Entries, error) {
	key := store.Key{Namespace: namespace}
	for {
		snap, err := c.store.Read(ctx, key, store.Query{IfNewer: cached.version, SlotsOf: profileSlot})
		if errors.Is(err, store.ErrNotFound) {
			return &Entries{}, nil
		}
		if err != nil {
			return nil, txn.Failure(err)
		}
		if snap.Head.Version == cached.version {
			return cached, nil
		}
		fresh, whole, err := c.assembleCatalogue(ctx, key, snap)
		if err != nil || whole {
			return fresh, err
		}
	}
}

// assembleCatalogue reads the kinds that snap lacks. whole is false if the namespace changed in between.
func (c *Reader) assembleCatalogue(ctx context.Context, key store.Key, snap *store.Snapshot) (out *Entries, whole bool, err error) {
	out = &Entries{version: snap.Head.Version, Policies: expiry.Policies{}}
	if out.profiles, err = decodeAll(snap.Slots, profileSlot, record.DecodeModelProfile); err != nil {
		return nil, false, err
	}
	for _, prefix := range []string{policySlot, promptSlot} {
		more, err := c.store.Read(ctx, key, store.Query{SlotsOf: prefix})
		if err != nil {
			return nil, false, txn.Failure(err)
		}
		if more.Head.Version != out.version {
			return nil, false, nil
		}
		if err := out.add(prefix, more.Slots); err != nil {
			return nil, false, err
		}
	}
	return out, true, nil
}

func (c *Entries) add(prefix string, slots map[string][]byte) (err error) {
	if prefix == promptSlot {
		c.prompts, err = decodeAll(slots, prefix, record.DecodePrompt)
		return err
	}
	policies, err := decodeAll(slots, prefix, record.DecodeActionPolicy)
	for _, p := range policies {
		c.Policies[p.Key] = p
	}
	return err
}

func decodeAll[T any](slots map[string][]byte, prefix string, decode func([]byte) (T, error)) (map[string]T, error) {
	out := make(map[string]T, len(slots))
	for name, value := range slots {
		entry, err := decode(value)
		if err != nil {
			return nil, conversation.Errorf(conversation.CorruptRecord, "a stored entry of the catalogue is damaged").Because(err)
		}
		out[strings.TrimPrefix(name, prefix)] = entry
	}
	return out, nil
}

// entryChange is one change of an entry.
type entryChange struct {
	prefix, name string
	// value makes the new entry from the old one, which is nil if there is none. A nil result removes the entry.
	value func(old []byte) ([]byte, error)
	// version is set to the version of the new entry, also when a retry is answered; nil for entries without a version.
	version *int32
	absent  *conversation.Error // the error if there is nothing to remove
}

func remove([]byte) ([]byte, error) { return nil, nil }

// change changes an entry of a namespace. If the request was answered before, it changes nothing and returns the same version again.
func (a *Admin) change(ctx context.Context, namespace string, ch entryChange, r txn.Request) error {
	key := store.Key{Namespace: namespace}
	err := a.txn.Do(ctx, key, func() error {
		snap, err := a.store.Read(ctx, key, store.Query{SlotsOf: ch.prefix, Request: r.Key()})
		if errors.Is(err, store.ErrNotFound) {
			snap, err = &store.Snapshot{Head: txn.NewHead(a.ids(), a.txn.Now())}, nil
		}
		if err != nil {
			return err
		}
		first, err := a.txn.Recall(snap, r)
		if err != nil {
			return err
		}
		if first != nil {
			if ch.version != nil {
				*ch.version = int32(first.Revision)
			}
			return nil
		}
		value, err := ch.next(snap.Slots)
		if err != nil {
			return err
		}
		c := &store.Change{
			Expect: snap.Head.Version, Head: txn.NextHead(snap.Head, a.txn.Now()), Slots: map[string][]byte{ch.prefix + ch.name: value},
		}
		outcome := store.Outcome{}
		if ch.version != nil {
			outcome.Revision = int64(*ch.version)
		}
		txn.Remember(c, r, outcome)
		return a.store.Commit(ctx, key, c)
	})
	a.catalogues.replace(namespace, nil)
	return err
}

// next returns the new value of the entry.
func (ch *entryChange) next(slots map[string][]byte) ([]byte, error) {
	old, exists := slots[ch.prefix+ch.name]
	value, err := ch.value(old)
	switch {
	case err != nil:
		return nil, err
	case value == nil && !exists:
		return nil, ch.absent
	case value != nil && !exists && len(slots) >= maxEntries:
		return nil, conversation.Errorf(conversation.LimitExceeded, "a namespace holds at most %d of them", maxEntries)
	case len(value) > store.MaxSlot:
		return nil, conversation.Errorf(conversation.LimitExceeded, "the entry takes more than %d bytes", store.MaxSlot)
	}
	return value, nil
}
