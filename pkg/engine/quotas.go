package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/quota"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// What namespaces may take, and take.
type (
	// Quota is what a namespace may take; 0 is no limit. Conversations and bytes are those on record, whoever put them there: several
	// processes over one store agree within a look at it. Model calls are counted by process.
	Quota = quota.Limits
	// QuotaUse is how much of one limit of a namespace is used.
	QuotaUse = quota.Use
)

// QuotaUse tells of all limits of the namespaces that were called since the process began, as they are known. It reads no store.
func (e *Engine) QuotaUse() []QuotaUse { return e.quotas.Use() }

// newQuotas returns what holds namespaces to their limits, also where models are asked; nil if there are no limits. Its store shows all
// conversations, whoever calls.
func newQuotas(o *Options, s store.Store, catalogues *catalogue.Reader) *quota.Keeper {
	k := quota.New(&quota.Options{Store: s, Clock: o.Clock, Limits: o.Quotas, Profile: catalogues.Profile, OnError: o.OnError})
	if k != nil {
		o.Summaries.HoldTo(k)
	}
	return k
}
