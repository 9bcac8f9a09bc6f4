package badinput

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// row is one faulty request.
type row struct {
	rpc     string
	what    string
	request any
	want    refusal
}

// TestRequest_OfEveryFault_IsRefusedAndChangesNothing sends every row, and looks at the world after each.
func TestRequest_OfEveryFault_IsRefusedAndChangesNothing(t *testing.T) {
	w := newWorld(t)
	for _, table := range [][]row{
		identityRows(), messageRows(), partRows(), appendRows(), budgetRows(), buildRows(), listRows(), updateRows(), profileRows(), largeRows(), windowRows(),
		expirationRows(), additionRows(), expandRows(), policyRows(), catalogueRows(), correctionRows(), retrievalRows(), contentSearchRows(), runRows(), citationRows(),
		w.handleRows(), memoryRows(), memoryPolicyRows(),
	} {
		for _, r := range table {
			t.Run(r.rpc+"/"+r.what, func(t *testing.T) {
				r.want.holds(t, w.send(t, r.request))
				w.unchanged(t)
			})
		}
	}
	if strings.Contains(w.sidecar.Log(), secret) {
		t.Error("the log repeats what a request said")
	}
}

// send makes the call that a request is for.
func (w *world) send(t *testing.T, request any) (err error) {
	t.Helper()
	switch r := request.(type) {
	case *pb.AppendMessageRequest:
		_, err = w.Context.AppendMessage(w.ctx, r)
	case *pb.BatchAppendMessagesRequest:
		_, err = w.Context.BatchAppendMessages(w.ctx, r)
	case *pb.BuildContextRequest:
		_, err = w.Context.BuildContext(w.ctx, r)
	case *pb.ExpandMessageRequest:
		_, err = w.Context.ExpandMessage(w.ctx, r)
	case *pb.CompactConversationRequest:
		_, err = w.Context.CompactConversation(w.ctx, r)
	case *pb.RewindConversationRequest:
		_, err = w.Context.RewindConversation(w.ctx, r)
	case *pb.UndoRewindRequest:
		_, err = w.Context.UndoRewind(w.ctx, r)
	case *pb.CorrectMessageRequest:
		_, err = w.Context.CorrectMessage(w.ctx, r)
	case *pb.ReportUsageRequest:
		_, err = w.Context.ReportUsage(w.ctx, r)
	case *pb.CreateConversationRequest:
		_, err = w.Conversations.CreateConversation(w.ctx, r)
	case *pb.GetConversationRequest:
		_, err = w.Conversations.GetConversation(w.ctx, r)
	case *pb.ListConversationsRequest:
		_, err = w.Conversations.ListConversations(w.ctx, r)
	case *pb.UpdateConversationRequest:
		_, err = w.Conversations.UpdateConversation(w.ctx, r)
	case *pb.DeleteConversationRequest:
		_, err = w.Conversations.DeleteConversation(w.ctx, r)
	case *pb.GetMessageRequest:
		_, err = w.Conversations.GetMessage(w.ctx, r)
	case *pb.ListMessagesRequest:
		_, err = w.Conversations.ListMessages(w.ctx, r)
	case *pb.CountMessagesRequest:
		_, err = w.Conversations.CountMessages(w.ctx, r)
	case *pb.GetManifestRequest:
		_, err = w.Conversations.GetManifest(w.ctx, r)
	case *pb.ListManifestsRequest:
		_, err = w.Conversations.ListManifests(w.ctx, r)
	case *pb.ExportConversationRequest:
		_, err = w.Export(w.ctx, r.GetConversationId())
	case *pb.PutModelProfileRequest:
		_, err = w.Policies.PutModelProfile(w.ctx, r)
	case *pb.GetModelProfileRequest:
		_, err = w.Policies.GetModelProfile(w.ctx, r)
	case *pb.ListModelProfilesRequest:
		_, err = w.Policies.ListModelProfiles(w.ctx, r)
	case *pb.DeleteModelProfileRequest:
		_, err = w.Policies.DeleteModelProfile(w.ctx, r)
	default:
		return w.sendCatalogue(t, request)
	}
	return err
}

