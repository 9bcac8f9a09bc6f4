package engine

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// PutModelProfile creates or replaces a model's profile in a namespace.
func (e *Engine) PutModelProfile(ctx context.Context, namespace string, p conversation.ModelProfile, r txn.Request) error {
	return e.changeCatalogue(ctx, namespace, catalogueChange{prefix: profileSlot, name: p.Model, value: func([]byte) ([]byte, error) { return record.EncodeModelProfile(&p), nil }}, r)
}

// DeleteModelProfile removes a model's profile.
func (e *Engine) DeleteModelProfile(ctx context.Context, namespace, model string, r txn.Request) error {
	return e.changeCatalogue(ctx, namespace, catalogueChange{prefix: profileSlot, name: model, value: remove, absent: noProfile()}, r)
}

func noProfile() *conversation.Error {
	return conversation.Errorf(conversation.ModelProfileNotFound, "no such model profile")
}

// ModelProfile returns a model's profile: the one that was put, else the one that ships.
func (e *Engine) ModelProfile(ctx context.Context, namespace, model string) (*conversation.ModelProfile, error) {
	c, err := e.catalogue(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if p, known := c.lookUp(model); known {
		return &p, nil
	}
	return nil, noProfile()
}

// ModelProfiles lists the profiles that were put in a namespace by model, after a name. next is empty on the last page.
func (e *Engine) ModelProfiles(ctx context.Context, namespace, after string, limit int) (list []conversation.ModelProfile, next string, err error) {
	c, err := e.catalogue(ctx, namespace)
	if err != nil {
		return nil, "", err
	}
	list, next = page(c.profiles, after, limit)
	return list, next, nil
}

// entry finds an entry by its name.
func entry[K comparable, T any](all map[K]T, name K, absent *conversation.Error) (*T, error) {
	found, ok := all[name]
	if !ok {
		return nil, absent
	}
	return &found, nil
}

// page lists the entries whose names come after one, in order of name. next is the name of the last, empty on the last page.
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

// profile is what is known of a model: nothing for one without a profile.
func (e *Engine) profile(ctx context.Context, namespace, model string) (conversation.ModelProfile, error) {
	if model == "" {
		return conversation.ModelProfile{}, nil
	}
	c, err := e.catalogue(ctx, namespace)
	if err != nil {
		return conversation.ModelProfile{}, err
	}
	p, _ := c.lookUp(model)
	return p, nil
}

// dated is what ends the name of a model's snapshot.
var dated = regexp.MustCompile(`-\d{4}-?\d{2}-?\d{2}$`)

// lookUp finds a model's profile: what an operator put comes before what ships, and a snapshot of a model is as the model.
func (c *catalogue) lookUp(model string) (p conversation.ModelProfile, known bool) {
	for _, name := range []string{model, dated.ReplaceAllString(model, "")} {
		if p, known = c.profiles[name]; known {
			return p, true
		}
		if p, known = c.shipped[name]; known {
			return p, true
		}
	}
	return p, false
}

// ModelUnknown is the code of a degradation: no profile says anything of the model that a build names.
const ModelUnknown = "MODEL_UNKNOWN"

// nameUnknown says that the model of a build is unknown.
func (d *deciding) nameUnknown() {
	if d.Model == "" {
		return
	}
	if _, known := d.settings.catalogue.lookUp(d.Model); known {
		return
	}
	d.degradations = append(d.degradations, Degradation{
		Code: ModelUnknown, Asked: "the profile of the model", Reason: "none was put for it, and none ships",
		Done: "defaults serve where neither the request nor the policy says window and reserve, and for its prices",
	})
}

func (e *Engine) mediaTokens(ctx context.Context, namespace, model string) (int32, error) {
	p, err := e.profile(ctx, namespace, model)
	if err != nil || p.MediaTokens == nil {
		return tokens.MediaDefault, err
	}
	return *p.MediaTokens, nil
}
