package record

import (
	"encoding/json"
)

// Slots have their own encoders, because a slot's value is what the engine compares and the envelope is around it. They return no nil:
// for a slot, nil is none.

// roomForSlot is how much most of them need.
const roomForSlot = 64

func encodeSlot[T any](v *T, of func(*fields, *T)) []byte {
	f := fields{out: make([]byte, 0, roomForSlot)}
	of(&f, v)
	return f.out
}

// slotOf are the functions that make and read a slot with such fields.
func slotOf[T any](of func(*fields, *T)) (encode func(*T) []byte, decode func(value []byte) (T, error)) {
	return func(v *T) []byte { return encodeSlot(v, of) }, func(value []byte) (T, error) { return decodeSlot(value, of) }
}

func decodeSlot[T any](value []byte, of func(*fields, *T)) (T, error) {
	if isJSON(value) {
		return decodeJSON[T](value)
	}
	var v T
	f := fields{reading: true, in: reader{rest: string(value)}}
	if read(&f, &v, of); f.in.bad {
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

// listSlotOf is slotOf for lists.
func listSlotOf[T any](of func(*fields, *T)) (encode func(list []T, stored []byte) []byte, decode func(value []byte) ([]T, error)) {
	return func(list []T, stored []byte) []byte { return encodeList(list, stored, of) },
		func(value []byte) ([]T, error) { return decodeList(value, of) }
}

func encodeList[T any](elements []T, stored []byte, of func(*fields, *T)) []byte {
	return append(encodeSlot(&elements, listOf(of)), unknown(stored, 1)...)
}

func decodeList[T any](value []byte, of func(*fields, *T)) ([]T, error) {
	return decodeSlot(value, listOf(of))
}

func listOf[T any](of func(*fields, *T)) func(*fields, *[]T) {
	return func(f *fields, elements *[]T) { list(f, 1, elements, of) }
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