// sendCatalogue makes the calls about action policies and prompts.
func (w *world) sendCatalogue(t *testing.T, request any) (err error) {
	t.Helper()
	switch r := request.(type) {
	case *pb.PutActionPolicyRequest:
		_, err = w.Policies.PutActionPolicy(w.ctx, r)
	case *pb.GetActionPolicyRequest:
		_, err = w.Policies.GetActionPolicy(w.ctx, r)
	case *pb.ListActionPoliciesRequest:
		_, err = w.Policies.ListActionPolicies(w.ctx, r)
	case *pb.DeleteActionPolicyRequest:
		_, err = w.Policies.DeleteActionPolicy(w.ctx, r)
	case *pb.PutPromptRequest:
		_, err = w.Policies.PutPrompt(w.ctx, r)
	case *pb.GetPromptRequest:
		_, err = w.Policies.GetPrompt(w.ctx, r)
	case *pb.ListPromptsRequest:
		_, err = w.Policies.ListPrompts(w.ctx, r)
	case *pb.DeletePromptRequest:
		_, err = w.Policies.DeletePrompt(w.ctx, r)
	case *pb.SearchMemoriesRequest:
		_, err = w.Memories.SearchMemories(w.ctx, r)
	case *pb.ListMemoriesRequest:
		_, err = w.Memories.ListMemories(w.ctx, r)
	case *pb.AddMemoryRequest:
		_, err = w.Memories.AddMemory(w.ctx, r)
	case *pb.DeleteMemoryRequest:
		_, err = w.Memories.DeleteMemory(w.ctx, r)
	case *pb.EndSessionRequest:
		_, err = w.Memories.EndSession(w.ctx, r)
	case *pb.GetMemorySyncRequest:
		_, err = w.Memories.GetMemorySync(w.ctx, r)
	case *pb.ForgetActorRequest:
		_, err = w.Memories.ForgetActor(w.ctx, r)
	case *pb.GetForgetRequest:
		_, err = w.Memories.GetForget(w.ctx, r)
	default:
		return w.sendContent(t, request)
	}
	return err
}

// about makes the request of each RPC that is about one conversation, in order but for the conversation.
func about(id string) map[string]any {
	return map[string]any{
		"AppendMessage":       &pb.AppendMessageRequest{ConversationId: id, Message: user(secret)},
		"BatchAppendMessages": &pb.BatchAppendMessagesRequest{ConversationId: id, Items: []*pb.BatchAppendItem{{Message: user(secret)}}},
		"BuildContext":        &pb.BuildContextRequest{ConversationId: id},
		"CompactConversation": &pb.CompactConversationRequest{ConversationId: id},
		"RewindConversation":  &pb.RewindConversationRequest{ConversationId: id},
		"UndoRewind":          &pb.UndoRewindRequest{ConversationId: id},
		"CorrectMessage":      correction(id, 0, "other words"),
		"ExpandMessage":       &pb.ExpandMessageRequest{ConversationId: id, Target: &pb.ExpandMessageRequest_MessageIndex{}},
		"ReportUsage":         &pb.ReportUsageRequest{ConversationId: id, ManifestId: "b1", Usage: &pb.Usage{InputTokens: 1}},
		"GetConversation":     &pb.GetConversationRequest{ConversationId: id},
		"UpdateConversation": &pb.UpdateConversationRequest{
			Conversation: &pb.Conversation{Id: id, Title: secret}, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"title"}},
		},
		"DeleteConversation": &pb.DeleteConversationRequest{ConversationId: id},
		"GetMessage":         &pb.GetMessageRequest{ConversationId: id},
		"ListMessages":       &pb.ListMessagesRequest{ConversationId: id},
		"CountMessages":      &pb.CountMessagesRequest{ConversationId: id},
		"GetManifest":        &pb.GetManifestRequest{ConversationId: id, ManifestId: "b1"},
		"ListManifests":      &pb.ListManifestsRequest{ConversationId: id},
		"ExportConversation": &pb.ExportConversationRequest{ConversationId: id},
		"StoreContent":       []*pb.StoreContentRequest{storing(&pb.StoreContentHeader{ConversationId: id}), storedBytes([]byte(secret))},
		"RetrieveContent":    &pb.RetrieveContentRequest{ConversationId: id, ContentId: madeUp, Selection: full()},
		"StreamContent":      &pb.StreamContentRequest{ConversationId: id, ContentId: madeUp},
		"SearchContent":      &pb.SearchContentRequest{ConversationId: id, Excerpts: looking(secret)},
		"SearchMessages":     &pb.SearchMessagesRequest{ConversationId: id, Query: secret},
		"ListSources":        &pb.ListSourcesRequest{ConversationId: id},
		"EndRun":             &pb.EndRunRequest{ConversationId: id, RunId: secret},
		"AnswerToolCall":     answering(id, "search_conversation", `{"query":"`+secret+`"}`),
	}
}

