package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// scale weighs messages by behaviour §12: content, and flat costs per message and per call.
type scale struct {
	counter tokens.Counter
	media   int32
}

func (s scale) weigh(m *conversation.Message) {
	m.Tokens, m.Estimated = tokens.PerMessage+s.speaker(m.Name), false
	for i := range m.Parts {
		p := &m.Parts[i]
		s.part(p)
		m.Tokens += p.Tokens
		m.Estimated = m.Estimated || p.Estimated
	}
}

// speaker weighs the line that says who speaks, for formats with a field for it as well: a count is no format's.
func (s scale) speaker(name string) int32 {
	if name == "" {
		return 0
	}
	n, _ := s.counter.Count(provider.SpeakerLine(name))
	return int32(n)
}

func (s scale) part(p *conversation.Part) {
	p.Tokens, p.Estimated = 0, false
	switch p.Kind {
	case conversation.PartText:
		s.text(p, p.Text.Inline)
	case conversation.PartMedia:
		p.Tokens = s.media
	case conversation.PartToolCall:
		p.Tokens = tokens.PerCall
		s.text(p, p.Call.Name)
		s.text(p, p.Call.Arguments.Inline)
	case conversation.PartToolResult:
		s.result(p)
	case conversation.PartReasoning:
		// A provider bills thinking by its words; where they are hidden, the signature is what there is to weigh.
		if text := p.Reasoning.Text.Inline; text != "" {
			s.text(p, text)
		} else {
			s.text(p, p.Reasoning.Signature.Inline)
		}
	case conversation.PartOpaque:
		s.text(p, p.Opaque.JSON.Inline)
	}
}

func (s scale) result(p *conversation.Part) {
	if p.Result.Output != conversation.OutputParts {
		s.text(p, p.Result.Text.Inline)
		return
	}
	for i := range p.Result.Parts {
		if p.Result.Parts[i].Media != nil {
			p.Tokens += s.media
		} else {
			s.text(p, p.Result.Parts[i].Text.Inline)
		}
	}
}

func (s scale) text(p *conversation.Part, text string) {
	n, estimated := s.counter.Count(text)
	p.Tokens += int32(n)
	p.Estimated = p.Estimated || estimated
}
