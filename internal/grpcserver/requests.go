package grpcserver

import (
	"crypto/sha256"

	"google.golang.org/protobuf/proto"

	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// requestOf makes a request's identity: without an id there is none, and no byte is marshalled for it. id points to the
// request's own field, which is empty while the digest is taken: a retry under the same id is the same request.
func requestOf(rpc string, req proto.Message, id *string) (engine.Request, error) {
	if *id == "" {
		return engine.Request{RPC: rpc}, nil
	}
	kept := *id
	*id = ""
	canonical, err := proto.MarshalOptions{Deterministic: true}.Marshal(req)
	*id = kept
	if err != nil {
		return engine.Request{}, err
	}
	h := sha256.New()
	h.Write([]byte(rpc))
	h.Write([]byte{0})
	h.Write(canonical)
	out := engine.Request{RPC: rpc, ID: kept}
	h.Sum(out.Digest[:0])
	return out, nil
}
