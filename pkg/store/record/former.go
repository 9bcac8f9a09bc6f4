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

// EncodeFormerRequests makes the value of a slot, and DecodeFormerRequests reads it.
var EncodeFormerRequests, DecodeFormerRequests = slotOf(formerRequestsFields)

func formerRequestsFields(f *fields, v *FormerRequests) {
	f.id(1, &v.Key)
	list(f, 2, &v.Requests, formerRequestFields)
	f.unknown(&v.Unknown)
}

func formerRequestFields(f *fields, v *FormerRequest) {
	f.uint(1, &v.Hash)
	integer(f, 2, &v.Time)
	f.unknown(&v.Unknown)
}
