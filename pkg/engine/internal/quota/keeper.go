// Package quota enforces the limits that an operator set for namespaces: conversations and bytes on record, and the cost of the sidecar's
// own model calls. The use on record is the sum of the heads in the store, which are looked at now and then, plus what this process has
// changed since. Model calls are counted per process.
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

// Limits are the limits of one namespace; 0 means no limit.
type Limits struct {
	Conversations int64   // live ones
	Bytes         int64   // on record, as store.Head counts them
	ModelCalls    int64   // in any minute
	ModelSpend    float64 // US dollars in any minute, at the prices of the models' profiles
}

// The names of limits, as in errors and metrics.
const (
	Conversations = "conversations"
	Bytes         = "bytes"
	ModelCalls    = "model_calls_per_minute"
	ModelSpend    = "model_spend_per_minute"
)

// lister is the part of a store that a keeper reads.
type lister interface {
	List(ctx context.Context, namespace, after string, limit int) ([]store.Entry, error)
}

// Options is what a keeper is made of.
type Options struct {
	Store lister
	Clock func() time.Time
	// Limits is asked with every call, so that new limits apply at once; nil means no limits.
	Limits func(namespace string) Limits
	// Profile returns the profile of a model; the zero profile if the model has none.
	Profile func(ctx context.Context, namespace, model string) (conversation.ModelProfile, error)
	// OnError receives errors of looks at the store.
	OnError func(error)
}

// Keeper enforces the limits of namespaces. It is safe for concurrent use. A nil keeper enforces nothing.
type Keeper struct {
	options Options

	mu       sync.Mutex
	accounts map[string]*account // of namespaces with a limit on conversations or bytes
	calls    map[string]*callLog // of namespaces with a limit on model calls
}

// New returns a keeper; nil if there are no limits.
func New(o *Options) *Keeper {
	if o.Limits == nil {
		return nil
	}
	return &Keeper{options: *o, accounts: map[string]*account{}, calls: map[string]*callLog{}}
}

// account returns the namespace's account. Without limits, the account is dropped: its use is not followed.
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

// Use is the use of one limit of a namespace.
type Use struct {
	Namespace string
	Limit     string // its name
	Used, Max float64
}

// Use returns, in no order, the known use of every limit of every namespace that this process has seen. It does not read the store.
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
