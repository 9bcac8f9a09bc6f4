package grpcserver

import (
	"bytes"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// logsInfo gives a server a log as operators have it.
func logsInfo(out *bytes.Buffer) func(*Options) {
	return func(o *Options) {
		core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.Lock(zapcore.AddSync(out)), zap.InfoLevel)
		o.Log = zap.New(core)
	}
}

// TestServer_CanaryInEveryField_InfoDoesNotTell makes every call with the canary as every id, name and text, good ones and such as are
// refused for what is on record: what is logged at info or above tells nothing of it.
func TestServer_CanaryInEveryField_InfoDoesNotTell(t *testing.T) {
	logged := &bytes.Buffer{}
	s := start(t, realEngine(t), logsInfo(logged))
	mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: secret, Message: &pb.Message{
		Id: secret, Role: pb.Role_ROLE_ASSISTANT, Model: secret, RunId: secret, StepId: secret, Tags: []string{secret},
		Parts: []*pb.Part{textPart(secret), callPart(secret, secret)},
	}})
	_, err := s.contexts.BuildContext(t.Context(), &pb.BuildContextRequest{ConversationId: secret, Model: secret})
	wantReason(t, err, codes.FailedPrecondition, "PENDING_TOOL_CALLS")
	_, err = s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: secret, Message: &pb.Message{
		Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{resultPart(&pb.ToolResult{CallId: secret + "-2", Output: &pb.ToolResult_Text{Text: secret}})},
	}})
	wantReason(t, err, codes.InvalidArgument, "RESULT_WITHOUT_CALL")
	mustBuild(t, s, &pb.BuildContextRequest{ConversationId: secret, Model: secret, CloseOpenCalls: true})
	for range 2 { // the second time there is something by these names
		for _, service := range services() {
			for i := range service.Methods().Len() {
				method := service.Methods().Get(i)
				for depth := range 5 {
					req := fresh(t, method.Input())
					fillTexts(req, depth)
					_ = call(t.Context(), s, "/"+string(service.FullName())+"/"+string(method.Name()), method, req.Interface())
				}
			}
		}
	}
	for line := range strings.Lines(logged.String()) {
		if strings.Contains(line, secret) {
			t.Errorf("the log tells: %s", line)
		}
	}
	for _, reason := range []string{"PENDING_TOOL_CALLS", "RESULT_WITHOUT_CALL", "INVALID_FIELD", "CONVERSATION_DELETED"} {
		if !strings.Contains(logged.String(), reason) {
			t.Errorf("no line says %s: not enough was looked at", reason)
		}
	}
}

// fillTexts gives every text of a message the canary, down to some depth.
func fillTexts(m protoreflect.Message, depth int) {
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		switch {
		case f.Kind() == protoreflect.StringKind && !strings.HasSuffix(string(f.Name()), "_token"):
			set(m, f, protoreflect.ValueOfString(secret))
		case f.Kind() == protoreflect.EnumKind && !f.IsList():
			m.Set(f, protoreflect.ValueOfEnum(2))
		case f.Kind() == protoreflect.MessageKind && !f.IsMap() && depth > 0 && !strings.HasPrefix(string(f.Message().FullName()), "google."):
			inner := m.NewField(f)
			if f.IsList() {
				inner = inner.List().NewElement()
			}
			fillTexts(inner.Message(), depth-1)
			set(m, f, inner)
		}
	}
}