func user(s string) *pb.Message { return &pb.Message{Role: pb.Role_ROLE_USER, Parts: parts(s)} }

// identityRows: every RPC about one conversation is asked about none, and about ids that are none.
func identityRows() (rows []row) {
	long := strings.Repeat("x", 257)
	bad := map[string]string{"empty": "", "too long": long, "newline": secret + "\n", "nul": secret + "\x00", "C1 control": secret + "\u0085"}
	for what, id := range bad {
		for rpc, request := range about(id) {
			field := "conversation_id"
			switch rpc {
			case "UpdateConversation":
				field = "conversation.id"
			case "StoreContent":
				field = "header.conversation_id"
			}
			rows = append(rows, row{rpc, "id " + what, request, invalid(field)})
		}
		rows = append(rows, row{"CreateConversation", "id " + what, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: id}}, invalid("conversation.id")})
	}
	unknown := refusal{codes.NotFound, "CONVERSATION_NOT_FOUND", nil}
	deleted := refusal{codes.NotFound, "CONVERSATION_DELETED", nil}
	for rpc, request := range about(nobody) {
		if rpc != "AppendMessage" && rpc != "BatchAppendMessages" && rpc != "StoreContent" { // these create it
			rows = append(rows, row{rpc, "unknown conversation", request, unknown})
		}
	}
	for rpc, request := range about(gone) {
		if rpc != "DeleteConversation" { // may be repeated
			rows = append(rows, row{rpc, "deleted conversation", request, deleted})
		}
	}
	return rows
}

func appendOf(change func(*pb.Message)) *pb.AppendMessageRequest {
	m := user(secret)
	change(m)
	return &pb.AppendMessageRequest{ConversationId: target, Message: m}
}

