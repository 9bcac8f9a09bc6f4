package proptest

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Lists returns the path of every list and map of a message, at any depth.
func Lists(m protoreflect.MessageDescriptor) [][]protoreflect.FieldDescriptor {
	return listsBelow(m, nil)
}

func listsBelow(m protoreflect.MessageDescriptor, above []protoreflect.FieldDescriptor) (out [][]protoreflect.FieldDescriptor) {
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		if slices.Contains(above, field) {
			continue // a message within itself
		}
		path := append(slices.Clone(above), field)
		if field.IsList() || field.IsMap() {
			out = append(out, path)
		}
		if field.Message() != nil {
			out = append(out, listsBelow(field.Message(), path)...)
		}
	}
	return out
}

// FillList is a message of about so many bytes on the wire whose list has as many empty elements as they can hold.
func FillList(path []protoreflect.FieldDescriptor, size int) []byte {
	list := path[len(path)-1]
	var b []byte
	if list.Kind() == protoreflect.MessageKind || list.Kind() == protoreflect.StringKind || list.Kind() == protoreflect.BytesKind {
		element := protowire.AppendTag(nil, list.Number(), protowire.BytesType)
		element = append(element, 0)
		b = slices.Repeat(element, size/len(element))
	} else {
		b = protowire.AppendTag(b, list.Number(), protowire.BytesType)
		b = protowire.AppendBytes(b, make([]byte, size))
	}
	for _, field := range slices.Backward(path[:len(path)-1]) {
		b = protowire.AppendBytes(protowire.AppendTag(nil, field.Number(), protowire.BytesType), b)
	}
	return b
}
