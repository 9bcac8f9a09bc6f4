package placement

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// Scale weighs messages as behaviour §12 says: their content, and a flat cost for each message and call.
type Scale struct {
	Counter tokens.Counter
	Media   int32 // weight of a piece of media, in tokens
}

// Weigh sets the weights of a message and its parts, in tokens.
func (s Scale) Weigh(m *conversation.Message) {
	m.Tokens, m.Estimated = tokens.PerMessage+s.speaker(m.Name), false
	for i := range m.Parts {
		p := &m.Parts[i]
		s.Part(p)
		m.Tokens += p.Tokens
		m.Estimated = m.Estimated || p.Estimated
	}
}

// speaker weighs the line that names the speaker. Formats with a field for the name weigh the same: a count does not depend
// on the format.
func (s Scale) speaker(name string) int32 {
	if name == "" {
		return 0
	}
	n, _ := s.Counter.Count(provider.SpeakerLine(name))
	return int32(n)
}

// Part sets the weight of a part, in tokens.
func (s Scale) Part(p *conversation.Part) {
	p.Tokens, p.Estimated = 0, false
	switch p.Kind {
	case conversation.PartText:
		s.text(p, p.Text.Inline)
	case conversation.PartMedia:
		p.Tokens = s.Media
	case conversation.PartToolCall:
		p.Tokens = tokens.PerCall
		s.text(p, p.Call.Name)
		s.text(p, p.Call.Arguments.Inline)
	case conversation.PartToolResult:
		s.result(p)
	case conversation.PartReasoning:
		// A provider bills thinking by its words. If the words are hidden, the signature is weighed instead.
		if text := p.Reasoning.Text.Inline; text != "" {
			s.text(p, text)
		} else {
			s.text(p, p.Reasoning.Signature.Inline)
		}
	case conversation.PartOpaque:
		s.text(p, p.Opaque.JSON.Inline)
	}
	if p.Residue != nil {
		s.text(p, provider.WeighedResidue(p.Residue.JSON))
	}
}

func (s Scale) result(p *conversation.Part) {
	if p.Result.Output != conversation.OutputParts {
		s.text(p, p.Result.Text.Inline)
		return
	}
	for i := range p.Result.Parts {
		if p.Result.Parts[i].Media != nil {
			p.Tokens += s.Media
		} else {
			s.text(p, p.Result.Parts[i].Text.Inline)
		}
	}
}

func (s Scale) text(p *conversation.Part, text string) {
	n, estimated := s.Counter.Count(text)
	p.Tokens += int32(n)
	p.Estimated = p.Estimated || estimated
}
