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
	return encodeList(list, stored, writeHistoryMark)
}

// DecodeHistoryMarks reads what EncodeHistoryMarks made.
func DecodeHistoryMarks(value []byte) ([]HistoryMark, error) {
	return decodeList(value, readHistoryMark)
}

func writeHistoryMark(b []byte, m *HistoryMark) []byte {
	b = appendInt(b, 1, m.Count)
	b = appendHash(b, 2, m.Hash)
	b = appendInt(b, 3, m.Messages)
	b = appendBool(b, 4, m.System)
	return append(b, m.Unknown...)
}

func readHistoryMark(r *reader, m *HistoryMark) {
	for r.next() {
		switch r.field {
		case 1:
			m.Count = r.int32()
		case 2:
			m.Hash = r.hash()
		case 3:
			m.Messages = r.int32()
		case 4:
			m.System = r.bool()
		default:
			m.Unknown += r.raw
		}
	}
}
