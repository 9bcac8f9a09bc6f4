package grpcserver

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func update(c *pb.Conversation, paths ...string) *pb.UpdateConversationRequest {
	return &pb.UpdateConversationRequest{Conversation: c, UpdateMask: &fieldmaskpb.FieldMask{Paths: paths}}
}

func appendOf(role pb.Role, parts ...*pb.Part) *pb.AppendMessageRequest {
	return &pb.AppendMessageRequest{ConversationId: "c", Message: &pb.Message{Role: role, Parts: parts}}
}

func callPart(id, name string) *pb.Part {
	return &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{CallId: id, Name: name}}}
}

func resultPart(r *pb.ToolResult) *pb.Part {
	return &pb.Part{Content: &pb.Part_ToolResult{ToolResult: r}}
}

func textPart(s string) *pb.Part { return &pb.Part{Content: &pb.Part_Text{Text: s}} }

func mediaPart(m *pb.Media) *pb.Part { return &pb.Part{Content: &pb.Part_Media{Media: m}} }

func opaquePart(o *pb.Opaque) *pb.Part { return &pb.Part{Content: &pb.Part_Opaque{Opaque: o}} }

func build(change func(*pb.BuildContextRequest)) *pb.BuildContextRequest {
	r := &pb.BuildContextRequest{ConversationId: "c"}
	change(r)
	return r
}

func policy(p *pb.Policy) *pb.CreateConversationRequest {
	return &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: "c", Policy: p}}
}

func ttlOf(d time.Duration) *pb.Policy { return &pb.Policy{Ttl: durationpb.New(d)} }

const long = 300

