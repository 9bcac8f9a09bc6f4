package exportformat

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// recalledMemoryLine is a memory in a block before a message's words.
type recalledMemoryLine struct {
	ID      string                     `json:"id"`
	Kind    int8                       `json:"kind"`
	Scope   int8                       `json:"scope"`
	Text    string                     `json:"text"`
	SaidBy  string                     `json:"saidBy,omitempty"`
	Sources []recalledMemorySourceLine `json:"sources,omitempty"`
	Time    time.Time                  `json:"time,omitzero"`
	Score   float64                    `json:"score,omitempty"`
}

type recalledMemorySourceLine struct {
	Conversation string    `json:"conversationId"`
	First        int32     `json:"first"`
	Last         int32     `json:"last"`
	Time         time.Time `json:"time,omitzero"`
}

func fromRecalledMemories(m *conversation.RecalledMemories) []recalledMemoryLine {
	if m == nil {
		return nil
	}
	return each(m.Memories, func(m *conversation.RecalledMemory) recalledMemoryLine {
		return recalledMemoryLine{
			ID: m.ID, Kind: m.Kind, Scope: int8(m.Scope), Text: m.Text, SaidBy: m.SaidBy, Time: m.Time.UTC(), Score: m.Score,
			Sources: each(m.Sources, func(s *conversation.RecalledSource) recalledMemorySourceLine {
				return recalledMemorySourceLine{Conversation: s.Conversation, First: s.First, Last: s.Last, Time: s.Time.UTC()}
			}),
		}
	})
}

func recalledMemories(lines []recalledMemoryLine) *conversation.RecalledMemories {
	if len(lines) == 0 {
		return nil
	}
	return &conversation.RecalledMemories{Memories: each(lines, func(l *recalledMemoryLine) conversation.RecalledMemory {
		return conversation.RecalledMemory{
			ID: l.ID, Kind: l.Kind, Scope: conversation.MemoryScope(l.Scope), Text: l.Text, SaidBy: l.SaidBy, Time: l.Time.UTC(), Score: l.Score,
			Sources: each(l.Sources, func(s *recalledMemorySourceLine) conversation.RecalledSource {
				return conversation.RecalledSource{Conversation: s.Conversation, First: s.First, Last: s.Last, Time: s.Time.UTC()}
			}),
		}
	})}
}
