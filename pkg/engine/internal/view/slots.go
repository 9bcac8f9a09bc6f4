package view

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
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
