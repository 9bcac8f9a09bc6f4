package policies

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
)

// reader reads YAML into messages of the contract: keys are the names of
// fields, enums their values in lower case without the prefix, durations such
// as 30s. What it does not know it refuses, with the line.
type reader struct {
	file    string
	refused func(field string) string
	faults  []error
}

func (r *reader) fault(n *yaml.Node, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s:%d: %s", r.file, n.Line, fmt.Sprintf(format, args...)))
}

// pairs calls do for each key of a mapping, once.
func (r *reader) pairs(n *yaml.Node, do func(key, value *yaml.Node)) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n, "must be keys and values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			r.fault(key, "the key %q stands twice", key.Value)
			continue
		}
		seen[key.Value] = true
		do(key, n.Content[i+1])
	}
}

// message reads a mapping into a message.
func (r *reader) message(n *yaml.Node, m proto.Message) {
	r.pairs(n, func(key, value *yaml.Node) { r.key(key, value, m) })
}

// key reads one key of a mapping into a message.
func (r *reader) key(key, value *yaml.Node, m proto.Message) {
	field := m.ProtoReflect().Descriptor().Fields().ByTextName(key.Value)
	if field == nil {
		r.fault(key, "unknown key %q", key.Value)
		return
	}
	if why := r.refused(string(field.FullName())); why != "" {
		r.fault(key, "the key %q cannot be set here: %s", key.Value, why)
		return
	}
	r.field(value, m.ProtoReflect(), field)
}

func (r *reader) field(n *yaml.Node, m protoreflect.Message, field protoreflect.FieldDescriptor) {
	switch {
	case field.IsList():
		r.list(n, m.Mutable(field).List(), field)
		return
	case field.Kind() == protoreflect.MessageKind && field.Message().FullName() != durationName:
		r.message(n, m.Mutable(field).Message().Interface())
		return
	}
	value, err := scalar(n, field)
	if err != nil {
		r.fault(n, "the key %q must be %v", field.TextName(), err)
		return
	}
	m.Set(field, value)
}

// list reads a list of plain values.
func (r *reader) list(n *yaml.Node, into protoreflect.List, field protoreflect.FieldDescriptor) {
	if n.Kind != yaml.SequenceNode {
		r.fault(n, "the key %q must be a list", field.TextName())
		return
	}
	for _, item := range n.Content {
		value, err := scalar(item, field)
		if err != nil {
			r.fault(item, "the key %q must hold %v", field.TextName(), err)
			continue
		}
		into.Append(value)
	}
}

var durationName = (*durationpb.Duration)(nil).ProtoReflect().Descriptor().FullName()

// scalar reads a plain value for a field. Its error says what it must be.
func scalar(n *yaml.Node, field protoreflect.FieldDescriptor) (protoreflect.Value, error) {
	switch field.Kind() {
	case protoreflect.BoolKind:
		v, err := strconv.ParseBool(n.Value)
		return protoreflect.ValueOfBool(v), or(err, "true or false")
	case protoreflect.Int32Kind:
		v, err := strconv.ParseInt(n.Value, 10, 32)
		return protoreflect.ValueOfInt32(int32(v)), or(err, "a whole number")
	case protoreflect.EnumKind:
		return enum(n, field.Enum())
	case protoreflect.MessageKind:
		v, err := time.ParseDuration(n.Value)
		return protoreflect.ValueOfMessage(durationpb.New(v).ProtoReflect()), or(err, "a duration such as 30s")
	case protoreflect.StringKind:
		if n.Kind == yaml.ScalarNode {
			return protoreflect.ValueOfString(n.Value), nil
		}
	}
	return protoreflect.Value{}, errors.New("a plain value")
}

// or is what a value must be, if it is not.
func or(err error, must string) error {
	if err != nil {
		return errors.New(must)
	}
	return nil
}

// enum reads a value by its name without the enum's prefix.
func enum(n *yaml.Node, e protoreflect.EnumDescriptor) (protoreflect.Value, error) {
	prefix := strings.TrimSuffix(string(e.Values().Get(0).Name()), "UNSPECIFIED")
	var names []string
	for i := 1; i < e.Values().Len(); i++ {
		v := e.Values().Get(i)
		name := strings.ToLower(strings.TrimPrefix(string(v.Name()), prefix))
		if name == n.Value {
			return protoreflect.ValueOfEnum(v.Number()), nil
		}
		names = append(names, name)
	}
	return protoreflect.Value{}, fmt.Errorf("one of %s", strings.Join(names, ", "))
}
