package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/quota"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// The limits of namespaces, and their use.
type (
	// Quota holds the limits of a namespace; 0 means no limit. Conversations and bytes are those on record, whichever process wrote
	// them: processes that share a store agree after their next look at it. Model calls are counted per process.
	Quota = quota.Limits
	// QuotaUse is the use of one limit of a namespace.
	QuotaUse = quota.Use
)

// QuotaUse returns the known use of all limits of the namespaces that were called since the process started. It does not read the
// store.
func (e *Engine) QuotaUse() []QuotaUse { return e.quotas.Use() }

// newQuotas returns the keeper of the namespaces' limits and connects it with the calls of models; nil if there are no limits. Its
// store must show all conversations.
func newQuotas(o *Options, s store.Store, catalogues *catalogue.Reader) *quota.Keeper {
	k := quota.New(&quota.Options{Store: s, Clock: o.Clock, Limits: o.Quotas, Profile: catalogues.Profile, OnError: o.OnError})
	if k != nil {
		o.Summaries.HoldTo(k)
	}
	return k
}
