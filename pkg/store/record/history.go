package record

// HistoryMark is a prefix of a caller's whole list that the record has.
type HistoryMark struct {
	Count    int32    // elements
	Hash     [32]byte // keyed, over their hash
	Messages int32    // of the record that they come to
	System   bool     // system messages lead it that are not on record
	Placed   bool     // Places are known: those of older versions are not, and count for nothing
	// Places say where in the list the messages stand, as runs. Shared is how many of their numbers are those of the first mark, left out here.
	Places  []int32
	Shared  int32
	Unknown string
}

// EncodeHistoryMarks makes the value of a slot in place of the one that is stored, and DecodeHistoryMarks reads it.
var EncodeHistoryMarks, DecodeHistoryMarks = listSlotOf(historyMarkFields)

func historyMarkFields(f *fields, m *HistoryMark) {
	integer(f, 1, &m.Count)
	f.hash(2, &m.Hash)
	integer(f, 3, &m.Messages)
	f.bool(4, &m.System)
	f.bool(5, &m.Placed)
	numbers(f, 6, &m.Places)
	integer(f, 7, &m.Shared)
	f.unknown(&m.Unknown)
}

// Successor is a conversation that a whole list began, or was to begin.
type Successor struct {
	Conversation string // its id
	Unknown      string
}

// EncodeSuccessors makes the value of a slot in place of the one that is stored, and DecodeSuccessors reads it.
var EncodeSuccessors, DecodeSuccessors = listSlotOf(successorFields)

func successorFields(f *fields, s *Successor) {
	f.text(1, &s.Conversation)
	f.unknown(&s.Unknown)
}
