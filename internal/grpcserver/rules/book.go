package rules

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Request holds the rules of one request, whatever its type.
type Request struct {
	name  protoreflect.FullName
	Facts func() []Facts
	check func(*Checker, proto.Message)
}

// For are the rules of a request by its table.
func For[M proto.Message](t Table[M]) Request {
	var m M
	return Request{
		name:  m.ProtoReflect().Descriptor().FullName(),
		Facts: t.Facts,
		check: func(c *Checker, req proto.Message) {
			if m, ok := req.(M); ok { // its name says so
				t.Check(c, m)
			}
		},
	}
}

// Book holds the rules of every request. It is made once and only read.
type Book map[protoreflect.FullName]Request

// NewBook makes a book of the rules of several services.
func NewBook(services ...[]Request) Book {
	out := make(Book)
	for _, requests := range services {
		for _, r := range requests {
			out[r.name] = r
		}
	}
	return out
}

// Validate returns all faults of a request in one error.
func (b Book) Validate(req proto.Message) error {
	m := req.ProtoReflect()
	name := m.Descriptor().FullName()
	rules, ok := b[name]
	if !ok {
		return conversation.Errorf(conversation.Internal, "no rules for %s", name)
	}
	c := &Checker{}
	rules.check(c, req)
	c.unknownFields(m)
	return c.Err()
}
