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
		return p.Reasoning.Provider == s.Traits.Provider && p.Reasoning.Signature.Inline != "" && s.Reads(model)
	case conversation.PartOpaque:
		return p.Opaque.Provider == s.Traits.Provider && s.Reads(l.Model)
	default:
		return false
	}
}

// Reads reports whether private blocks of one model, such as reasoning, may be sent to the model that is called.
func (s *UnitWriter) Reads(writer string) bool {
	return SameModel(s.Context.Model, writer) || s.Traits.Reads != nil && s.Traits.Reads(s.Context.Model, writer)
}