// messageRows: what a message's own fields can be wrong about.
func messageRows() []row {
	long := strings.Repeat(secret, 20)
	many := make([]string, 65)
	for i := range many {
		many[i] = secret
	}
	rows := map[string]struct {
		change func(*pb.Message)
		fields []string
	}{
		"no role":              {func(m *pb.Message) { m.Role = 0 }, []string{"message.role"}},
		"unknown role":         {func(m *pb.Message) { m.Role = 99 }, []string{"message.role"}},
		"unknown type":         {func(m *pb.Message) { m.MessageType = 99 }, []string{"message.message_type"}},
		"unknown importance":   {func(m *pb.Message) { m.Importance = 99 }, []string{"message.importance"}},
		"important system":     {func(m *pb.Message) { m.Role, m.Importance = pb.Role_ROLE_SYSTEM, pb.Importance_IMPORTANCE_LOW }, []string{"message.importance"}},
		"negative type":        {func(m *pb.Message) { m.MessageType = -1 }, []string{"message.message_type"}},
		"no parts":             {func(m *pb.Message) { m.Parts = nil }, []string{"message.parts"}},
		"1,025 parts":          {func(m *pb.Message) { m.Parts = repeated(text(secret), 1025) }, []string{"message.parts"}},
		"id too long":          {func(m *pb.Message) { m.Id = long }, []string{"message.id"}},
		"model too long":       {func(m *pb.Message) { m.Model = long }, []string{"message.model"}},
		"name too long":        {func(m *pb.Message) { m.Name = long }, []string{"message.name"}},
		"name of two lines":    {func(m *pb.Message) { m.Name = secret + "\n" + secret }, []string{"message.name"}},
		"run and step":         {func(m *pb.Message) { m.RunId, m.StepId = long, long }, []string{"message.run_id", "message.step_id"}},
		"65 tags":              {func(m *pb.Message) { m.Tags = many }, []string{"message.tags"}},
		"tags empty and long":  {func(m *pb.Message) { m.Tags = []string{"", "ok", long} }, []string{"message.tags[0]", "message.tags[2]"}},
		"metadata array":       {func(m *pb.Message) { m.MetadataJson = `["` + secret + `"]` }, []string{"message.metadata_json"}},
		"metadata null":        {func(m *pb.Message) { m.MetadataJson = "null" }, []string{"message.metadata_json"}},
		"metadata broken":      {func(m *pb.Message) { m.MetadataJson = `{"` + secret }, []string{"message.metadata_json"}},
		"metadata two objects": {func(m *pb.Message) { m.MetadataJson = `{"` + secret + `":1}{}` }, []string{"message.metadata_json"}},
		"metadata too long":    {func(m *pb.Message) { m.MetadataJson = `{"a":"` + strings.Repeat("x", 65_536) + `"}` }, []string{"message.metadata_json"}},
		"65 actions":           {func(m *pb.Message) { m.Actions = repeated(&pb.ActionRef{ActionId: secret}, 65) }, []string{"message.actions"}},
		"action too long":      {func(m *pb.Message) { m.Actions = []*pb.ActionRef{{AgentActionId: long}} }, []string{"message.actions[0].agent_action_id"}},
		"five at once": {func(m *pb.Message) { m.Role, m.MessageType, m.Parts, m.RunId, m.MetadataJson = 0, 99, nil, long, "1" },
			[]string{"message.role", "message.parts", "message.message_type", "message.run_id", "message.metadata_json"}},
	}
	var out []row
	for what, r := range rows {
		out = append(out, row{"AppendMessage", what, appendOf(r.change), invalid(r.fields...)})
	}
	return out
}

func repeated[T any](one T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = one
	}
	return out
}

// every kind of part, in order.
func kinds() map[string]*pb.Part {
	return map[string]*pb.Part{
		"text":        text(secret),
		"media":       {Content: &pb.Part_Media{Media: &pb.Media{MimeType: "image/png", Source: &pb.Media_Uri{Uri: "https://example.com/" + secret}}}},
		"tool_call":   call("id", secret),
		"tool_result": result("id", secret),
		"reasoning":   {Content: &pb.Part_Reasoning{Reasoning: &pb.Reasoning{Provider: "openai", Text: secret}}},
		"opaque":      {Content: &pb.Part_Opaque{Opaque: &pb.Opaque{Provider: "openai", Json: `{"a":"` + secret + `"}`}}},
	}
}

