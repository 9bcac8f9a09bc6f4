package record

import (
	"encoding/json"
)

// Slots have their own encoders, because a slot's value is what the engine compares and the envelope is around it. They return no nil:
// for a slot, nil is none.

// roomForSlot is how much most of them need.
const roomForSlot = 64

func encodeSlot[T any](v *T, write func([]byte, *T) []byte) []byte {
	return write(make([]byte, 0, roomForSlot), v)
}

func decodeSlot[T any](value []byte, read func(*reader, *T)) (T, error) {
	if isJSON(value) {
		return decodeJSON[T](value)
	}
	var v T
	r := reader{rest: string(value)}
	read(&r, &v)
	if r.bad {
		var none T
		return none, damaged(kindSlot, "it is not well formed")
	}
	return v, nil
}

// isJSON tells the form that slots had at first. Both characters would begin a group of protobuf, which records never have.
func isJSON(value []byte) bool { return len(value) > 0 && (value[0] == '{' || value[0] == '[') }

// decodeJSON does not tell what is wrong: the value may quote a conversation.
func decodeJSON[T any](value []byte) (T, error) {
	var v T
	if json.Unmarshal(value, &v) != nil {
		var none T
		return none, damaged(kindSlot, "its JSON cannot be read")
	}
	return v, nil
}

// Lists are one repeated field each. What else a newer version wrote beside it is in the stored value only: the new one takes it over.

func encodeList[T any](list []T, stored []byte, write func([]byte, *T) []byte) []byte {
	b := appendAll(make([]byte, 0, roomForSlot), 1, list, write)
	return append(b, unknown(stored, 1)...)
}

func decodeList[T any](value []byte, read func(*reader, *T)) ([]T, error) {
	return decodeSlot(value, func(r *reader, list *[]T) {
		for r.next() {
			if r.field == 1 {
				*list = element(r, *list, read)
			}
		}
	})
}

// unknown is what a stored value has beyond its last known field.
func unknown(stored []byte, last int) (fields string) {
	if isJSON(stored) {
		return ""
	}
	for r := (reader{rest: string(stored)}); r.next(); {
		if r.field > last {
			fields += r.raw
		}
	}
	return fields
}
