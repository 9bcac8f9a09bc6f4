package expiry

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// ShowInForce replaces the stored lifetimes of a message and its results by those in force under the conversation's policy. Fields that
// nobody set get their defaults.
func ShowInForce(m *conversation.Message, policy conversation.Expiration) {
	if policy != (conversation.Expiration{}) {
		policy.Source = conversation.SourcePolicy
	}
	inForce := func(part int32, stored *conversation.Expiration) *conversation.Expiration {
		below := policyFor(importanceOf(m, part), policy)
		if !PolicyApplies(m, part) {
			below = conversation.Expiration{}
		}
		e := InForce(stored, below)
		if e == (conversation.Expiration{}) {
			return nil
		}
		e = e.WithDefaults()
		return &e
	}
	if m.Expiration != nil || len(TextParts(m)) > 0 {
		m.Expiration = inForce(MessageText, m.Expiration)
	}
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		if r := m.Parts[i].Result; r != nil {
			shown := *r
			shown.Expiration = inForce(int32(i), r.Expiration)
			m.Parts[i].Result = &shown
		}
	}
}
