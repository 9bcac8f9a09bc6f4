package grpcserver

import (
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const (
	chatUser  = `{"role":"user","content":"What is the weather in Kraków?"}`
	chatReply = `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-x-2026","choices":[{"index":0,"finish_reason":"tool_calls","logprobs":null,` +
		`"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Kraków\"}"}},` +
		`{"id":"b","type":"function","function":{"name":"palimpsest__search_conversation","arguments":"{\"query\":\"rain\"}"}}]}}],` +
		`"usage":{"prompt_tokens":40,"completion_tokens":9,"total_tokens":49}}`
	chatResults = `[{"role":"tool","tool_call_id":"a","content":"rain"},{"role":"tool","tool_call_id":"b","content":"nothing"}]`
)

func chat(json string, change ...func(*pb.ProviderInput)) *pb.ProviderInput {
	in := &pb.ProviderInput{Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT, Json: json}
	for _, c := range change {
		c(in)
	}
	return in
}

func asMessages(in *pb.ProviderInput) { in.Shape = pb.ProviderInputShape_PROVIDER_INPUT_SHAPE_MESSAGE }

// stepOf builds for Chat, and appends items first.
func stepOf(items ...*pb.ProviderInput) *pb.BuildContextRequest {
	req := &pb.BuildContextRequest{ConversationId: "c", Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT, Append: &pb.BuildAppend{}}
	for _, in := range items {
		req.Append.Items = append(req.Append.Items, &pb.BatchAppendItem{ProviderInput: in})
	}
	return req
}

// TestServer_ProviderInput_AgentLoop: a step is one call and one request id; the reply comes with its usage and says what waits.
func TestServer_ProviderInput_AgentLoop(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	req := stepOf(chat(`{"role":"system","content":"Be brief."}`), chat(chatUser, func(in *pb.ProviderInput) { in.RunId, in.Tags = "r", []string{"x"} }))
	req.RequestId = "one"
	built := mustBuild(t, s, req)
	if n := len(built.GetReceipts()); n != 2 || built.GetReceipts()[1].GetIndex() != 1 || built.GetRevision() != built.GetReceipts()[0].GetRevision() {
		t.Errorf("receipts %v at revision %d", built.GetReceipts(), built.GetRevision())
	}
	again := mustBuild(t, s, req)
	if !again.GetDuplicate() || len(again.GetReceipts()) != 2 || again.GetRendered().GetContentSha256() != built.GetRendered().GetContentSha256() {
		t.Errorf("the retry: %v", again)
	}

	reply, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", ProviderInput: chat(chatReply)})
	if err != nil {
		t.Fatal(err)
	}
	calls := reply.GetCalls()
	if len(calls) != 2 || calls[0].GetRecalls() || !calls[1].GetRecalls() || calls[1].GetToolCall().GetCallId() != "b" || calls[0].GetMessageIndex() != 2 {
		t.Errorf("calls %v", calls)
	}
	if len(reply.GetReceipts()) != 1 || reply.GetReceipt().GetIndex() != 2 {
		t.Errorf("receipts %v", reply.GetReceipts())
	}
	results := stepOf()
	results.Append = &pb.BuildAppend{ProviderInput: chat(chatResults, asMessages)}
	built = mustBuild(t, s, results)
	if got := string(built.GetRendered().GetMessagesJson()); !strings.Contains(got, `"content":"rain"`) || built.GetTurn() != 2 {
		t.Errorf("turn %d: %s", built.GetTurn(), got)
	}
	if !built.GetCompaction().GetReported() {
		t.Error("the reply's usage was not counted")
	}
	m, err := s.conversations.GetMessage(ctx, &pb.GetMessageRequest{ConversationId: "c", MessageIndex: 1})
	if err != nil || m.GetMessage().GetRunId() != "r" || len(m.GetMessage().GetTags()) != 1 {
		t.Errorf("%v, %v", m, err)
	}
}

// TestServer_ProviderInput_New_NamesTheConversation: a person edits the first message; what goes on is named, and says what it continues.
func TestServer_ProviderInput_New_NamesTheConversation(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	anew := func(json string) *pb.BuildContextRequest {
		req := stepOf()
		req.Append.ProviderInput = chat(json, func(in *pb.ProviderInput) {
			in.History = &pb.HistoryOptions{OnDivergence: pb.OnDivergence_ON_DIVERGENCE_NEW}
		})
		return req
	}
	for _, json := range []string{`[{"role":"user","content":"hi"}]`, `[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"and?"}]`} {
		if id := mustBuild(t, s, anew(json)).GetHistory().GetConversationId(); id != "c" {
			t.Errorf("%s stands in %q", json, id)
		}
	}
	id := mustBuild(t, s, anew(`[{"role":"user","content":"hello!"}]`)).GetHistory().GetConversationId()
	got, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: id})
	if err != nil || got.GetConversation().GetContinues() != "c" || got.GetConversation().GetMessageCount() != 1 {
		t.Fatalf("%v, %v", err, got)
	}
	old, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "c"})
	if err != nil || old.GetConversation().GetContinues() != "" || old.GetConversation().GetMessageCount() != 3 {
		t.Fatalf("%v, %v", err, old)
	}
	later := anew(`[{"role":"user","content":"hello!"},{"role":"assistant","content":"hello"},{"role":"user","content":"so?"}]`)
	if h := mustBuild(t, s, later).GetHistory(); h.GetConversationId() != id || h.GetMatchedCount() != 1 {
		t.Errorf("%v", h)
	}
}