// bad are requests and the fields that break a rule in them. Nothing else may be found.
func bad() map[string]badRequestCase {
	longText := strings.Repeat("x", long)
	return map[string]badRequestCase{
		"empty append":        {&pb.AppendMessageRequest{}, []string{"conversation_id", "message"}},
		"empty message":       {&pb.AppendMessageRequest{ConversationId: "c", Message: &pb.Message{}}, []string{"message.role", "message.parts"}},
		"control characters":  {&pb.GetConversationRequest{ConversationId: "a\x00b"}, []string{"conversation_id"}},
		"later controls":      {&pb.GetConversationRequest{ConversationId: "a\u0085b"}, []string{"conversation_id"}},
		"long id":             {&pb.GetConversationRequest{ConversationId: longText}, []string{"conversation_id"}},
		"long request id":     {&pb.DeleteConversationRequest{ConversationId: "c", RequestId: longText}, []string{"request_id"}},
		"negative index":      {&pb.AppendMessageRequest{ConversationId: "c", Message: userText("x"), ExpectedIndex: new(int32(-1))}, []string{"expected_index"}},
		"unknown role":        {appendOf(99, textPart("x")), []string{"message.role"}},
		"empty part":          {appendOf(pb.Role_ROLE_USER, &pb.Part{}), []string{"message.parts[0].content"}},
		"system with media":   {appendOf(pb.Role_ROLE_SYSTEM, mediaPart(&pb.Media{MimeType: "a/b", Source: &pb.Media_Uri{Uri: "u"}})), []string{"message.parts[0].media"}},
		"user with call":      {appendOf(pb.Role_ROLE_USER, textPart("x"), callPart("a", "b")), []string{"message.parts[1].tool_call"}},
		"assistant, result":   {appendOf(pb.Role_ROLE_ASSISTANT, resultPart(&pb.ToolResult{CallId: "a"})), []string{"message.parts[0].tool_result"}},
		"tool with text":      {appendOf(pb.Role_ROLE_TOOL, textPart("x")), []string{"message.parts[0].text"}},
		"call without id":     {appendOf(pb.Role_ROLE_ASSISTANT, textPart(""), textPart(""), callPart("", "")), []string{"message.parts[2].tool_call.call_id", "message.parts[2].tool_call.name"}},
		"too many parts":      {appendOf(pb.Role_ROLE_USER, slices.Repeat([]*pb.Part{textPart("x")}, 1024+1)...), []string{"message.parts"}},
		"too many calls":      {appendOf(pb.Role_ROLE_ASSISTANT, slices.Repeat([]*pb.Part{callPart("a", "b")}, 512+1)...), []string{"message.parts"}},
		"result not JSON":     {appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "a", Output: &pb.ToolResult_Json{Json: "{"}})), []string{"message.parts[0].tool_result.json"}},
		"result without":      {appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "a", Output: &pb.ToolResult_Json{}})), []string{"message.parts[0].tool_result.json"}},
		"result, no pieces":   {appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "a", Output: &pb.ToolResult_Parts{Parts: &pb.ToolResultParts{}}})), []string{"message.parts[0].tool_result.parts.parts"}},
		"result, empty piece": {appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "a", Output: &pb.ToolResult_Parts{Parts: &pb.ToolResultParts{Parts: []*pb.ToolResultPart{{}}}}})), []string{"message.parts[0].tool_result.parts.parts[0].content"}},
		"result, state":       {appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "a", State: 7})), []string{"message.parts[0].tool_result.state"}},
		"opaque no object":    {appendOf(pb.Role_ROLE_ASSISTANT, opaquePart(&pb.Opaque{Provider: "x", Json: "[1]"})), []string{"message.parts[0].opaque.json"}},
		"opaque cut off":      {appendOf(pb.Role_ROLE_ASSISTANT, opaquePart(&pb.Opaque{Provider: "x", Json: `{"a":`})), []string{"message.parts[0].opaque.json"}},
		"media without data":  {appendOf(pb.Role_ROLE_USER, mediaPart(&pb.Media{})), []string{"message.parts[0].media.mime_type", "message.parts[0].media.source"}},
		"metadata no object":  {&pb.AppendMessageRequest{ConversationId: "c", Message: &pb.Message{Role: 2, Parts: []*pb.Part{textPart("x")}, MetadataJson: `"x"`}}, []string{"message.metadata_json"}},
		"empty tag":           {&pb.AppendMessageRequest{ConversationId: "c", Message: &pb.Message{Role: 2, Parts: []*pb.Part{textPart("x")}, Tags: []string{"a", ""}}}, []string{"message.tags[1]"}},
		"message id":          {&pb.AppendMessageRequest{ConversationId: "c", Message: &pb.Message{Id: longText, Role: 2, Parts: []*pb.Part{textPart("x")}}}, []string{"message.id"}},
		"batch":               {&pb.BatchAppendMessagesRequest{ConversationId: "c", Items: []*pb.BatchAppendItem{{Message: userText("x")}, {}, {Message: &pb.Message{Role: 2}}}}, []string{"items[1].message", "items[2].message.parts"}},
		"empty batch":         {&pb.BatchAppendMessagesRequest{ConversationId: "c"}, []string{"items"}},
		"turn and same turn":  {build(func(r *pb.BuildContextRequest) { r.Turn, r.SameTurn = new(int32(1)), true }), []string{"turn"}},
		"negative turn":       {build(func(r *pb.BuildContextRequest) { r.Turn = new(int32(-1)) }), []string{"turn"}},
		"unknown format":      {build(func(r *pb.BuildContextRequest) { r.Format = 77 }), []string{"format"}},
		"reserve over window": {build(func(r *pb.BuildContextRequest) {
			r.Budget = &pb.Budget{ContextWindowTokens: new(int32(10)), ReservedOutputTokens: new(int32(10))}
		}), []string{"budget.reserved_output_tokens"}},
		"negative budget": {build(func(r *pb.BuildContextRequest) {
			r.Budget = &pb.Budget{ContextWindowTokens: new(int32(-1)), MaxContextTokens: new(int32(0))}
		}), []string{"budget.context_window_tokens", "budget.max_context_tokens"}},
		"negative usage": {build(func(r *pb.BuildContextRequest) { r.LastUsage = &pb.Usage{OutputTokens: -1} }), []string{"last_usage.output_tokens"}},
		"tools not JSON": {build(func(r *pb.BuildContextRequest) { r.FixedInput = &pb.FixedInput{ToolsJson: "x"} }), []string{"fixed_input.tools_json"}},
		"reply limit":    {build(func(r *pb.BuildContextRequest) { r.MaxReplyBytes = new(int32(paging.MaxReplyBytes + 1)) }), []string{"max_reply_bytes"}},
		"target": {build(func(r *pb.BuildContextRequest) {
			r.PolicyOverride = &pb.Policy{Fit: &pb.FitPolicy{TargetPercent: new(int32(91)), MaxResultPercent: new(int32(0))}}
		}), []string{"policy_override.fit.target_percent", "policy_override.fit.max_result_percent"}},
		"manifest id":     {&pb.ReportUsageRequest{ConversationId: "c", ManifestId: "b012", Usage: &pb.Usage{}}, []string{"manifest_id"}},
		"no usage":        {&pb.ReportUsageRequest{ConversationId: "c", ManifestId: "b12"}, []string{"usage"}},
		"short ttl":       {policy(ttlOf(59 * time.Second)), []string{"conversation.policy.ttl"}},
		"long ttl":        {policy(ttlOf(10*365*24*time.Hour + 1)), []string{"conversation.policy.ttl"}},
		"negative ttl":    {policy(ttlOf(-time.Hour)), []string{"conversation.policy.ttl"}},
		"broken ttl":      {policy(&pb.Policy{Ttl: &durationpb.Duration{Seconds: 100, Nanos: -1}}), []string{"conversation.policy.ttl"}},
		"huge ttl":        {policy(&pb.Policy{Ttl: &durationpb.Duration{Seconds: math.MaxInt64}}), []string{"conversation.policy.ttl"}},
		"counter":         {&pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: "c", Counter: "gpt2"}}, []string{"conversation.counter"}},
		"no mask":         {update(&pb.Conversation{Id: "c"}), []string{"update_mask.paths"}},
		"mask paths":      {update(&pb.Conversation{Id: "c"}, "title", "counter", "policy.nothing"), []string{"update_mask.paths[1]", "update_mask.paths[2]"}},
		"message index":   {&pb.GetMessageRequest{ConversationId: "c", MessageIndex: -1}, []string{"message_index"}},
		"backward range":  {&pb.CountMessagesRequest{ConversationId: "c", Range: &pb.MessageRange{StartIndex: 5, EndIndex: new(int32(4))}}, []string{"range.end_index"}},
		"filter":          {&pb.CountMessagesRequest{ConversationId: "c", Filter: &pb.MessageFilter{Roles: []pb.Role{0, 2, 9}, MessageTypes: []pb.MessageType{9}}}, []string{"filter.roles[0]", "filter.roles[2]", "filter.message_types[0]"}},
		"order and view":  {&pb.ListMessagesRequest{ConversationId: "c", Order: 9, View: 9, PageSize: 1001, PageToken: "x"}, []string{"order", "view", "page_size", "page_token"}},
		"negative page":   {&pb.ListConversationsRequest{PageSize: -1}, []string{"page_size"}},
		"long token":      {&pb.ListManifestsRequest{ConversationId: "c", PageToken: strings.Repeat("x", 5000)}, []string{"page_token"}},
		"no payload":      {&pb.ImportConversationRequest{}, []string{"payload"}},
		"empty import id": {&pb.ImportConversationRequest{Payload: &pb.ImportConversationRequest_ConversationId{}}, []string{"conversation_id"}},
		"no profile":      {&pb.PutModelProfileRequest{}, []string{"profile"}},
		"profile": {&pb.PutModelProfileRequest{Profile: &pb.ModelProfile{Factor: new(math.NaN()), InputPrice: new(-1.0), OutputPrice: new(math.Inf(1)), MediaTokens: new(int32(-1))}},
			[]string{"profile.model", "profile.factor", "profile.input_price", "profile.output_price", "profile.media_tokens"}},
		"reserve over profile's window": {&pb.PutModelProfileRequest{Profile: &pb.ModelProfile{Model: "m", ContextWindowTokens: new(int32(5)), ReservedOutputTokens: new(int32(6))}},
			[]string{"profile.reserved_output_tokens"}},
	}
}

