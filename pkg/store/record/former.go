package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// FormerRequests are requests that answer that their conversation is deleted once it has begun anew.
type FormerRequests struct {
	Key      conversation.ID // of the hashes
	Requests []FormerRequest
	Unknown  string
}

// FormerRequest is a request of which a keyed hash is left.
type FormerRequest struct {
	Hash    uint64
	Time    int64 // in milliseconds since 1970
	Unknown string
}

// EncodeFormerRequests makes the value of a slot.
func EncodeFormerRequests(f *FormerRequests) []byte { return encodeSlot(f, writeFormerRequests) }

// DecodeFormerRequests reads what EncodeFormerRequests made.
func DecodeFormerRequests(value []byte) (FormerRequests, error) {
	return decodeSlot(value, readFormerRequests)
}

func writeFormerRequests(b []byte, f *FormerRequests) []byte {
	b = appendID(b, 1, f.Key)
	b = appendAll(b, 2, f.Requests, writeFormerRequest)
	return append(b, f.Unknown...)
}

func readFormerRequests(r *reader, f *FormerRequests) {
	for r.next() {
		switch r.field {
		case 1:
			f.Key = r.id()
		case 2:
			f.Requests = element(r, f.Requests, readFormerRequest)
		default:
			f.Unknown += r.raw
		}
	}
}

func writeFormerRequest(b []byte, f *FormerRequest) []byte {
	b = appendUint(b, 1, f.Hash)
	b = appendInt(b, 2, f.Time)
	return append(b, f.Unknown...)
}

func readFormerRequest(r *reader, f *FormerRequest) {
	for r.next() {
		switch r.field {
		case 1:
			f.Hash = r.uint()
		case 2:
			f.Time = r.int64()
		default:
			f.Unknown += r.raw
		}
	}
}
