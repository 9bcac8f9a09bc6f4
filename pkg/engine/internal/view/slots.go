package view

import (
	"bytes"
	"maps"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Slots are the values of a conversation's slots, by name.
type Slots map[string][]byte

// with returns the slots with another value for one of them.
func (s Slots) with(name string, value []byte) Slots {
	out := make(Slots, len(s)+1)
	maps.Copy(out, s)
	out[name] = value
	return out
}

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
func WriteList[T any](c *store.Change, stored Slots, slot string, list []T, encode func(list []T, stored []byte) []byte) {
	var value []byte
	if len(list) > 0 {
		value = encode(list, stored[slot])
	}
	if !bytes.Equal(value, stored[slot]) {
		c.Slots[slot] = value
	}
}