// TestServer_ProviderInput_Refused: what is wrong is named by its place, and nothing is on record of it.
func TestServer_ProviderInput_Refused(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	neither, both := &pb.AppendMessageRequest{ConversationId: "c"}, &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x"), ProviderInput: chat(chatUser)}
	for name, c := range map[string]struct {
		req   *pb.AppendMessageRequest
		field string
	}{
		"neither":      {neither, "message"},
		"both":         {both, "message"},
		"neutral":      {&pb.AppendMessageRequest{ConversationId: "c", ProviderInput: &pb.ProviderInput{Format: 1, Json: "{}"}}, "provider_input.format"},
		"no JSON":      {&pb.AppendMessageRequest{ConversationId: "c", ProviderInput: chat("{nothing")}, "provider_input.json"},
		"variants":     {&pb.AppendMessageRequest{ConversationId: "c", ProviderInput: chat(chatUser), ReturnVariants: true}, "return_variants"},
		"a long name":  {&pb.AppendMessageRequest{ConversationId: "c", ProviderInput: chat(`{"role":"user","name":"` + strings.Repeat("n", 300) + `","content":"x"}`)}, "provider_input.json.name"},
		"known of one": {&pb.AppendMessageRequest{ConversationId: "c", ProviderInput: chat("[]", func(in *pb.ProviderInput) { in.History = &pb.HistoryOptions{KnownCount: 3} })}, "provider_input.history.known_sha256"},
	} {
		_, err := s.contexts.AppendMessage(ctx, c.req)
		if found := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); found[c.field] == "" {
			t.Errorf("%s: %v", name, found)
		}
	}
	_, err := s.contexts.BuildContext(ctx, stepOf(chat("["+chatUser+"]")))
	if found := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); found["append.items[0].provider_input.shape"] == "" {
		t.Errorf("a whole list among items: %v", found)
	}
	_, err = s.contexts.BuildContext(ctx, stepOf(chat(`{"role":"tool","tool_call_id":"a","content":"rain"}`)))
	if found := wantReason(t, err, codes.InvalidArgument, "RESULT_WITHOUT_CALL"); found["append.items[0].provider_input.messages[0].parts[0].tool_result.call_id"] == "" {
		t.Errorf("a result without call: %v", found)
	}
	wantNotAppended(t, err)
	_, err = s.contexts.BuildContext(ctx, stepOf(chat(chatUser), chat(chatReply)))
	wantReason(t, err, codes.FailedPrecondition, "PENDING_TOOL_CALLS")
	wantNotAppended(t, err)
	if _, err := s.conversations.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: "c"}); status.Code(err) != codes.NotFound {
		t.Errorf("the conversation was begun: %v", err)
	}
}

