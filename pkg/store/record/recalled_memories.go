package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func recalledMemoriesFields(f *fields, m *conversation.RecalledMemories) {
	list(f, 1, &m.Memories, recalledMemoryFields)
}

func recalledMemoryFields(f *fields, m *conversation.RecalledMemory) {
	f.text(1, &m.ID)
	integer(f, 2, &m.Kind)
	integer(f, 3, &m.Scope)
	f.text(4, &m.Text)
	f.text(5, &m.SaidBy)
	list(f, 6, &m.Sources, recalledSourceFields)
	f.time(7, &m.Time)
	f.float(8, &m.Score)
}

func recalledSourceFields(f *fields, s *conversation.RecalledSource) {
	f.text(1, &s.Conversation)
	integer(f, 2, &s.First)
	integer(f, 3, &s.Last)
	f.time(4, &s.Time)
}
