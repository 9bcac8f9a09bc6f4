package conversation

import (
	"encoding/hex"
	"fmt"
)

// ID names something that must not be guessed or met twice: an incarnation of a conversation, an upload of content.
type ID [16]byte

// String is the id in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero says whether the id is unset.
func (id ID) IsZero() bool { return id == ID{} }

// ParseID reads what String wrote.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*len(id) {
		return id, fmt.Errorf("an id has %d hexadecimal digits", 2*len(id))
	}
	_, err := hex.Decode(id[:], []byte(s))
	return id, err
}
