package badinput

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

const (
	// secret stands in every request that can hold it, and must stand in no answer and no log line.
	secret = "pl4nted-s3cret"
	// target is the conversation that the faulty requests are about.
	target = "target"
	// aged is a conversation in which results have expired and been erased, and plugins' blocks have gone.
	aged       = "aged"
	agedExport = "the export of the aged one"
	gone       = "deleted"
	nobody     = "unknown"
	// cited is a conversation that has contents, and cites results.
	cited       = "cited"
	citedExport = "the export of the cited one"
)

// world is a sidecar and the conversations that must not change.
type world struct {
	*process.Client
	ctx     context.Context
	sidecar *process.Sidecar
	handles handles
	before  map[string][]byte
	export  []byte
}

func newWorld(t *testing.T) *world {
	t.Helper()
	sidecar, err := process.Start(binary, t.TempDir(), "--log-level", "debug")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sidecar.Kill)
	client, err := sidecar.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	w := &world{Client: client, ctx: t.Context(), sidecar: sidecar}
	w.populate(t)
	w.before = w.look(t)
	return w
}

// must ends the test for a request that is in order.
func must[R any](t *testing.T) func(R, error) R {
	t.Helper()
	return func(reply R, err error) R {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
}

// populate makes a conversation with everything that requests can be wrong about: calls answered and open, builds, request ids.
func (w *world) populate(t *testing.T) {
	t.Helper()
	must[*pb.CreateConversationResponse](t)(w.Conversations.CreateConversation(w.ctx, &pb.CreateConversationRequest{
		Conversation: &pb.Conversation{Id: target, MetadataJson: `{"kept": 1}`, Policy: &pb.Policy{Fit: &pb.FitPolicy{ContextWindowTokens: new(int32(8000)), ReservedOutputTokens: new(int32(500))}}},
	}))
	history := []*pb.Message{
		{Role: pb.Role_ROLE_SYSTEM, Parts: parts("Be brief.")},
		{Role: pb.Role_ROLE_USER, Parts: parts("What is in the file?"), Pinned: true},
		{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{call("c1", "read"), call("c2", "read")}},
		{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{result("c1", strings.Repeat("line\n", 6000))}},
		{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{result("c2", "short")}},
		{Role: pb.Role_ROLE_USER, Parts: parts("Go on.")},
	}
	for _, m := range history {
		must[*pb.AppendMessageResponse](t)(w.Context.AppendMessage(w.ctx, &pb.AppendMessageRequest{ConversationId: target, Message: m}))
	}
	w.build(t, pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC)
	must[*pb.AppendMessageResponse](t)(w.Context.AppendMessage(w.ctx, &pb.AppendMessageRequest{
		ConversationId: target, RequestId: "used", Message: &pb.Message{Role: pb.Role_ROLE_USER, Parts: parts("Again.")},
	}))
	w.build(t, pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL)
	must[*pb.AppendMessageResponse](t)(w.Context.AppendMessage(w.ctx, &pb.AppendMessageRequest{ConversationId: gone, Message: history[1]}))
	must[*pb.DeleteConversationResponse](t)(w.Conversations.DeleteConversation(w.ctx, &pb.DeleteConversationRequest{ConversationId: gone}))
	w.age(t)
	w.configure(t)
	w.fill(t)
	w.export = must[[]byte](t)(w.Export(w.ctx, target))
}

func (w *world) build(t *testing.T, format pb.ContextFormat) {
	t.Helper()
	must[*pb.BuildContextResponse](t)(w.Context.BuildContext(w.ctx, &pb.BuildContextRequest{ConversationId: target, Format: format, RequestId: "build-" + format.String()}))
}

func parts(s string) []*pb.Part { return []*pb.Part{text(s)} }

func text(s string) *pb.Part { return &pb.Part{Content: &pb.Part_Text{Text: s}} }

func call(id, name string) *pb.Part {
	return &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{CallId: id, Name: name, ArgumentsJson: "{}"}}}
}

func result(id, content string) *pb.Part {
	return &pb.Part{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: id, Output: &pb.ToolResult_Text{Text: content}}}}
}

