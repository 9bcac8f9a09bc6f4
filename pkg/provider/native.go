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

// SameModel reports whether reasoning of one model may be sent to another. An empty name matches any; a release date at the end is ignored,
// because providers answer a request for an alias with the name of the release.
func SameModel(a, b string) bool {
	return a == "" || b == "" || a == b || undated(a) == undated(b)
}

// undated removes a release date, eight digits with optional hyphens, and the separator before it.
func undated(model string) string {
	digits := 0
	for i := len(model) - 1; i > 0; i-- {
		switch c := model[i]; {
		case digits == 8:
			if c == '-' || c == '@' {
				return model[:i]
			}
			return model
		case '0' <= c && c <= '9':
			digits++
		case c != '-':
			return model
		}
	}
	return model
}