// partRows: every part out of place for its role, and what parts can be wrong about.
func partRows() []row {
	var rows []row
	allowed := map[pb.Role]string{
		pb.Role_ROLE_SYSTEM: "text", pb.Role_ROLE_USER: "text media",
		pb.Role_ROLE_ASSISTANT: "text media tool_call reasoning opaque", pb.Role_ROLE_TOOL: "tool_result",
	}
	for role, holds := range allowed {
		for kind, part := range kinds() {
			if !strings.Contains(" "+holds+" ", " "+kind+" ") {
				rows = append(rows, row{"AppendMessage", kind + " in " + role.String(), appendOf(func(m *pb.Message) { m.Role, m.Parts = role, []*pb.Part{part} }),
					invalid("message.parts[0]." + kind)})
			}
		}
	}
	long := strings.Repeat(secret, 40)
	broken := []struct {
		what   string
		role   pb.Role
		part   *pb.Part
		fields []string
	}{
		{"empty part", pb.Role_ROLE_USER, &pb.Part{}, []string{"content"}},
		{"media without anything", pb.Role_ROLE_USER, &pb.Part{Content: &pb.Part_Media{Media: &pb.Media{}}}, []string{"media.mime_type", "media.source"}},
		{"media uri too long", pb.Role_ROLE_USER, &pb.Part{Content: &pb.Part_Media{Media: &pb.Media{MimeType: "a/b", Source: &pb.Media_Uri{Uri: strings.Repeat("x", 8193)}}}}, []string{"media.uri"}},
		{"call without id and name", pb.Role_ROLE_ASSISTANT, call("", ""), []string{"tool_call.call_id", "tool_call.name"}},
		{"call with long id", pb.Role_ROLE_ASSISTANT, call(long, secret), []string{"tool_call.call_id"}},
		{"result without id", pb.Role_ROLE_TOOL, result("", secret), []string{"tool_result.call_id"}},
		{"result of unknown state", pb.Role_ROLE_TOOL, &pb.Part{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: "c", State: 99}}}, []string{"tool_result.state"}},
		{"result of broken json", pb.Role_ROLE_TOOL, &pb.Part{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: "c", Output: &pb.ToolResult_Json{Json: "{" + secret}}}}, []string{"tool_result.json"}},
		{"result of no pieces", pb.Role_ROLE_TOOL, &pb.Part{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: "c", Output: &pb.ToolResult_Parts{Parts: &pb.ToolResultParts{}}}}}, []string{"tool_result.parts.parts"}},
		{"result of an empty piece", pb.Role_ROLE_TOOL, &pb.Part{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: "c", Output: &pb.ToolResult_Parts{Parts: &pb.ToolResultParts{Parts: []*pb.ToolResultPart{{}}}}}}}, []string{"tool_result.parts.parts[0].content"}},
		{"reasoning of nobody", pb.Role_ROLE_ASSISTANT, &pb.Part{Content: &pb.Part_Reasoning{Reasoning: &pb.Reasoning{Text: secret}}}, []string{"reasoning.provider"}},
		{"opaque that is no object", pb.Role_ROLE_ASSISTANT, &pb.Part{Content: &pb.Part_Opaque{Opaque: &pb.Opaque{Provider: "openai", Json: `"` + secret + `"`}}}, []string{"opaque.json"}},
		{"opaque of nothing", pb.Role_ROLE_ASSISTANT, &pb.Part{Content: &pb.Part_Opaque{Opaque: &pb.Opaque{}}}, []string{"opaque.provider", "opaque.json"}},
	}
	for _, b := range broken {
		fields := make([]string, len(b.fields))
		for i, f := range b.fields {
			fields[i] = "message.parts[1]." + f
		}
		first := map[pb.Role]*pb.Part{pb.Role_ROLE_USER: text(secret), pb.Role_ROLE_ASSISTANT: text(secret), pb.Role_ROLE_TOOL: result("c", secret)}[b.role]
		rows = append(rows, row{"AppendMessage", b.what, appendOf(func(m *pb.Message) { m.Role, m.Parts = b.role, []*pb.Part{first, b.part} }), invalid(fields...)})
	}
	return append(rows, row{"AppendMessage", "513 calls", appendOf(func(m *pb.Message) { m.Role, m.Parts = pb.Role_ROLE_ASSISTANT, repeated(call("c", secret), 513) }), invalid("message.parts")})
}