// look is everything that callers can see of the world, byte for byte.
func (w *world) look(t *testing.T) map[string][]byte {
	t.Helper()
	seen := map[string][]byte{
		"GetConversation":    canonical(t)(w.Conversations.GetConversation(w.ctx, &pb.GetConversationRequest{ConversationId: target})),
		"ListConversations":  canonical(t)(w.Conversations.ListConversations(w.ctx, &pb.ListConversationsRequest{})),
		"ListManifests":      canonical(t)(w.Conversations.ListManifests(w.ctx, &pb.ListManifestsRequest{ConversationId: target})),
		"ListModelProfiles":  canonical(t)(w.Policies.ListModelProfiles(w.ctx, &pb.ListModelProfilesRequest{})),
		"ListActionPolicies": canonical(t)(w.Policies.ListActionPolicies(w.ctx, &pb.ListActionPoliciesRequest{})),
		"ListPrompts":        canonical(t)(w.Policies.ListPrompts(w.ctx, &pb.ListPromptsRequest{})),
		"ExportConversation": must[[]byte](t)(w.Export(w.ctx, target)),
		agedExport:           must[[]byte](t)(w.Export(w.ctx, aged)),
		citedExport:          must[[]byte](t)(w.Export(w.ctx, cited)),
		"ListSources":        canonical(t)(w.Contents.ListSources(w.ctx, &pb.ListSourcesRequest{ConversationId: cited})),
	}
	for _, view := range []pb.ListView{pb.ListView_LIST_VIEW_ORIGINAL, pb.ListView_LIST_VIEW_CURRENT} {
		seen["ListMessages "+view.String()] = canonical(t)(w.Conversations.ListMessages(w.ctx, &pb.ListMessagesRequest{ConversationId: target, View: view}))
	}
	_, err := w.Conversations.GetConversation(w.ctx, &pb.GetConversationRequest{ConversationId: gone})
	seen["the deleted one"] = []byte(process.Reason(err))
	return seen
}

func canonical(t *testing.T) func(proto.Message, error) []byte {
	t.Helper()
	return func(m proto.Message, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

// unchanged compares the world with what it was.
func (w *world) unchanged(t *testing.T) {
	t.Helper()
	for what, now := range w.look(t) {
		if !bytes.Equal(now, w.before[what]) {
			t.Errorf("%s answers differently than before the request:\n%q\nbefore:\n%q", what, clip(now), clip(w.before[what]))
		}
	}
}

func clip(b []byte) []byte { return b[:min(len(b), 1000)] }

// refusal is what a bad request must be answered.
type refusal struct {
	code   codes.Code
	reason string   // empty where gRPC refuses before any handler runs
	fields []string // the violated ones, in order
}

func invalid(fields ...string) refusal {
	return refusal{codes.InvalidArgument, "INVALID_FIELD", fields}
}

// holds compares an error with what it must be.
func (r refusal) holds(t *testing.T, err error) {
	t.Helper()
	answer := status.Convert(err)
	if answer.Code() != r.code || process.Reason(err) != r.reason {
		t.Errorf("answered %s %q (%s), want %s %q", answer.Code(), process.Reason(err), answer.Message(), r.code, r.reason)
	}
	if got := violated(answer); !slices.Equal(got, r.fields) {
		t.Errorf("violated %q, want %q", got, r.fields)
	}
	if r.reason != "" && domain(answer) != "palimpsest.dev" {
		t.Errorf("the reason's domain is %q", domain(answer))
	}
	silent(t, "the answer", answer)
}

func violated(answer *status.Status) (fields []string) {
	for _, detail := range answer.Details() {
		if bad, ok := detail.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				fields = append(fields, v.GetField())
			}
		}
	}
	return fields
}

func domain(answer *status.Status) string {
	for _, detail := range answer.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetDomain()
		}
	}
	return ""
}

// silent demands that an answer does not hold the secret, in any of its details either.
func silent(t *testing.T, what string, answer *status.Status) {
	t.Helper()
	wire, err := proto.Marshal(answer.Proto())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(wire, []byte(secret)) {
		t.Errorf("%s repeats what the request said: %s", what, answer.Proto())
	}
}

// line is a line of an export, to be changed.
type line = map[string]any

func linesOf(t *testing.T, export []byte) []line {
	t.Helper()
	var out []line
	for raw := range bytes.Lines(export) {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		var l line
		if err := decoder.Decode(&l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func joined(t *testing.T, lines []line) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, l := range lines {
		if err := json.NewEncoder(&out).Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}
