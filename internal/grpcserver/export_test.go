package grpcserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func export(t *testing.T, s *sidecar, id string) []byte {
	t.Helper()
	stream, err := s.conversations.ExportConversation(t.Context(), &pb.ExportConversationRequest{ConversationId: id})
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(piece.GetChunk()) > 1<<20 {
			t.Errorf("a chunk of %d bytes", len(piece.GetChunk()))
		}
		out = append(out, piece.GetChunk()...)
	}
}

func importAs(ctx context.Context, s *sidecar, id string, data []byte, chunk int) (*pb.ImportConversationResponse, error) {
	stream, err := s.conversations.ImportConversation(ctx)
	if err != nil {
		return nil, err
	}
	pieces := []*pb.ImportConversationRequest{{Payload: &pb.ImportConversationRequest_ConversationId{ConversationId: id}}}
	for len(data) > 0 {
		n := min(chunk, len(data))
		pieces = append(pieces, &pb.ImportConversationRequest{Payload: &pb.ImportConversationRequest_Chunk{Chunk: data[:n]}})
		data = data[n:]
	}
	for _, p := range pieces {
		if stream.Send(p) != nil {
			break // the answer says why
		}
	}
	return stream.CloseAndRecv()
}

// rich is a conversation that has all that a conversation can have: calls, results of every shape, blocks of a provider, a pin,
// a clipped result, builds in several formats, a reported usage, a request id, a correction.
func rich(t *testing.T, s *sidecar, id string) {
	t.Helper()
	ctx := t.Context()
	add := func(m *pb.Message) {
		if _, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: id, Message: m}); err != nil {
			t.Fatal(err)
		}
	}
	window := int32(4000)
	if _, err := s.conversations.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: id, ActorId: "actor", AgentId: "agent", Title: "títle", MetadataJson: `{ "a":1}`,
		Policy: &pb.Policy{Fit: &pb.FitPolicy{ContextWindowTokens: &window, ReservedOutputTokens: new(int32(0))}, Ttl: ttlOf(3600e9).Ttl},
	}}); err != nil {
		t.Fatal(err)
	}
	add(&pb.Message{Role: pb.Role_ROLE_SYSTEM, Parts: []*pb.Part{textPart("be brief")}})
	pinned := userText("remember \"this\"\n<&> ")
	pinned.Pinned, pinned.Tags, pinned.RunId, pinned.MetadataJson = true, []string{"t"}, "run", `{"k": "v"}`
	add(pinned)
	for i := range 6 {
		add(&pb.Message{Role: pb.Role_ROLE_ASSISTANT, Model: "m", Parts: []*pb.Part{
			{Content: &pb.Part_Reasoning{Reasoning: &pb.Reasoning{Text: "hm", Signature: "sig", Provider: "anthropic"}}},
			textPart("looking"), callPart("same-id", "read"), callPart("other", "list"), callPart("third", "view"),
			opaquePart(&pb.Opaque{Provider: "openai", Json: `{"type": "x"}`}),
		}})
		add(&pb.Message{Role: pb.Role_ROLE_TOOL, MessageType: pb.MessageType_MESSAGE_TYPE_ACTION_RESULT, Parts: []*pb.Part{
			resultPart(&pb.ToolResult{CallId: "same-id", Output: &pb.ToolResult_Text{Text: strings.Repeat("line of a large result\n", 200*(i+1))}}),
			resultPart(&pb.ToolResult{CallId: "other", State: pb.ToolResultState_TOOL_RESULT_STATE_ERROR, Output: &pb.ToolResult_Json{Json: `[1, 2]`}}),
			resultPart(&pb.ToolResult{CallId: "third", Output: &pb.ToolResult_Parts{Parts: &pb.ToolResultParts{Parts: []*pb.ToolResultPart{
				{Content: &pb.ToolResultPart_Text{Text: "seen"}},
				{Content: &pb.ToolResultPart_Media{Media: &pb.Media{MimeType: "image/png", Source: &pb.Media_Data{Data: []byte{0, 255, 10}}}}},
			}}}}),
		}})
		built, err := s.contexts.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: id, Format: pb.ContextFormat(1 + i%5), Model: "m", RequestId: "r" + string(rune('0'+i))})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.contexts.ReportUsage(ctx, &pb.ReportUsageRequest{ConversationId: id, ManifestId: built.GetManifestId(), Usage: &pb.Usage{InputTokens: 3000 + int32(i)*10}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.contexts.CorrectMessage(ctx, &pb.CorrectMessageRequest{
		ConversationId: id, Target: &pb.CorrectMessageRequest_MessageIndex{MessageIndex: 3}, Reason: "misread", Corrections: []*pb.Correction{
			{PartIndex: 0, Content: &pb.Correction_Text{Text: strings.Repeat("line as it should be\n", 2000)}}, {PartIndex: 1, Content: &pb.Correction_Json{Json: `[2, 1]`}},
		},
	}); err != nil {
		t.Fatal(err)
	}
}

func TestServer_ExportImport_RoundTripIsTheIdentity(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	rich(t, s, "original")
	first := export(t, s, "original")
	for _, want := range []string{`"edit":`, `"EDIT_CORRECT"`, `"manifest":`, `"state":`, `"end":`} {
		if !bytes.Contains(first, []byte(want)) {
			t.Errorf("the export has no %s", want)
		}
	}
	imported, err := importAs(ctx, s, "copy", first, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if c := imported.GetConversation(); c.GetId() != "copy" || c.GetTitle() != "títle" || c.GetMessageCount() != 14 {
		t.Errorf("imported %v", c)
	}
	if second := export(t, s, "copy"); !bytes.Equal(first, second) {
		t.Errorf("the copy exports to other bytes:\n%s", firstDifference(first, second))
	}
	req := &pb.BuildContextRequest{ConversationId: "original", Format: pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC, Model: "m", DryRun: true}
	one, err := s.contexts.BuildContext(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	req.ConversationId = "copy"
	other, err := s.contexts.BuildContext(ctx, req)
	if err != nil || one.GetRendered().GetContentSha256() != other.GetRendered().GetContentSha256() || one.GetTokens().GetTotal() != other.GetTokens().GetTotal() {
		t.Errorf("the copy builds another context: %v", err)
	}
	_, err = importAs(ctx, s, "copy", first, 1000)
	wantReason(t, err, codes.AlreadyExists, "CONVERSATION_EXISTS")
}

func firstDifference(a, b []byte) string {
	one, other := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(one), len(other)) {
		if !bytes.Equal(one[i], other[i]) {
			return string(one[i]) + "\n" + string(other[i])
		}
	}
	return "one is longer"
}

func TestServer_ImportConversation_BadInputCreatesNothing(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	rich(t, s, "c")
	good := export(t, s, "c")
	for name, data := range map[string][]byte{
		"nothing":       nil,
		"cut off":       good[:len(good)-10],
		"not JSON":      []byte("hello\n"),
		"wrong role":    bytes.Replace(good, []byte(`"role":"ROLE_TOOL"`), []byte(`"role":"ROLE_USER"`), 1),
		"long run id":   bytes.Replace(good, []byte(`"runId":"run"`), []byte(`"runId":"`+strings.Repeat("x", long)+`"`), 1),
		"wrong counter": bytes.Replace(good, []byte(`"counter":"o200k"`), []byte(`"counter":"gpt"`), 1),
	} {
		_, err := importAs(ctx, s, "new", data, 1<<20)
		v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
		if !strings.Contains(v["chunk"], "line ") {
			t.Errorf("%s: violations %v", name, v)
		}
		_, err = s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "new"})
		wantReason(t, err, codes.NotFound, "CONVERSATION_NOT_FOUND")
	}
	stream, err := s.conversations.ImportConversation(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.CloseAndRecv()
	if v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); v["conversation_id"] == "" {
		t.Errorf("violations %v", v)
	}
}
