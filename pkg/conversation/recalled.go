package conversation

import "time"

// RecalledPart is the position of an EditRecall's block in its message: before all parts.
const RecalledPart = -1

// RecalledMemories says which memories a part was made of (behaviour §19). The part's text is the block as the model sees it.
type RecalledMemories struct {
	Memories []RecalledMemory
}

// RecalledMemory is one memory in a block, as it is shown there.
type RecalledMemory struct {
	ID      string
	Kind    int8 // as in pkg/memory
	Scope   MemoryScope
	Text    string
	SaidBy  string
	Sources []RecalledSource
	Time    time.Time
	Score   float64
}

// RecalledSource says where a recalled memory was said: in messages First to Last (inclusive) of a conversation.
type RecalledSource struct {
	Conversation string
	First, Last  int32
	Time         time.Time
}

// IDs returns the ids of the memories.
func (m *RecalledMemories) IDs() []string {
	if m == nil {
		return nil
	}
	ids := make([]string, len(m.Memories))
	for i := range m.Memories {
		ids[i] = m.Memories[i].ID
	}
	return ids
}

// Recalled returns the block that the view shows before a message's words; nil for none. It must not be changed.
func (v *View) Recalled(index int32) *Part { return v.messages[index].recalled }

// recall puts a block before the words of a message, or removes it.
func (s *state) recall(e *Edit) {
	s.recalled, s.edit = nil, e.Seq
	if len(e.Parts) > 0 {
		s.recalled = &e.Parts[0].Shown
	}
}

// withRecalled adds the block before what is shown of a message.
func (s *state) withRecalled(it *Item) {
	if s.recalled == nil {
		return
	}
	parts, positions := make([]Part, 0, len(it.Parts)+1), make([]int32, 0, len(it.Parts)+1)
	parts, positions = append(parts, *s.recalled), append(positions, RecalledPart)
	for i := range it.Parts {
		parts, positions = append(parts, it.Parts[i]), append(positions, it.Position(i))
	}
	it.Parts, it.Positions = parts, positions
}

// WithoutRecalled returns the item without recalled memories: summaries and the like are made of the conversation's own words.
func (it *Item) WithoutRecalled() Item {
	if len(it.Parts) == 0 || it.Parts[0].Recalled == nil {
		return *it
	}
	out := *it
	out.Parts, out.Positions = it.Parts[1:], it.Positions[1:]
	return out
}

// RecalledTokens is the weight of recalled memories among the parts.
func (it *Item) RecalledTokens() int64 {
	if len(it.Parts) == 0 || it.Parts[0].Recalled == nil {
		return 0
	}
	return int64(it.Parts[0].Tokens)
}
