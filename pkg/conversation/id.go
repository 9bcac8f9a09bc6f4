package conversation

import "encoding/hex"

// ID names something that must not be guessed or met twice: an incarnation of a conversation, an upload of content.
type ID [16]byte

// String is the id in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero says whether the id is unset.
func (id ID) IsZero() bool { return id == ID{} }
