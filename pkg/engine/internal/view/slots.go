package view

import (
	"bytes"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// ReadSlot decodes what a slot holds; the zero value, if it is not there. damaged is what the error says of a value that is none.
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

// WriteList puts a list into a slot of a change, if that changes what is stored: an empty one needs no slot.
func WriteList[T any](c *store.Change, w *Loaded, slot string, list []T, encode func(list []T, stored []byte) []byte) {
	var value []byte
	if len(list) > 0 {
		value = encode(list, w.Slots[slot])
	}
	if !bytes.Equal(value, w.Slots[slot]) {
		c.Slots[slot] = value
	}
}
