package rules

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// unknownFields refuses fields that this version does not know: a client that is newer than its sidecar is told so, instead of being obeyed
// by half.
func (c *Checker) unknownFields(m protoreflect.Message) {
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		number, _, _ := protowire.ConsumeTag(unknown)
		c.Fail("field %d of %s is not known to this version of the sidecar", number, m.Descriptor().Name())
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Message() == nil || f.IsMap() {
			return true
		}
		c.Enter(string(f.Name()))
		if f.IsList() {
			for i := range v.List().Len() {
				c.Element(i)
				c.unknownFields(v.List().Get(i).Message())
				c.Leave()
			}
		} else {
			c.unknownFields(v.Message())
		}
		c.Leave()
		return true
	})
}
