package admission

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

// elementCounter counts what a message on the wire would become: every field that is set and every entry of a list, at any depth. Two
// bytes can be an element that takes a hundred in memory, so it counts before anything is unmarshalled.
type elementCounter struct {
	count, limit int
	field        string // where the limit was passed, if it was
}

// walk counts the elements of b, a message of that type, and is false as soon as they are too many. Bytes that are no message end the
// walk: unmarshalling says what is wrong with them.
func (e *elementCounter) walk(b []byte, message protoreflect.MessageDescriptor) bool {
	fields := message.Fields()
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return true
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(number, wire, b)
		if size < 0 {
			return true
		}
		if !e.value(b[:size], wire, fields.ByNumber(number)) {
			return false
		}
		b = b[size:]
	}
	return true
}

// value counts one value of a field, which is nil if the message has none of this number.
func (e *elementCounter) value(b []byte, wire protowire.Type, field protoreflect.FieldDescriptor) bool {
	e.count++
	inner, _ := protowire.ConsumeBytes(b)
	within := field != nil && wire == protowire.BytesType
	if within && field.Message() == nil && field.IsList() {
		e.count += packed(inner, field.Kind())
	}
	if within && isRead(field) {
		e.count += rules.JSONElements(inner)
	}
	if e.count > e.limit || within && field.Message() != nil && !e.walk(inner, field.Message()) {
		e.field = joined(field, e.field)
		return false
	}
	return true
}

// isRead says of a text that it is JSON which is taken apart, so that each value in it becomes something.
func isRead(field protoreflect.FieldDescriptor) bool {
	switch field.FullName() {
	case "palimpsest.v1.ProviderInput.json", "palimpsest.v1.FixedInput.tools_json":
		return true
	default:
		return false
	}
}

// packed is how many entries of a list stand in one value.
func packed(b []byte, kind protoreflect.Kind) int {
	switch kind {
	case protoreflect.StringKind, protoreflect.BytesKind:
		return 0
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return len(b) / 4
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return len(b) / 8
	default:
		n := 0
		for _, c := range b {
			if c < 0x80 { // the last byte of a varint
				n++
			}
		}
		return n
	}
}

// joined is the path of a field and of what stands below it.
func joined(field protoreflect.FieldDescriptor, below string) string {
	switch {
	case field == nil:
		return ""
	case below == "":
		return string(field.Name())
	default:
		return string(field.Name()) + "." + below
	}
}
