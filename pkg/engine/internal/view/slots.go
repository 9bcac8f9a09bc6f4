package view

import (
	"bytes"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// ReadSlot decodes the value of a slot; the zero value if the slot does not exist. damaged is the error text for a value that
// cannot be decoded.
func ReadSlot[T any](value []byte, decode func([]byte) (T, error), damaged string) (T, error) {
	var v T
	if value == nil {
		return v, nil
	}
	v, err := decode(value)
	if err != nil {
		return v, conversation.Errorf(conversation.CorruptRecord, "%s", damaged).Because(err)
	}
	return v, nil
}

// WriteList writes a list to a slot of a change if the stored value changes. An empty list removes the slot.
func WriteList[T any](c *store.Change, w *Loaded, slot string, list []T, encode func(list []T, stored []byte) []byte) {
	var value []byte
	if len(list) > 0 {
		value = encode(list, w.Slots[slot])
	}
	if !bytes.Equal(value, w.Slots[slot]) {
		c.Slots[slot] = value
	}
}
