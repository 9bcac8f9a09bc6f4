package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// profileSlot is the prefix of the slots that hold model profiles in a namespace's own partition.
const profileSlot = "model/"

// maxProfiles is how many model profiles a namespace holds.
const maxProfiles = 1000

// profileFresh is how long profiles are trusted before the store is asked whether they changed: another process may have.
const profileFresh = time.Second

// profileCache holds the profiles of namespaces.
type profileCache struct {
	mu         sync.Mutex
	namespaces map[string]profiles
}

type profiles struct {
	version uint64
	asked   time.Time
	byModel map[string]conversation.ModelProfile
}

func newProfileCache() *profileCache { return &profileCache{namespaces: make(map[string]profiles)} }

func (e *Engine) profilesOf(ctx context.Context, namespace string) (profiles, error) {
	e.profiles.mu.Lock()
	cached, ok := e.profiles.namespaces[namespace]
	e.profiles.mu.Unlock()
	now := e.clock()
	if ok && now.Sub(cached.asked) < profileFresh {
		return cached, nil
	}
	fresh, err := e.readProfiles(ctx, namespace, cached)
	if err != nil {
		return profiles{}, err
	}
	fresh.asked = now
	e.profiles.mu.Lock()
	e.profiles.namespaces[namespace] = fresh
	e.profiles.mu.Unlock()
	return fresh, nil
}

func (e *Engine) readProfiles(ctx context.Context, namespace string, cached profiles) (profiles, error) {
	snap, err := e.store.Read(ctx, Key{Namespace: namespace}, store.Query{IfNewer: cached.version, SlotsOf: profileSlot})
	if errors.Is(err, store.ErrNotFound) {
		return profiles{}, nil
	}
	if err != nil {
		return profiles{}, failure(err)
	}
	if snap.Head.Version == cached.version {
		return cached, nil
	}
	fresh := profiles{version: snap.Head.Version, byModel: make(map[string]conversation.ModelProfile, len(snap.Slots))}
	for name, value := range snap.Slots {
		var p conversation.ModelProfile
		if err := json.Unmarshal(value, &p); err != nil {
			return profiles{}, conversation.Errorf(conversation.CorruptRecord, "a stored model profile is damaged").Because(err)
		}
		fresh.byModel[strings.TrimPrefix(name, profileSlot)] = p
	}
	return fresh, nil
}

// PutModelProfile creates or replaces a model's profile in a namespace.
func (e *Engine) PutModelProfile(ctx context.Context, namespace string, p conversation.ModelProfile, r Request) error {
	value, err := json.Marshal(p)
	if err != nil {
		return failure(err)
	}
	return e.changeProfile(ctx, namespace, p.Model, value, r)
}

// DeleteModelProfile removes a model's profile.
func (e *Engine) DeleteModelProfile(ctx context.Context, namespace, model string, r Request) error {
	return e.changeProfile(ctx, namespace, model, nil, r)
}

// changeProfile sets or, with a nil value, removes the slot of a model.
func (e *Engine) changeProfile(ctx context.Context, namespace, model string, value []byte, r Request) error {
	key := Key{Namespace: namespace}
	err := e.change(ctx, key, func() error {
		snap, err := e.store.Read(ctx, key, store.Query{SlotsOf: profileSlot, Request: r.key()})
		if errors.Is(err, store.ErrNotFound) {
			snap, err = &store.Snapshot{Head: newHead(e.ids(), e.now())}, nil
		}
		if err != nil {
			return err
		}
		if first, err := e.recall(snap, r); err != nil || first != nil {
			return err
		}
		_, exists := snap.Slots[profileSlot+model]
		switch {
		case value == nil && !exists:
			return noProfile()
		case value != nil && !exists && len(snap.Slots) >= maxProfiles:
			return conversation.Errorf(conversation.LimitExceeded, "a namespace holds at most %d model profiles", maxProfiles)
		}
		c := &store.Change{
			Expect: snap.Head.Version, Head: next(snap.Head, e.now()), Slots: map[string][]byte{profileSlot + model: value},
		}
		e.remember(c, r, store.Outcome{})
		return e.store.Commit(ctx, key, c)
	})
	e.profiles.mu.Lock()
	delete(e.profiles.namespaces, namespace)
	e.profiles.mu.Unlock()
	return err
}

func noProfile() *conversation.Error {
	return conversation.Errorf(conversation.ModelProfileNotFound, "no such model profile")
}

// ModelProfile returns a model's profile.
func (e *Engine) ModelProfile(ctx context.Context, namespace, model string) (*conversation.ModelProfile, error) {
	all, err := e.profilesOf(ctx, namespace)
	if err != nil {
		return nil, err
	}
	p, ok := all.byModel[model]
	if !ok {
		return nil, noProfile()
	}
	return &p, nil
}

// ModelProfiles lists the profiles of a namespace by model, after a name. next is empty on the last page.
func (e *Engine) ModelProfiles(ctx context.Context, namespace, after string, limit int) (list []conversation.ModelProfile, next string, err error) {
	all, err := e.profilesOf(ctx, namespace)
	if err != nil {
		return nil, "", err
	}
	for name, p := range all.byModel {
		if name > after {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b conversation.ModelProfile) int { return strings.Compare(a.Model, b.Model) })
	if len(list) > limit {
		list = list[:limit]
		next = list[limit-1].Model
	}
	return list, next, nil
}

// profile is what is known of a model: nothing for one without a profile.
func (e *Engine) profile(ctx context.Context, namespace, model string) (conversation.ModelProfile, error) {
	if model == "" {
		return conversation.ModelProfile{}, nil
	}
	all, err := e.profilesOf(ctx, namespace)
	return all.byModel[model], err
}

func (e *Engine) mediaTokens(ctx context.Context, namespace, model string) (int32, error) {
	p, err := e.profile(ctx, namespace, model)
	if err != nil || p.MediaTokens == nil {
		return tokens.MediaDefault, err
	}
	return *p.MediaTokens, nil
}
