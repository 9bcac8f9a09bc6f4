package record

// HistoryMark is a prefix of a caller's whole list that the record has.
type HistoryMark struct {
	Count    int32    // elements
	Hash     [32]byte // keyed, over their hash
	Messages int32    // of the record that they come to
	System   bool     // system messages lead it that are not on record
	Unknown  string
}

// EncodeHistoryMarks makes the value of a slot. stored is the value that it replaces.
func EncodeHistoryMarks(list []HistoryMark, stored []byte) []byte {
	return encodeList(list, stored, historyMarkFields)
}

// DecodeHistoryMarks reads what EncodeHistoryMarks made.
func DecodeHistoryMarks(value []byte) ([]HistoryMark, error) {
	return decodeList(value, historyMarkFields)
}

func historyMarkFields(f *fields, m *HistoryMark) {
	integer(f, 1, &m.Count)
	f.hash(2, &m.Hash)
	integer(f, 3, &m.Messages)
	f.bool(4, &m.System)
	f.unknown(&m.Unknown)
}
