package citations

// Messages is a run of messages made ready to be searched, as whole messages. It may be added to, and searched by several at once
// while nobody adds.
type Messages struct {
	indices  []int32
	lengths  []int32
	postings map[term][]messagePosting
	places   int64
	lexer    *lexer
}

// messagePosting says how often a term stands in a message.
type messagePosting struct{ at, count int32 }

// Add adds a message. Indices rise. The text is not kept.
func (m *Messages) Add(index int32, text string) {
	if m.lexer == nil {
		m.lexer, m.postings = newLexer(0), map[term][]messagePosting{}
	}
	at, length := int32(len(m.indices)), int32(0)
	m.lexer.scan(text, 0, len(text), func(t token) {
		length++
		list := m.postings[t.term]
		if k := len(list); k > 0 && list[k-1].at == at {
			list[k-1].count++
			return
		}
		m.places++
		m.postings[t.term] = append(list, messagePosting{at, 1})
	})
	m.indices = append(m.indices, index)
	m.lengths = append(m.lengths, length)
}

// Size is what it holds in memory, in bytes: at most as much as the text of the messages.
func (m *Messages) Size() int64 {
	return m.places*8 + int64(len(m.postings))*32 + int64(len(m.indices))*8
}