func TestRuleBook_BadRequests_EveryFaultByItsPath(t *testing.T) {
	book := allRules()
	cases := bad()
	for _, more := range []map[string]badRequestCase{badAppends(), badExpansions(), badCatalogues(), badWindows(), badContents(), badCitations()} {
		maps.Copy(cases, more)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var e *conversation.Error
			if !errors.As(book.Validate(c.req), &e) {
				t.Fatal("no fault found")
			}
			found := map[string]string{}
			for _, v := range e.Violations {
				found[v.Field] = v.Text
			}
			if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(slices.Values(c.fields)); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", found, want)
			}
		})
	}
}

func TestRuleBook_GoodRequests_Pass(t *testing.T) {
	book := allRules()
	cases := goodLifecycle()
	maps.Copy(cases, goodWindows())
	maps.Copy(cases, goodContents())
	maps.Copy(cases, map[string]proto.Message{
		"empty text":      appendOf(pb.Role_ROLE_USER, textPart("")),
		"odd arguments":   appendOf(pb.Role_ROLE_ASSISTANT, &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{CallId: "a", Name: "b", ArgumentsJson: "{not json"}}}),
		"empty result":    appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "a"})),
		"scalar result":   appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "a", Output: &pb.ToolResult_Json{Json: " 1 "}})),
		"spaced object":   appendOf(pb.Role_ROLE_ASSISTANT, opaquePart(&pb.Opaque{Provider: "x", Json: " {} "})),
		"index 0":         &pb.GetMessageRequest{ConversationId: "c"},
		"any language":    &pb.GetConversationRequest{ConversationId: "会話/1 ü"},
		"no ttl":          policy(ttlOf(0)),
		"longest ttl":     policy(ttlOf(10 * 365 * 24 * time.Hour)),
		"first page":      &pb.ListConversationsRequest{},
		"chunk":           &pb.ImportConversationRequest{Payload: &pb.ImportConversationRequest_Chunk{}},
		"zero reply size": build(func(r *pb.BuildContextRequest) { r.MaxReplyBytes = new(int32(0)) }),
	})
	for name, req := range cases {
		if err := book.Validate(req); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRuleBook_UnknownRequest_IsRefused(t *testing.T) {
	if err := allRules().Validate(&pb.Message{}); conversation.KindOf(err) != conversation.Internal || err == nil {
		t.Errorf("got %v", err)
	}
}

func TestChecker_TooManyFaults_AreCounted(t *testing.T) {
	items := make([]*pb.BatchAppendItem, 1000)
	for i := range items {
		items[i] = &pb.BatchAppendItem{}
	}
	var e *conversation.Error
	if !errors.As(allRules().Validate(&pb.BatchAppendMessagesRequest{ConversationId: "c", Items: items}), &e) {
		t.Fatal("no fault found")
	}
	if last := e.Violations[len(e.Violations)-1].Text; last != fmt.Sprintf("and %d more", 1000-256) {
		t.Errorf("the last says %q", last)
	}
}

func BenchmarkRuleBook_AppendMessage(b *testing.B) {
	book, req := allRules(), &pb.AppendMessageRequest{ConversationId: "c", Message: userText("hello")}
	b.ReportAllocs()
	for b.Loop() {
		if err := book.Validate(req); err != nil {
			b.Fatal(err)
		}
	}
}
