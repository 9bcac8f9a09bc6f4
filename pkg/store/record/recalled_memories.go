package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func writeRecalledMemories(b []byte, m *conversation.RecalledMemories) []byte {
	return appendAll(b, 1, m.Memories, writeRecalledMemory)
}

func readRecalledMemories(r *reader, m *conversation.RecalledMemories) {
	for r.next() {
		if r.field == 1 {
			m.Memories = element(r, m.Memories, readRecalledMemory)
		}
	}
}

func writeRecalledMemory(b []byte, m *conversation.RecalledMemory) []byte {
	b = appendText(b, 1, m.ID)
	b = appendInt(b, 2, m.Kind)
	b = appendInt(b, 3, m.Scope)
	b = appendText(b, 4, m.Text)
	b = appendText(b, 5, m.SaidBy)
	b = appendAll(b, 6, m.Sources, writeRecalledSource)
	b = appendTime(b, 7, m.Time)
	return appendFloat(b, 8, m.Score)
}

func readRecalledMemory(r *reader, m *conversation.RecalledMemory) {
	for r.next() {
		switch r.field {
		case 1:
			m.ID = r.text()
		case 2:
			m.Kind = int8(r.int32())
		case 3:
			m.Scope = conversation.MemoryScope(r.int32())
		case 4:
			m.Text = r.text()
		case 5:
			m.SaidBy = r.text()
		case 6:
			m.Sources = element(r, m.Sources, readRecalledSource)
		case 7:
			m.Time = r.time()
		case 8:
			m.Score = r.float()
		}
	}
}

func writeRecalledSource(b []byte, s *conversation.RecalledSource) []byte {
	b = appendText(b, 1, s.Conversation)
	b = appendInt(b, 2, s.First)
	b = appendInt(b, 3, s.Last)
	return appendTime(b, 4, s.Time)
}

func readRecalledSource(r *reader, s *conversation.RecalledSource) {
	for r.next() {
		switch r.field {
		case 1:
			s.Conversation = r.text()
		case 2:
			s.First = r.int32()
		case 3:
			s.Last = r.int32()
		case 4:
			s.Time = r.time()
		}
	}
}
