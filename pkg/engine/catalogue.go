package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// The prefixes of the slots of a namespace's own partition: what belongs to no conversation.
const (
	profileSlot = "model/"
	policySlot  = "action/"
	promptSlot  = "prompt/"
)

// maxCatalogue is how many entries of each kind a namespace holds.
const maxCatalogue = 1000

// catalogueFresh is how long a catalogue is trusted before the store is asked whether it changed: another process may have
// changed it.
const catalogueFresh = time.Second

// catalogue is what operators configured for a namespace. It is read only.
type catalogue struct {
	version  uint64
	asked    time.Time
	profiles map[string]conversation.ModelProfile
	shipped  map[string]conversation.ModelProfile // what is known of models that nothing was put for
	policies expiry.Policies
	prompts  map[string]conversation.Prompt
}

// catalogueCache holds the catalogues of namespaces.
type catalogueCache struct {
	mu         sync.Mutex
	namespaces map[string]*catalogue
}

func newCatalogueCache() *catalogueCache {
	return &catalogueCache{namespaces: make(map[string]*catalogue)}
}

func (c *catalogueCache) get(namespace string) *catalogue {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.namespaces[namespace]
}

func (c *catalogueCache) put(namespace string, entry *catalogue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.namespaces[namespace] = entry
}

// catalogue returns what is configured in a namespace.
func (e *Engine) catalogue(ctx context.Context, namespace string) (*catalogue, error) {
	cached, now := e.catalogues.get(namespace), e.clock()
	if cached != nil && now.Sub(cached.asked) < catalogueFresh {
		return cached, nil
	}
	if cached == nil {
		cached = &catalogue{}
	}
	fresh, err := e.readCatalogue(ctx, namespace, cached)
	if err != nil {
		return nil, err
	}
	current := *fresh
	current.asked, current.shipped = now, e.models
	e.catalogues.put(namespace, &current)
	return &current, nil
}

func (e *Engine) readCatalogue(ctx context.Context, namespace string, cached *catalogue) (*catalogue, error) {
	key := Key{Namespace: namespace}
	for {
		snap, err := e.store.Read(ctx, key, store.Query{IfNewer: cached.version, SlotsOf: profileSlot})
		if errors.Is(err, store.ErrNotFound) {
			return &catalogue{}, nil
		}
		if err != nil {
			return nil, txn.Failure(err)
		}
		if snap.Head.Version == cached.version {
			return cached, nil
		}
		fresh, whole, err := e.assembleCatalogue(ctx, key, snap)
		if err != nil || whole {
			return fresh, err
		}
	}
}

// assembleCatalogue reads the other kinds too; whole is false if the namespace changed meanwhile.
func (e *Engine) assembleCatalogue(ctx context.Context, key Key, snap *store.Snapshot) (c *catalogue, whole bool, err error) {
	c = &catalogue{version: snap.Head.Version, policies: expiry.Policies{}}
	if c.profiles, err = entries(snap.Slots, profileSlot, record.DecodeModelProfile); err != nil {
		return nil, false, err
	}
	for _, prefix := range []string{policySlot, promptSlot} {
		more, err := e.store.Read(ctx, key, store.Query{SlotsOf: prefix})
		if err != nil {
			return nil, false, txn.Failure(err)
		}
		if more.Head.Version != c.version {
			return nil, false, nil
		}
		if err := c.take(prefix, more.Slots); err != nil {
			return nil, false, err
		}
	}
	return c, true, nil
}

func (c *catalogue) take(prefix string, slots map[string][]byte) (err error) {
	if prefix == promptSlot {
		c.prompts, err = entries(slots, prefix, record.DecodePrompt)
		return err
	}
	policies, err := entries(slots, prefix, record.DecodeActionPolicy)
	for _, p := range policies {
		c.policies[p.Key] = p
	}
	return err
}

func entries[T any](slots map[string][]byte, prefix string, decode func([]byte) (T, error)) (map[string]T, error) {
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

// catalogueChange is one change of an entry.
type catalogueChange struct {
	prefix, name string
	// value makes the new entry from the old one, nil if there is none; a nil result removes it.
	value func(old []byte) ([]byte, error)
	// version of the new entry, for a retry to be told; nil for entries without one.
	version *int32
	absent  *conversation.Error // when there is nothing to remove
}

func remove([]byte) ([]byte, error) { return nil, nil }

// changeCatalogue changes an entry of a namespace. A request that was answered before changes nothing; its version is told again.
func (e *Engine) changeCatalogue(ctx context.Context, namespace string, ch catalogueChange, r txn.Request) error {
	key := Key{Namespace: namespace}
	err := e.txn.Do(ctx, key, func() error {
		snap, err := e.store.Read(ctx, key, store.Query{SlotsOf: ch.prefix, Request: r.Key()})
		if errors.Is(err, store.ErrNotFound) {
			snap, err = &store.Snapshot{Head: newHead(e.ids(), e.txn.Now())}, nil
		}
		if err != nil {
			return err
		}
		first, err := e.txn.Recall(snap, r)
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
			Expect: snap.Head.Version, Head: txn.NextHead(snap.Head, e.txn.Now()), Slots: map[string][]byte{ch.prefix + ch.name: value},
		}
		outcome := store.Outcome{}
		if ch.version != nil {
			outcome.Revision = int64(*ch.version)
		}
		txn.Remember(c, r, outcome)
		return e.store.Commit(ctx, key, c)
	})
	e.catalogues.put(namespace, nil)
	return err
}

// next is the new value of the entry.
func (ch *catalogueChange) next(slots map[string][]byte) ([]byte, error) {
	old, exists := slots[ch.prefix+ch.name]
	value, err := ch.value(old)
	switch {
	case err != nil:
		return nil, err
	case value == nil && !exists:
		return nil, ch.absent
	case value != nil && !exists && len(slots) >= maxCatalogue:
		return nil, conversation.Errorf(conversation.LimitExceeded, "a namespace holds at most %d of them", maxCatalogue)
	case len(value) > store.MaxSlot:
		return nil, conversation.Errorf(conversation.LimitExceeded, "the entry takes more than %d bytes", store.MaxSlot)
	}
	return value, nil
}
