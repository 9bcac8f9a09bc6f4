package provider

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Native reports whether a provider's reasoning or opaque block in a line may be sent back to the model that is called.
func (s *UnitWriter) Native(l *Line, p *conversation.Part) bool {
	switch p.Kind {
	case conversation.PartReasoning:
		model := p.Reasoning.Model
		if model == "" {
			model = l.Model
		}
		return p.Reasoning.Provider == s.Traits.Provider && p.Reasoning.Signature.Inline != "" && SameModel(s.Context.Model, model)
	case conversation.PartOpaque:
		return p.Opaque.Provider == s.Traits.Provider && SameModel(s.Context.Model, l.Model)
	default:
		return false
	}
}
