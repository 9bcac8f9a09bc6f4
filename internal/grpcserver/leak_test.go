package grpcserver

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
)

const secret = "Vogelsang-7781"

// TestServer_SecretInEveryField_IsNeverLoggedNorInAnError sends each request with the secret in one text field at a time, once
// beside what makes the request good and once alone, and looks for it in what comes back as an error and in the log.
func TestServer_SecretInEveryField_IsNeverLoggedNorInAnError(t *testing.T) {
	testlane.OneCaller(t)
	s := start(t, realEngine(t))
	calls := 0
	for _, service := range services() {
		for i := range service.Methods().Len() {
			method := service.Methods().Get(i)
			full := "/" + string(service.FullName()) + "/" + string(method.Name())
			for _, req := range secretive(t, method.Input(), 6) {
				calls++
				if err := call(t.Context(), s, full, method, req); err != nil && strings.Contains(err.Error()+details(err), secret) {
					t.Errorf("%s: the error tells: %v", full, err)
				}
			}
		}
	}
	if calls < 200 {
		t.Errorf("only %d calls: the fields are not walked", calls)
	}
	if strings.Contains(s.log.String(), secret) {
		t.Error("the log tells")
	}
	if !strings.Contains(s.log.String(), `"method":"AppendMessage"`) {
		t.Error("the log has no calls: nothing was looked at")
	}
}

func details(err error) string {
	s, _ := toStatus(err)
	return s.Proto().String()
}

// call makes a call of any kind with one request.
func call(ctx context.Context, s *sidecar, full string, method protoreflect.MethodDescriptor, req proto.Message) error {
	reply := dynamicpb.NewMessage(method.Output())
	if !method.IsStreamingClient() && !method.IsStreamingServer() {
		return s.conn.Invoke(ctx, full, req, reply)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: method.IsStreamingClient(), ServerStreams: method.IsStreamingServer()}, full)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(req); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	return stream.RecvMsg(reply)
}

// secretive returns requests of a type, each with the secret in one text field.
func secretive(t *testing.T, d protoreflect.MessageDescriptor, depth int) []proto.Message {
	t.Helper()
	var out []proto.Message
	for i := range d.Fields().Len() {
		for _, v := range values(t, d.Fields().Get(i), depth) {
			alone, beside := fresh(t, d), fresh(t, d)
			fill(beside)
			for _, m := range []protoreflect.Message{alone, beside} {
				set(m, d.Fields().Get(i), v)
				out = append(out, m.Interface())
			}
		}
	}
	return out
}

func fresh(t *testing.T, d protoreflect.MessageDescriptor) protoreflect.Message {
	t.Helper()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		t.Fatal(err)
	}
	return kind.New()
}

func set(m protoreflect.Message, f protoreflect.FieldDescriptor, v protoreflect.Value) {
	if f.IsList() {
		m.Mutable(f).List().Append(v)
		return
	}
	m.Set(f, v)
}

// values are values of a field that hold the secret.
func values(t *testing.T, f protoreflect.FieldDescriptor, depth int) []protoreflect.Value {
	t.Helper()
	switch f.Kind() {
	case protoreflect.StringKind:
		return []protoreflect.Value{
			protoreflect.ValueOfString(secret), protoreflect.ValueOfString(`{"a":"` + secret),
			protoreflect.ValueOfString(strings.Repeat(secret, 6000)),
		}
	case protoreflect.BytesKind:
		return []protoreflect.Value{
			protoreflect.ValueOfBytes([]byte(secret + "\n")), protoreflect.ValueOfBytes([]byte(`{"` + secret + `":1}` + "\n")),
		}
	case protoreflect.MessageKind:
		if depth == 0 {
			return nil
		}
		var out []protoreflect.Value
		for _, m := range secretive(t, f.Message(), depth-1) {
			out = append(out, protoreflect.ValueOfMessage(m.ProtoReflect()))
		}
		return out
	default:
		return nil
	}
}

// fill gives a message what most requests need to pass their rules.
func fill(m protoreflect.Message) {
	for name, text := range map[protoreflect.Name]string{"conversation_id": "c", "id": "c", "manifest_id": "b1", "model": "m"} {
		if f := m.Descriptor().Fields().ByName(name); f != nil && f.Kind() == protoreflect.StringKind {
			m.Set(f, protoreflect.ValueOfString(text))
		}
	}
	if f := m.Descriptor().Fields().ByName("role"); f != nil {
		m.Set(f, protoreflect.ValueOfEnum(2))
	}
}
