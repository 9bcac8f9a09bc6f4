package badinput

import (
	"fmt"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// wire is a codec that sends bytes as they are: what no generated client would send.
type wire struct{}

// Marshal implements encoding.Codec.
func (wire) Marshal(v any) ([]byte, error) {
	b, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("no bytes: %T", v)
	}
	return *b, nil
}

// Unmarshal implements encoding.Codec.
func (wire) Unmarshal(data []byte, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("no bytes: %T", v)
	}
	*b = append([]byte(nil), data...)
	return nil
}

// Name implements encoding.Codec.
func (wire) Name() string { return "proto" }

// notUTF8 is a field of a message on the wire, a text that is none.
func notUTF8(field byte) []byte {
	return append([]byte{field<<3 | 2, byte(len(secret) + 1), 0xff}, secret...)
}

// TestWire_NoMessageAtAll_AnswersAsGRPCDoes sends what gRPC refuses before a handler runs (behaviour §15).
func TestWire_NoMessageAtAll_AnswersAsGRPCDoes(t *testing.T) {
	w := newWorld(t)
	good, err := proto.Marshal(&pb.AppendMessageRequest{ConversationId: target, Message: user(secret)})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		method string
		body   []byte
		want   codes.Code
	}{
		"cut off":               {pb.ContextService_AppendMessage_FullMethodName, good[:len(good)-3], codes.Internal},
		"noise":                 {pb.ContextService_AppendMessage_FullMethodName, []byte("\xff\xff\xff" + secret), codes.Internal},
		"invalid UTF-8":         {pb.ContextService_AppendMessage_FullMethodName, append([]byte{0x0a, byte(len(secret) + 1)}, "\xff"+secret...), codes.Internal},
		"noise for a content":   {pb.ContentService_RetrieveContent_FullMethodName, []byte("\xff\xff" + secret), codes.Internal},
		"a handle in no UTF-8":  {pb.ContentService_RetrieveContent_FullMethodName, notUTF8(2), codes.Internal},
		"terms in no UTF-8":     {pb.ContentService_SearchContent_FullMethodName, append([]byte{0x12, byte(len(secret) + 3)}, notUTF8(1)...), codes.Internal},
		"a query in no UTF-8":   {pb.ConversationService_SearchMessages_FullMethodName, notUTF8(2), codes.Internal},
		"a run in no UTF-8":     {pb.ContentService_EndRun_FullMethodName, notUTF8(2), codes.Internal},
		"a listing in no UTF-8": {pb.ContentService_ListSources_FullMethodName, notUTF8(1), codes.Internal},
		"arguments in no UTF-8": {pb.ContextService_AnswerToolCall_FullMethodName, append([]byte{0x12, byte(len(secret) + 3)}, notUTF8(3)...), codes.Internal},
		"no such call":          {"/palimpsest.v1.ContextService/Nothing", good, codes.Unimplemented},
		"no service":            {"/palimpsest.v2.ContextService/AppendMessage", good, codes.Unimplemented},
	} {
		t.Run(what, func(t *testing.T) {
			var reply []byte
			err := w.Connection.Invoke(w.ctx, c.method, &c.body, &reply, grpc.ForceCodec(wire{}))
			refusal{c.want, "", nil}.holds(t, err)
			w.unchanged(t)
		})
	}
}

// TestWire_NoPieceOfAContent_AnswersAsGRPCDoes sends it in the midst of a stream, and leaves nothing.
func TestWire_NoPieceOfAContent_AnswersAsGRPCDoes(t *testing.T) {
	w := newWorld(t)
	header := must[[]byte](t)(proto.Marshal(storing(&pb.StoreContentHeader{ConversationId: cited})))
	for what, pieces := range map[string][][]byte{
		"noise at once":          {[]byte("\xff\xff" + secret)},
		"noise behind a header":  {header, []byte("\xff\xff" + secret)},
		"a header cut off":       {header[:len(header)-2]},
		"a header, not in UTF-8": {append([]byte{0x0a, byte(len(secret) + 3)}, notUTF8(1)...)},
	} {
		t.Run(what, func(t *testing.T) {
			stream := must[grpc.ClientStream](t)(w.Connection.NewStream(w.ctx, &grpc.StreamDesc{ClientStreams: true}, pb.ContentService_StoreContent_FullMethodName, grpc.ForceCodec(wire{})))
			for _, p := range pieces {
				if err := stream.SendMsg(&p); err != nil {
					break // the sidecar has answered already; the answer comes below
				}
			}
			var reply []byte
			_ = stream.CloseSend()
			refusal{codes.Internal, "", nil}.holds(t, stream.RecvMsg(&reply))
			w.unchanged(t)
		})
	}
	w.quiet(t)
}

// TestWire_UnknownFields_AreRefused sends a field of a later version: it is named, and nothing is kept.
func TestWire_UnknownFields_AreRefused(t *testing.T) {
	w := newWorld(t)
	m := user("known")
	m.ProtoReflect().SetUnknown([]byte("\xfa\x7f" + string(rune(len(secret))) + secret))
	_, err := w.Context.AppendMessage(w.ctx, &pb.AppendMessageRequest{ConversationId: "later", Message: m})
	invalid("message").holds(t, err)
	w.unchanged(t)
	w.quiet(t)
}
