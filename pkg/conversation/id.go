package conversation

import "encoding/hex"

// ID identifies something whose id must be unique and impossible to guess: an incarnation of a conversation, or an upload
// of content.
type ID [16]byte

// String is the id in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether the id is unset.
func (id ID) IsZero() bool { return id == ID{} }
