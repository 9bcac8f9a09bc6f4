// Package quota holds namespaces to the limits that their operator set: conversations and bytes on record, and what the sidecar's own model
// calls take. Use on record is the sum of the heads in the store, looked at now and then, and what this process changed since; model calls
// are counted by process.
package quota

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Limits are those of one namespace. 0 is no limit.
type Limits struct {
	Conversations int64   // that live
	Bytes         int64   // on record, as store.Head counts them
	ModelCalls    int64   // in any minute
	ModelSpend    float64 // US dollars in any minute, by the prices of models' profiles
}

// The names of limits, as errors and metrics have them.
const (
	Conversations = "conversations"
	Bytes         = "bytes"
	ModelCalls    = "model_calls_per_minute"
	ModelSpend    = "model_spend_per_minute"
)

// lister is what a keeper reads of a store.
type lister interface {
	List(ctx context.Context, namespace, after string, limit int) ([]store.Entry, error)
}

// Options is what a keeper is made of.
type Options struct {
	Store lister
	Clock func() time.Time
	// Limits are asked for with every call, so that new ones take effect at once; nil is no limit for anybody.
	Limits func(namespace string) Limits
	// Profile is what is known of a model; nothing for one without a profile.
	Profile func(ctx context.Context, namespace, model string) (conversation.ModelProfile, error)
	// OnError is told of looks at the store that failed.
	OnError func(error)
}

// Keeper holds namespaces to their limits. It is safe for concurrent use; a nil keeper holds nobody.
type Keeper struct {
	options Options

	mu       sync.Mutex
	accounts map[string]*account // of namespaces with a limit on what is on record
	calls    map[string]*callLog // of those with a limit on model calls
}

// New returns a keeper, nil if there are no limits.
func New(o *Options) *Keeper {
	if o.Limits == nil {
		return nil
	}
	return &Keeper{options: *o, accounts: map[string]*account{}, calls: map[string]*callLog{}}
}

// account is the namespace's account. That of one without limits is forgotten: what it does is not followed.
func (k *Keeper) account(namespace string, limits Limits) *account {
	k.mu.Lock()
	defer k.mu.Unlock()
	if limits.Conversations <= 0 && limits.Bytes <= 0 {
		delete(k.accounts, namespace)
		return nil
	}
	a := k.accounts[namespace]
	if a == nil {
		a = &account{keeper: k, namespace: namespace, pending: map[*Reservation]struct{}{}}
		k.accounts[namespace] = a
	}
	return a
}

// Use is how much of a limit is used.
type Use struct {
	Namespace string
	Limit     string // its name
	Used, Max float64
}

// Use tells of every limit of every namespace that this process has seen, as it is known: it reads no store. The order is none.
func (k *Keeper) Use() []Use {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	accounts, calls := slices.Collect(maps.Values(k.accounts)), maps.Clone(k.calls)
	k.mu.Unlock()
	var out []Use
	add := func(namespace, limit string, used, most float64) {
		if most > 0 {
			out = append(out, Use{namespace, limit, used, most})
		}
	}
	for _, a := range accounts {
		limits, used := k.options.Limits(a.namespace), a.used()
		add(a.namespace, Conversations, float64(used.conversations), float64(limits.Conversations))
		add(a.namespace, Bytes, float64(used.bytes), float64(limits.Bytes))
	}
	for namespace, c := range calls {
		limits := k.options.Limits(namespace)
		n, spend := c.lastMinute(k.options.Clock())
		add(namespace, ModelCalls, float64(n), float64(limits.ModelCalls))
		add(namespace, ModelSpend, spend, limits.ModelSpend)
	}
	return out
}