// TestServer_UsageJSON_Fault_NamesItsPlace: the place is that in what was sent, and stands in the field that held it.
func TestServer_UsageJSON_Fault_NamesItsPlace(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	for json, field := range map[string]string{
		`{"promptTokenCount":-1}`: "last_usage_json.promptTokenCount", `{"usage":}`: "last_usage_json",
	} {
		_, err := s.contexts.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: "c", LastUsageJson: json})
		if found := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD"); found[field] == "" {
			t.Errorf("%s: %v", json, found)
		}
	}
}

// wantNotAppended fails unless an error says that nothing is on record.
func wantNotAppended(t *testing.T, err error) {
	t.Helper()
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetMetadata()["appended"] == "false" && strings.HasSuffix(status.Convert(err).Message(), "nothing was appended") {
			return
		}
	}
	t.Errorf("%v does not say that nothing was appended", err)
}

// TestServer_ProviderInput_Aborted: a reply that was cut off is on record as far as it is whole, and nothing waits for it.
func TestServer_ProviderInput_Aborted(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	aborted := func(in *pb.ProviderInput) { in.Aborted = true }
	cut := `{"role":"assistant","content":"It is","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{\"ci"}}]}`
	mustBuild(t, s, stepOf(chat(chatUser)))
	kept, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", ProviderInput: chat(cut, aborted)})
	if err != nil || len(kept.GetReceipts()) != 1 || len(kept.GetCalls()) != 0 || kept.GetLeftOutCalls() != 1 {
		t.Fatalf("%v, %v", kept, err)
	}
	none := `{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"f","arguments":"{\"ci"}}]}`
	nothing, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", ProviderInput: chat(none, aborted)})
	if err != nil || nothing.GetReceipt() != nil || len(nothing.GetReceipts()) != 0 || nothing.GetLeftOutCalls() != 1 {
		t.Fatalf("%v, %v", nothing, err)
	}
	built := mustBuild(t, s, stepOf(chat(none, aborted), chat(`{"role":"user","content":"Go on."}`)))
	if len(built.GetReceipts()) != 1 || built.GetReceipts()[0].GetIndex() != 2 || built.GetLeftOutCalls() != 1 {
		t.Errorf("receipts %v, %d calls left out", built.GetReceipts(), built.GetLeftOutCalls())
	}
	batch, err := s.contexts.BatchAppendMessages(ctx, &pb.BatchAppendMessagesRequest{ConversationId: "c", Items: []*pb.BatchAppendItem{{ProviderInput: chat(cut, aborted)}}})
	if err != nil || len(batch.GetReceipts()) != 1 || batch.GetLeftOutCalls() != 1 {
		t.Errorf("%v, %v", batch, err)
	}
}

// TestServer_ProviderInput_AbortedList: of a list, the reply that was cut off is the last. Those before it were whole.
func TestServer_ProviderInput_AbortedList(t *testing.T) {
	s, ctx := start(t, realEngine(t)), t.Context()
	list := "[" + chatUser + `,{"role":"assistant","content":"whole"},` + chatUser + `,{"role":"assistant","content":"cut"}]`
	_, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "c", ProviderInput: chat(list, func(in *pb.ProviderInput) {
		in.Aborted, in.Tags = true, []string{"x"}
	})})
	if err != nil {
		t.Fatal(err)
	}
	for index, want := range []int{1, 1, 1, 2} { // tags
		m, err := s.conversations.GetMessage(ctx, &pb.GetMessageRequest{ConversationId: "c", MessageIndex: int32(index)})
		if err != nil || len(m.GetMessage().GetTags()) != want {
			t.Errorf("message %d: %v, %v", index, err, m.GetMessage().GetTags())
		}
	}
}
