package grpcserver

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/access"
)

// TestServer_RequestID_IsTheCallersIfItIsPlain: a caller's id goes into the log, so it must not be able to say anything there.
func TestServer_RequestID_IsTheCallersIfItIsPlain(t *testing.T) {
	s := start(t, realEngine(t))
	for given, taken := range map[string]bool{
		"r-1": true, "0af7651916cd43dd8448eb211c80319c": true, "A.b_c-9": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "a b": false, "a/b": false, `a","level":"info`: false,
	} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), callerIDKey, given)
		var header metadata.MD
		_, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "none"}, grpc.Header(&header))
		if status.Code(err) != codes.NotFound {
			t.Fatal(err)
		}
		told := header.Get(requestIDKey)
		if len(told) != 1 || !callerID.MatchString(told[0]) || (told[0] == given) != taken {
			t.Errorf("%q is told as %q", given, told)
		}
		if got := lastLine(t, s)["request_id"]; got != told[0] {
			t.Errorf("%q is logged as %q and told as %q", given, got, told)
		}
	}
	twice := metadata.AppendToOutgoingContext(t.Context(), callerIDKey, "one", callerIDKey, "two")
	var header metadata.MD
	_, _ = s.conversations.GetConversation(twice, &pb.GetConversationRequest{ConversationId: "none"}, grpc.Header(&header))
	if told := header.Get(requestIDKey)[0]; told == "one" || told == "two" {
		t.Errorf("of two ids, %q is taken", told)
	}
}

func lastLine(t *testing.T, s *sidecar) map[string]any {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	var line map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil {
		t.Fatal(err)
	}
	return line
}

// TestServer_UnknownMethod_IsObservedWithoutItsName: names of methods that do not exist are callers' texts.
func TestServer_UnknownMethod_IsObservedWithoutItsName(t *testing.T) {
	var observed []string
	s := start(t, realEngine(t), func(o *Options) {
		o.Observers.Stream = []grpc.StreamServerInterceptor{
			func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
				observed = append(observed, info.FullMethod)
				return handler(srv, stream)
			},
		}
	})
	for _, name := range []string{"/palimpsest.v1.ContextService/" + secret, "/" + secret + "/x", "/palimpsest.v1.ContextService/AppendMessage/" + secret} {
		err := s.conn.Invoke(t.Context(), name, &pb.GetConversationRequest{}, &pb.GetConversationResponse{})
		if status.Code(err) != codes.Unimplemented || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(observed) != 3 || observed[0] != unknownMethod || strings.Contains(s.log.String(), secret) {
		t.Errorf("observed %q; the log says %s", observed, s.log)
	}
}

// TestServer_Observers_SeeWhoseCallItWas: what is known of a call inside is known to who stands around it, once it has ended.
func TestServer_Observers_SeeWhoseCallItWas(t *testing.T) {
	var seen *Call
	s := start(t, realEngine(t), func(o *Options) {
		o.Authenticator = access.AllowAll("team-a")
		o.TraceID = func(context.Context) string { return "0af7651916cd43dd8448eb211c80319c" }
		o.Observers.Unary = []grpc.UnaryServerInterceptor{
			func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
				defer func() { seen = CallOf(ctx) }()
				return handler(ctx, req)
			},
		}
	})
	mustAppend(t, s, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x")})
	if seen == nil || seen.Caller.Namespace != "team-a" || seen.RequestBytes() < 5 {
		t.Errorf("seen: %+v", seen)
	}
	if got := lastLine(t, s)["trace_id"]; got != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("the log names trace %v", got)
	}
}

// TestMethods_AreThoseOfTheServer: a service that is registered and not named would count as unknown.
func TestMethods_AreThoseOfTheServer(t *testing.T) {
	s := start(t, realEngine(t), func(o *Options) { o.Reflection = false })
	served := map[string]bool{}
	for name, service := range s.server.grpc.GetServiceInfo() {
		for _, m := range service.Methods {
			served["/"+name+"/"+m.Name] = true
		}
	}
	for _, name := range Methods() {
		if !served[name] {
			t.Errorf("%s is not served", name)
		}
		delete(served, name)
	}
	if len(served) > 0 {
		t.Errorf("not named: %v", served)
	}
}
