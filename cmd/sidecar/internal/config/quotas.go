package config

import (
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/bytesize"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// QuotaFlags are the limits of namespaces for which the file of credentials says nothing else.
type QuotaFlags struct {
	QuotaConversations int64         `help:"Conversations that a namespace may hold; 0: no limit. The file of credentials may set this and the next four for single namespaces (docs/quotas.md)." env:"PALIMPSEST_QUOTA_CONVERSATIONS" default:"0" placeholder:"N"`
	QuotaBytes         bytesize.Size `help:"Bytes of messages and contents that a namespace may hold, such as 10GiB; 0: no limit." env:"PALIMPSEST_QUOTA_BYTES" default:"0" placeholder:"SIZE"`
	QuotaModelCalls    int64         `help:"Model calls that a namespace's summaries may take in a minute; 0: no limit." env:"PALIMPSEST_QUOTA_MODEL_CALLS" default:"0" placeholder:"N"`
	QuotaModelSpend    float64       `help:"US dollars that they may cost in a minute, by the prices in models' profiles (without prices: nothing); 0: no limit." env:"PALIMPSEST_QUOTA_MODEL_SPEND" default:"0" placeholder:"DOLLARS"`
	QuotaRequests      int64         `help:"Requests of a namespace that may be in flight; 0: no limit." env:"PALIMPSEST_QUOTA_REQUESTS" default:"0" placeholder:"N"`
}

func (s *QuotaFlags) checkQuotas() error {
	return unless(min(s.QuotaConversations, int64(s.QuotaBytes), s.QuotaModelCalls, s.QuotaRequests) >= 0 && s.QuotaModelSpend >= 0,
		"--quota-conversations, --quota-bytes, --quota-model-calls, --quota-model-spend and --quota-requests must be 0 or more")
}

// Quotas are the limits of what a namespace may hold and ask of models: the file's, else the flags'. The file may change with every call.
func (s *QuotaFlags) Quotas(authenticator *access.Authenticator) func(namespace string) engine.Quota {
	return func(namespace string) engine.Quota {
		own := authenticator.Limits(namespace)
		return engine.Quota{
			Conversations: conversation.ValueOr(own.Conversations, s.QuotaConversations),
			Bytes:         int64(conversation.ValueOr(own.Bytes, s.QuotaBytes)),
			ModelCalls:    conversation.ValueOr(own.ModelCallsPerMinute, s.QuotaModelCalls),
			ModelSpend:    conversation.ValueOr(own.ModelSpendPerMinute, s.QuotaModelSpend),
		}
	}
}

// RequestLimit is how many requests of a namespace may be in flight.
func (s *QuotaFlags) RequestLimit(authenticator *access.Authenticator) func(namespace string) int64 {
	return func(namespace string) int64 {
		return conversation.ValueOr(authenticator.Limits(namespace).RequestsInFlight, s.QuotaRequests)
	}
}
