package convert

import (
	"crypto/sha256"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// identified is a request that can have an id. It is named after its RPC, and so is the header of a stream.
type identified interface {
	proto.Message
	GetRequestId() string
}

// FromRequest makes a request's identity: without an id there is none, and no byte is marshalled for it. The request's own id is empty
// while the digest is taken: a retry under the same id is the same request.
func FromRequest(req identified) engine.Request {
	m := req.ProtoReflect()
	out := engine.Request{RPC: rpcOf(m.Descriptor().Name()), ID: req.GetRequestId()}
	if out.ID == "" {
		return out
	}
	field := m.Descriptor().Fields().ByName("request_id")
	m.Clear(field)
	canonical := Canonical(req)
	m.Set(field, protoreflect.ValueOfString(out.ID))
	h := sha256.New()
	h.Write([]byte(out.RPC))
	h.Write([]byte{0})
	h.Write(canonical)
	h.Sum(out.Digest[:0])
	return out
}

// Canonical are the bytes of a message, the same for the same message. It panics if a message cannot be written: one that came over the wire can.
func Canonical(m proto.Message) []byte {
	canonical, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err)
	}
	return canonical
}

func rpcOf(request protoreflect.Name) string {
	return strings.TrimSuffix(strings.TrimSuffix(string(request), "Request"), "Header")
}
