package txn

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// KeyedHash hides a digest's input from anybody who does not know the conversation's incarnation, which is random and known only to
// readers of the store and holders of a resume token. So the stored hash of a short message cannot be looked up in a table.
func KeyedHash(incarnation conversation.ID, digest [32]byte) [32]byte {
	h := hmac.New(sha256.New, incarnation[:])
	h.Write(digest[:])
	return [32]byte(h.Sum(nil))
}

// ErasedContent is what is left of a content after its erasure: sizes and a keyed hash.
func ErasedContent(incarnation conversation.ID, c conversation.Content, sum [32]byte) conversation.Content {
	return conversation.Content{Erased: &conversation.ErasedContent{
		Bytes: c.Bytes(), Chars: c.Chars(), Hash: KeyedHash(incarnation, sum),
	}}
}
