package catalogue

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// Admin changes and lists what operators configure in namespaces: model profiles, action policies and prompts.
type Admin struct {
	catalogues *Reader
	store      store.Store
	txn        *txn.Manager
	ids        func() conversation.ID
	summaries  modelChecker
}

// modelChecker reports whether a server can ask some model for summaries with a prompt.
type modelChecker interface {
	CanAsk(*conversation.Prompt) bool
}

// NewAdmin returns an Admin that changes the entries which the reader reads.
func NewAdmin(c *Reader, s store.Store, t *txn.Manager, ids func() conversation.ID, summaries modelChecker) *Admin {
	return &Admin{catalogues: c, store: s, txn: t, ids: ids, summaries: summaries}
}

// PutModelProfile creates or replaces a model's profile in a namespace.
func (a *Admin) PutModelProfile(ctx context.Context, namespace string, p conversation.ModelProfile, r txn.Request) error {
	return a.change(ctx, namespace, entryChange{prefix: profileSlot, name: p.Model, value: func([]byte) ([]byte, error) { return record.EncodeModelProfile(&p), nil }}, r)
}

// DeleteModelProfile removes a model's profile.
func (a *Admin) DeleteModelProfile(ctx context.Context, namespace, model string, r txn.Request) error {
	return a.change(ctx, namespace, entryChange{prefix: profileSlot, name: model, value: remove, absent: noProfile()}, r)
}

func noProfile() *conversation.Error {
	return conversation.Errorf(conversation.ModelProfileNotFound, "no such model profile")
}

// ModelProfile returns a model's profile: the one that was put or, without one, the shipped one.
func (a *Admin) ModelProfile(ctx context.Context, namespace, model string) (*conversation.ModelProfile, error) {
	c, err := a.catalogues.Read(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if p, known := c.Profile(model); known {
		return &p, nil
	}
	return nil, noProfile()
}

// ModelProfiles lists the profiles that were put in a namespace for models whose names come after a name, in order. next is empty on the
// last page.
func (a *Admin) ModelProfiles(ctx context.Context, namespace, after string, limit int) (list []conversation.ModelProfile, next string, err error) {
	c, err := a.catalogues.Read(ctx, namespace)
	if err != nil {
		return nil, "", err
	}
	list, next = page(c.profiles, after, limit)
	return list, next, nil
}

// find returns the entry with a name.
func find[K comparable, T any](all map[K]T, name K, absent *conversation.Error) (*T, error) {
	found, ok := all[name]
	if !ok {
		return nil, absent
	}
	return &found, nil
}

// page lists the entries whose names come after a name, in order of name. next is the name of the last one; it is empty on the last page.
func page[T any](all map[string]T, after string, limit int) (list []T, next string) {
	names := slices.SortedFunc(maps.Keys(all), cmp.Compare[string])
	at, _ := slices.BinarySearch(names, after+"\x00")
	names = names[at:]
	if len(names) > limit {
		names = names[:limit]
		next = names[limit-1]
	}
	for _, name := range names {
		list = append(list, all[name])
	}
	return list, next
}

// Profile returns the profile of a model; the zero profile if the model has none.
func (c *Reader) Profile(ctx context.Context, namespace, model string) (conversation.ModelProfile, error) {
	if model == "" {
		return conversation.ModelProfile{}, nil
	}
	in, err := c.Read(ctx, namespace)
	if err != nil {
		return conversation.ModelProfile{}, err
	}
	p, _ := in.Profile(model)
	return p, nil
}

// Parts of model names that are not the name of the model itself: the date of a snapshot at the end, and what platforms put before and
// behind the name, such as models/NAME, openai/NAME and us.anthropic.NAME-v1:0.
var (
	dated    = regexp.MustCompile(`[-@]\d{4}-?\d{2}-?\d{2}$`)
	platform = regexp.MustCompile(`^(?:.*/)?(?:(?:[a-z-]+\.)?anthropic\.)?|-v\d+(?::\d+)?$`)
)

// Profile finds a model's profile. One that an operator put comes before a shipped one. A snapshot of a model, and the model on another
// platform, have the profile of the model.
func (c *Entries) Profile(model string) (p conversation.ModelProfile, known bool) {
	bare := platform.ReplaceAllString(model, "")
	for _, name := range []string{model, dated.ReplaceAllString(model, ""), bare, dated.ReplaceAllString(bare, "")} {
		if p, known = c.profiles[name]; known {
			return p, true
		}
		if p, known = c.shipped[name]; known {
			return p, true
		}
	}
	return p, false
}

// MediaTokens returns how many tokens one piece of media weighs for a model, as its profile says, or the default.
func (c *Reader) MediaTokens(ctx context.Context, namespace, model string) (int32, error) {
	p, err := c.Profile(ctx, namespace, model)
	if err != nil || p.MediaTokens == nil {
		return tokens.MediaDefault, err
	}
	return *p.MediaTokens, nil
}
