package conversation

import "time"

// RecalledPart is the position of the block of an EditRecall among the parts of its message: before all of them.
const RecalledPart = -1

// RecalledMemories is what a part of recalled memories was made of (behaviour §19). The part's text is the block as the model sees it.
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

// RecalledSource is where a recalled memory was said: messages First to Last (inclusive) of a conversation.
type RecalledSource struct {
	Conversation string
	First, Last  int32
	Time         time.Time
}

// IDs are the ids of the memories.
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

// Recalled is the block that the view shows before a message's words; nil for none. It must not be changed.
func (v *View) Recalled(index int32) *Part { return v.messages[index].recalled }

// recall puts a block before the words of a message, or takes it away.
func (s *state) recall(e *Edit) {
	s.recalled, s.edit = nil, e.Seq
	if len(e.Parts) > 0 {
		s.recalled = &e.Parts[0].Shown
	}
}

// withRecalled puts the block before what is shown of a message.
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

// WithoutRecalled is what is shown of a message but for recalled memories: what is made of a conversation is made of its own words.
func (it *Item) WithoutRecalled() Item {
	if len(it.Parts) == 0 || it.Parts[0].Recalled == nil {
		return *it
	}
	out := *it
	out.Parts, out.Positions = it.Parts[1:], it.Positions[1:]
	return out
}

// RecalledTokens is what recalled memories weigh among the parts.
func (it *Item) RecalledTokens() int64 {
	if len(it.Parts) == 0 || it.Parts[0].Recalled == nil {
		return 0
	}
	return int64(it.Parts[0].Tokens)
}
