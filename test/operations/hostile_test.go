package operations

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// canary is what must be found nowhere.
const canary = "Vogelsang-7781"

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func id(i int) string { return fmt.Sprintf("conversation-%05d", i) }

func drain(t *testing.T, answer *http.Response) int {
	t.Helper()
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status, err)
	}
	return len(text)
}

// many makes a number of appends, 64 at a time.
func (w *world) many(ctx context.Context, n int, request func(int) *pb.AppendMessageRequest) {
	var callers sync.WaitGroup
	for c := range 64 {
		callers.Go(func() {
			for i := c; i < n; i += 64 {
				if _, err := w.Context.AppendMessage(ctx, request(i)); err != nil {
					w.t.Error(err)
					return
				}
			}
		})
	}
	callers.Wait()
}

// TestSeries_HostileCallers_AddNone: a thousand conversations, and names that callers make up, leave the number of series as it was.
func TestSeries_HostileCallers_AddNone(t *testing.T) {
	t.Parallel()
	w := start(t, "--store", "memory", "--log-level", "info", "--otlp-sample", "0")
	hostile := func(i int) {
		name := fmt.Sprintf("%s\"} 1 {%d,\\", canary, i)
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-request-id", fmt.Sprint("r", i))
		w.append(ctx, name, text(pb.Role_ROLE_USER, name))
		_, err := w.Context.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: name, Model: name})
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: name + "-none"})
		_, _ = w.Policies.GetModelProfile(ctx, &pb.GetModelProfileRequest{Model: name})
		for _, method := range []string{"/palimpsest.v1.ContextService/M", "/evil.S", "/x"} {
			_ = w.Connection.Invoke(ctx, fmt.Sprintf("%s%d/m", method, i), &pb.GetConversationRequest{}, &pb.GetConversationResponse{})
		}
	}
	hostile(0)
	before := parse(t, w.scrape())
	var callers sync.WaitGroup
	for c := range 8 {
		callers.Go(func() {
			for i := c; i < 1000; i += 8 {
				hostile(i + 1)
			}
		})
	}
	callers.Wait()
	scrape := w.scrape()
	after := parse(t, scrape)
	for name, f := range after {
		if had, has := len(before[name].GetMetric()), len(f.GetMetric()); had != has {
			t.Errorf("%s had %d series and has %d", name, had, has)
		}
	}
	if got := sum(after["palimpsest_rpc_calls_total"], "unknown"); got != 3003 {
		t.Errorf("%v calls of unknown methods", got)
	}
	if got := sum(after["palimpsest_builds_total"], ""); got != 1001 {
		t.Errorf("%v builds", got)
	}
	if strings.Contains(string(scrape), canary) {
		t.Error("a name that a caller made up is in the scrape")
	}
}

// TestCanary_InEveryField_IsInNoLogMetricOrSpan makes every call with the canary as every id, name and text, with all that operators can switch
// on, and looks for it in all that operators see.
func TestCanary_InEveryField_IsInNoLogMetricOrSpan(t *testing.T) {
	t.Parallel()
	w := start(t, "--reflection")
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-request-id", canary+"/x", "tracestate", "evil="+canary, "baggage", "b="+canary, "x-other", canary)
	w.append(ctx, canary, text(pb.Role_ROLE_USER, canary))
	if _, err := w.Context.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: canary, Model: canary}); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for range 2 { // the second time there is something by these names
		for _, service := range []protoreflect.FileDescriptor{
			pb.File_palimpsest_v1_content_service_proto, pb.File_palimpsest_v1_context_service_proto,
			pb.File_palimpsest_v1_conversation_service_proto, pb.File_palimpsest_v1_policy_service_proto,
		} {
			methods := service.Services().Get(0).Methods()
			for i := range methods.Len() {
				for depth := range 5 {
					calls++
					call(ctx, t, w.Connection, methods.Get(i), depth)
				}
			}
		}
	}
	_ = w.Connection.Invoke(ctx, "/"+canary+"/"+canary, &pb.GetConversationRequest{}, &pb.GetConversationResponse{})
	scrape := string(w.scrape())
	w.stop()
	for what, seen := range map[string]string{"log": w.sidecar.Log(), "metrics": scrape, "spans": w.collector.text()} {
		for line := range strings.Lines(seen) {
			if strings.Contains(line, canary) {
				t.Errorf("the %s tells: %s", what, line)
			}
		}
	}
	if n := len(w.collector.spans()); n < calls || calls < 200 || strings.Count(w.sidecar.Log(), `"request_id"`) < calls {
		t.Errorf("%d calls, %d spans: not enough was looked at", calls, n)
	}
}

// call makes a call of any kind with the canary in its request, down to some depth.
func call(ctx context.Context, t *testing.T, conn *grpc.ClientConn, method protoreflect.MethodDescriptor, depth int) {
	t.Helper()
	full := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	kind, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
	if err != nil {
		t.Fatal(err)
	}
	request, reply := kind.New(), dynamicpb.NewMessage(method.Output())
	fill(request, depth)
	if !method.IsStreamingClient() && !method.IsStreamingServer() {
		_ = conn.Invoke(ctx, full, request.Interface(), reply)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: method.IsStreamingClient(), ServerStreams: method.IsStreamingServer()}, full)
	if err != nil {
		t.Fatal(err)
	}
	_ = stream.SendMsg(request.Interface())
	_ = stream.CloseSend()
	_ = stream.RecvMsg(reply)
}

// fill gives every text of a message the canary, down to some depth.
func fill(m protoreflect.Message, depth int) {
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		var value protoreflect.Value
		switch {
		case f.Kind() == protoreflect.StringKind && !strings.HasSuffix(string(f.Name()), "_token"):
			value = protoreflect.ValueOfString(canary)
		case f.Kind() == protoreflect.BytesKind:
			value = protoreflect.ValueOfBytes([]byte(canary + "\n"))
		case f.Kind() == protoreflect.EnumKind && !f.IsList():
			value = protoreflect.ValueOfEnum(2)
		case f.Kind() == protoreflect.MessageKind && !f.IsMap() && depth > 0 && !strings.HasPrefix(string(f.Message().FullName()), "google."):
			inner := m.NewField(f)
			if f.IsList() {
				inner = inner.List().NewElement()
			}
			fill(inner.Message(), depth-1)
			value = inner
		default:
			continue
		}
		if f.IsList() {
			m.Mutable(f).List().Append(value)
		} else if !f.IsMap() {
			m.Set(f, value)
		}
	}
}
