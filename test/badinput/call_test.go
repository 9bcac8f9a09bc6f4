package badinput

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// appendRows: what appends can be wrong about beside their messages.
func appendRows() []row {
	long := strings.Repeat(secret, 20)
	mismatch := refusal{codes.Aborted, "INDEX_MISMATCH", nil}
	orphan := func(field string) refusal {
		return refusal{codes.InvalidArgument, "RESULT_WITHOUT_CALL", []string{field}}
	}
	reused := refusal{codes.AlreadyExists, "REQUEST_ID_REUSED", nil}
	lost := &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{result("c1", secret)}}
	batch := func(items ...*pb.Message) *pb.BatchAppendMessagesRequest {
		r := &pb.BatchAppendMessagesRequest{ConversationId: target}
		for _, m := range items {
			r.Items = append(r.Items, &pb.BatchAppendItem{Message: m})
		}
		return r
	}
	at := func(r *pb.BatchAppendMessagesRequest, index int32) *pb.BatchAppendMessagesRequest {
		r.ExpectedIndex = &index
		return r
	}
	return []row{
		{"AppendMessage", "no message", &pb.AppendMessageRequest{ConversationId: target}, invalid("message")},
		{"AppendMessage", "request id too long", &pb.AppendMessageRequest{ConversationId: target, Message: user(secret), RequestId: long}, invalid("request_id")},
		{"AppendMessage", "negative index", &pb.AppendMessageRequest{ConversationId: target, Message: user(secret), ExpectedIndex: new(int32(-1))}, invalid("expected_index")},
		{"AppendMessage", "index behind", &pb.AppendMessageRequest{ConversationId: target, Message: user(secret), ExpectedIndex: new(int32(6))}, mismatch},
		{"AppendMessage", "index ahead", &pb.AppendMessageRequest{ConversationId: target, Message: user(secret), ExpectedIndex: new(int32(math.MaxInt32))}, mismatch},
		{"AppendMessage", "index of a conversation that is not", &pb.AppendMessageRequest{ConversationId: nobody, Message: user(secret), ExpectedIndex: new(int32(1))}, mismatch},
		{"AppendMessage", "result of an answered call", &pb.AppendMessageRequest{ConversationId: target, Message: lost}, orphan("message.parts[0].tool_result.call_id")},
		{"AppendMessage", "result before anything", &pb.AppendMessageRequest{ConversationId: nobody, Message: lost}, orphan("message.parts[0].tool_result.call_id")},
		{"AppendMessage", "request id of another message", &pb.AppendMessageRequest{ConversationId: target, Message: user(secret), RequestId: "used"}, reused},
		{"AppendMessage", "request id of the same with an index", &pb.AppendMessageRequest{ConversationId: target, Message: user("Again."), RequestId: "used", ExpectedIndex: new(int32(6))}, reused},
		{"BatchAppendMessages", "no items", batch(), invalid("items")},
		{"BatchAppendMessages", "1,001 items", batch(repeated(user(secret), 1001)...), invalid("items")},
		{"BatchAppendMessages", "an item without a message", &pb.BatchAppendMessagesRequest{ConversationId: target, Items: []*pb.BatchAppendItem{{Message: user(secret)}, {}}}, invalid("items[1].message")},
		{"BatchAppendMessages", "faults in two items", batch(user(secret), &pb.Message{Role: 77, Parts: parts(secret)}, &pb.Message{Role: pb.Role_ROLE_SYSTEM}), invalid("items[1].message.role", "items[2].message.parts")},
		{"BatchAppendMessages", "a result without a call at the end", batch(user(secret), user(secret), lost), orphan("items[2].message.parts[0].tool_result.call_id")},
		{"BatchAppendMessages", "two results for one call", batch(
			&pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{call("one", secret)}},
			&pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{result("one", secret), result("one", secret)}}), orphan("items[1].message.parts[1].tool_result.call_id")},
		{"BatchAppendMessages", "index behind", at(batch(user(secret)), 0), mismatch},
		{"BatchAppendMessages", "129 pins", batch(repeated(&pb.Message{Role: pb.Role_ROLE_USER, Pinned: true, Parts: parts(secret)}, 128)...), refusal{codes.ResourceExhausted, "LIMIT_EXCEEDED", nil}},
	}
}

// budgetRows: what budgets can be wrong about, wherever they stand.
func budgetRows() (rows []row) {
	for what, b := range map[string]struct {
		budget *pb.Budget
		fields []string
	}{
		"negative":       {&pb.Budget{ContextWindowTokens: new(int32(-1)), ReservedOutputTokens: new(int32(-2)), MaxContextTokens: new(int32(-1))}, []string{"context_window_tokens", "reserved_output_tokens", "max_context_tokens"}},
		"zero":           {&pb.Budget{ContextWindowTokens: new(int32(0)), MaxContextTokens: new(int32(0))}, []string{"context_window_tokens", "max_context_tokens"}},
		"reserve over":   {&pb.Budget{ContextWindowTokens: new(int32(100)), ReservedOutputTokens: new(int32(101))}, []string{"reserved_output_tokens"}},
		"reserve equal":  {&pb.Budget{ContextWindowTokens: new(int32(100)), ReservedOutputTokens: new(int32(100))}, []string{"reserved_output_tokens"}},
		"too large":      {&pb.Budget{ContextWindowTokens: new(int32(100_000_001)), MaxContextTokens: new(int32(math.MaxInt32))}, []string{"context_window_tokens", "max_context_tokens"}},
		"least there is": {&pb.Budget{ContextWindowTokens: new(int32(8000)), ReservedOutputTokens: new(int32(math.MinInt32))}, []string{"reserved_output_tokens"}},
	} {
		rows = append(rows, row{"BuildContext", "budget " + what, &pb.BuildContextRequest{ConversationId: target, Budget: b.budget}, invalid(under("budget.", b.fields)...)})
		fit := &pb.Policy{Fit: &pb.FitPolicy{MaxContextTokens: b.budget.MaxContextTokens, ContextWindowTokens: b.budget.ContextWindowTokens, ReservedOutputTokens: b.budget.ReservedOutputTokens}}
		rows = append(rows,
			row{"BuildContext", "override " + what, &pb.BuildContextRequest{ConversationId: target, PolicyOverride: fit}, invalidFit(under("policy_override.fit.", b.fields))},
			row{"CreateConversation", "policy " + what, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: nobody, Title: secret, Policy: fit}}, invalidFit(under("conversation.policy.fit.", b.fields))})
	}
	// What only turns out when policy, profile and request come together.
	whole := &pb.BuildContextRequest{ConversationId: target, Budget: &pb.Budget{ReservedOutputTokens: new(int32(8000))}}
	return append(rows,
		row{"BuildContext", "reserve of the request takes the policy's window", whole, invalid("budget")},
		row{"BuildContext", "no room", &pb.BuildContextRequest{ConversationId: target, Budget: &pb.Budget{MaxContextTokens: new(int32(5))}}, refusal{codes.FailedPrecondition, "CONTEXT_CANNOT_FIT", nil}},
		row{"BuildContext", "no room beside the fixed input", &pb.BuildContextRequest{ConversationId: target, FixedInput: &pb.FixedInput{Tokens: new(int32(1_000_000))}}, refusal{codes.FailedPrecondition, "CONTEXT_CANNOT_FIT", nil}},
	)
}

// invalidFit is invalid for a policy, whose fields have another order than a budget's.
func invalidFit(fields []string) refusal {
	if i := slices.IndexFunc(fields, func(f string) bool { return strings.HasSuffix(f, ".max_context_tokens") }); i > 0 {
		fields = append([]string{fields[i]}, slices.Delete(slices.Clone(fields), i, i+1)...)
	}
	return invalid(fields...)
}

func under(prefix string, fields []string) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = prefix + f
	}
	return out
}

// buildRows: turns, formats, limits, manifests.
func buildRows() []row {
	long := strings.Repeat(secret, 20)
	passed := refusal{codes.FailedPrecondition, "TURN_PASSED", nil}
	large := refusal{codes.ResourceExhausted, "REPLY_TOO_LARGE", nil}
	build := func(change func(*pb.BuildContextRequest)) *pb.BuildContextRequest {
		r := &pb.BuildContextRequest{ConversationId: target}
		change(r)
		return r
	}
	manifest := func(id string) *pb.GetManifestRequest {
		return &pb.GetManifestRequest{ConversationId: target, ManifestId: id}
	}
	rows := []row{
		{"BuildContext", "turn and same_turn", build(func(r *pb.BuildContextRequest) { r.Turn, r.SameTurn = new(int32(2)), true }), invalid("turn")},
		{"BuildContext", "negative turn", build(func(r *pb.BuildContextRequest) { r.Turn = new(int32(-1)) }), invalid("turn")},
		{"BuildContext", "turn 0", build(func(r *pb.BuildContextRequest) { r.Turn = new(int32(0)) }), passed},
		{"BuildContext", "past turn", build(func(r *pb.BuildContextRequest) { r.Turn = new(int32(1)) }), passed},
		{"BuildContext", "1,001 turns ahead", build(func(r *pb.BuildContextRequest) { r.Turn = new(int32(1003)) }), invalid("turn")},
		{"BuildContext", "last turn of all", build(func(r *pb.BuildContextRequest) { r.Turn = new(int32(math.MaxInt32)) }), invalid("turn")},
		{"BuildContext", "unknown format", build(func(r *pb.BuildContextRequest) { r.Format = 99 }), invalid("format")},
		{"BuildContext", "model too long", build(func(r *pb.BuildContextRequest) { r.Model = long }), invalid("model")},
		{"BuildContext", "tools that are no JSON", build(func(r *pb.BuildContextRequest) { r.FixedInput = &pb.FixedInput{ToolsJson: "[" + secret} }), invalid("fixed_input.tools_json")},
		{"BuildContext", "negative fixed tokens", build(func(r *pb.BuildContextRequest) { r.FixedInput = &pb.FixedInput{Tokens: new(int32(-1))} }), invalid("fixed_input.tokens")},
		{"BuildContext", "negative usage", build(func(r *pb.BuildContextRequest) { r.LastUsage = &pb.Usage{InputTokens: -1, ReasoningTokens: -1} }), invalid("last_usage.input_tokens", "last_usage.reasoning_tokens")},
		{"BuildContext", "usage too large", build(func(r *pb.BuildContextRequest) { r.LastUsage = &pb.Usage{OutputTokens: 1_000_000_001} }), invalid("last_usage.output_tokens")},
		{"BuildContext", "percentages", build(func(r *pb.BuildContextRequest) {
			r.PolicyOverride = &pb.Policy{Fit: &pb.FitPolicy{TargetPercent: new(int32(91)), MaxResultPercent: new(int32(0))}}
		}), invalid("policy_override.fit.target_percent", "policy_override.fit.max_result_percent")},
		{"BuildContext", "ttl too short", build(func(r *pb.BuildContextRequest) {
			r.PolicyOverride = &pb.Policy{Ttl: &durationpb.Duration{Seconds: 59}}
		}), invalid("policy_override.ttl")},
		{"BuildContext", "negative max_reply_bytes", build(func(r *pb.BuildContextRequest) { r.MaxReplyBytes = new(int32(-1)) }), invalid("max_reply_bytes")},
		{"BuildContext", "max_reply_bytes too large", build(func(r *pb.BuildContextRequest) { r.MaxReplyBytes = new(int32(67_108_865)) }), invalid("max_reply_bytes")},
		{"BuildContext", "request id of another build", build(func(r *pb.BuildContextRequest) { r.RequestId, r.Model = "build-CONTEXT_FORMAT_NEUTRAL", secret }), refusal{codes.AlreadyExists, "REQUEST_ID_REUSED", nil}},
		{"GetManifest", "unknown", manifest("b99"), refusal{codes.NotFound, "MANIFEST_NOT_FOUND", nil}},
		{"GetManifest", "unknown format", &pb.GetManifestRequest{ConversationId: target, ManifestId: "b1", Format: 99}, invalid("format")},
		{"GetManifest", "reply too small", &pb.GetManifestRequest{ConversationId: target, ManifestId: "b1", MaxReplyBytes: new(int32(100))}, large},
		{"ReportUsage", "unknown manifest", &pb.ReportUsageRequest{ConversationId: target, ManifestId: "b99", Usage: &pb.Usage{InputTokens: 1}}, refusal{codes.NotFound, "MANIFEST_NOT_FOUND", nil}},
		{"ReportUsage", "no usage", &pb.ReportUsageRequest{ConversationId: target, ManifestId: "b1"}, invalid("usage")},
		{"ReportUsage", "negative usage", &pb.ReportUsageRequest{ConversationId: target, ManifestId: "b1", Usage: &pb.Usage{CacheReadTokens: -5}}, invalid("usage.cache_read_tokens")},
		{"GetMessage", "reply too small", &pb.GetMessageRequest{ConversationId: target, MessageIndex: 3, MaxReplyBytes: new(int32(100))}, large},
		{"ListMessages", "reply too small", &pb.ListMessagesRequest{ConversationId: target, MaxReplyBytes: new(int32(1))}, large},
	}
	for _, id := range []string{"", "b0", "b-1", "b01", "1", "b", "b1 ", "B1", secret, "b99999999999999999999"} {
		rows = append(rows, row{"GetManifest", fmt.Sprintf("id %q", id), manifest(id), invalid("manifest_id")})
	}
	for format := range pb.ContextFormat_name {
		rows = append(rows, row{"BuildContext", fmt.Sprintf("reply too small in format %d", format), build(func(r *pb.BuildContextRequest) {
			r.Format, r.MaxReplyBytes, r.RequestId = pb.ContextFormat(format), new(int32(200)), secret
		}), large})
	}
	return rows
}

// listRows: indices, ranges, filters, pages.
func listRows() []row {
	list := func(change func(*pb.ListMessagesRequest)) *pb.ListMessagesRequest {
		r := &pb.ListMessagesRequest{ConversationId: target}
		change(r)
		return r
	}
	rows := []row{
		{"GetMessage", "negative index", &pb.GetMessageRequest{ConversationId: target, MessageIndex: -1}, invalid("message_index")},
		{"GetMessage", "index of none", &pb.GetMessageRequest{ConversationId: target, MessageIndex: 7}, refusal{codes.NotFound, "MESSAGE_NOT_FOUND", nil}},
		{"GetMessage", "last index of all", &pb.GetMessageRequest{ConversationId: target, MessageIndex: math.MaxInt32}, refusal{codes.NotFound, "MESSAGE_NOT_FOUND", nil}},
		{"ListMessages", "range backwards", list(func(r *pb.ListMessagesRequest) { r.Range = &pb.MessageRange{StartIndex: 3, EndIndex: new(int32(2))} }), invalid("range.end_index")},
		{"ListMessages", "range negative", list(func(r *pb.ListMessagesRequest) { r.Range = &pb.MessageRange{StartIndex: -3, EndIndex: new(int32(-2))} }), invalid("range.start_index", "range.end_index")},
		{"ListMessages", "enums", list(func(r *pb.ListMessagesRequest) { r.Order, r.View = 9, -9 }), invalid("order", "view")},
		{"ListMessages", "roles", list(func(r *pb.ListMessagesRequest) {
			r.Filter = &pb.MessageFilter{Roles: []pb.Role{0, 1, 9}, MessageTypes: []pb.MessageType{9}, Tags: []string{""}, RunId: strings.Repeat(secret, 20)}
		}), invalid("filter.roles[0]", "filter.roles[2]", "filter.tags[0]", "filter.message_types[0]", "filter.run_id")},
		{"ListMessages", "page size negative", list(func(r *pb.ListMessagesRequest) { r.PageSize = -1 }), invalid("page_size")},
		{"ListMessages", "page size too large", list(func(r *pb.ListMessagesRequest) { r.PageSize = 1001 }), invalid("page_size")},
		{"ListMessages", "token invented", list(func(r *pb.ListMessagesRequest) { r.PageToken = secret }), invalid("page_token")},
		{"ListMessages", "token too long", list(func(r *pb.ListMessagesRequest) { r.PageToken = strings.Repeat("A", 4097) }), invalid("page_token")},
		{"CountMessages", "range backwards", &pb.CountMessagesRequest{ConversationId: target, Range: &pb.MessageRange{StartIndex: 1, EndIndex: new(int32(0))}}, invalid("range.end_index")},
		{"ListConversations", "token and size", &pb.ListConversationsRequest{PageToken: "!", PageSize: -1}, invalid("page_size", "page_token")},
		{"ListConversations", "names too long", &pb.ListConversationsRequest{ActorId: strings.Repeat(secret, 20), AgentId: strings.Repeat(secret, 20)}, invalid("actor_id", "agent_id")},
		{"ListManifests", "token", &pb.ListManifestsRequest{ConversationId: target, PageToken: "AAAAAAAAAAAAAAAAAAAAAAA"}, invalid("page_token")},
		{"ListModelProfiles", "token", &pb.ListModelProfilesRequest{PageToken: secret}, invalid("page_token")},
	}
	return rows
}

// updateRows: masks, and conversations that are there already.
func updateRows() []row {
	update := func(c *pb.Conversation, paths ...string) *pb.UpdateConversationRequest {
		c.Id = target
		return &pb.UpdateConversationRequest{Conversation: c, UpdateMask: &fieldmaskpb.FieldMask{Paths: paths}}
	}
	titled := func() *pb.Conversation { return &pb.Conversation{Title: secret} }
	exists := refusal{codes.AlreadyExists, "CONVERSATION_EXISTS", nil}
	rows := []row{
		{"CreateConversation", "exists", &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: target, Title: secret}}, exists},
		{"CreateConversation", "nothing", &pb.CreateConversationRequest{}, invalid("conversation")},
		{"CreateConversation", "unknown counter", &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: nobody, Counter: secret}}, invalid("conversation.counter")},
		{"CreateConversation", "texts", &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: nobody, Title: strings.Repeat("x", 1025), MetadataJson: "[" + secret, ActorId: strings.Repeat("x", 257)}}, invalid("conversation.actor_id", "conversation.title", "conversation.metadata_json")},
		{"UpdateConversation", "nothing", &pb.UpdateConversationRequest{}, invalid("conversation", "update_mask")},
		{"UpdateConversation", "no mask", &pb.UpdateConversationRequest{Conversation: &pb.Conversation{Id: target, Title: secret}}, invalid("update_mask")},
		{"UpdateConversation", "empty mask", update(titled()), invalid("update_mask.paths")},
		{"UpdateConversation", "100 paths", update(titled(), repeated("title", 100)...), invalid("update_mask.paths")},
		{"UpdateConversation", "a mask that ends badly", update(titled(), "title", secret), invalid("update_mask.paths[1]")},
		{"UpdateConversation", "reserve takes the window that is there", update(&pb.Conversation{Policy: &pb.Policy{Fit: &pb.FitPolicy{ReservedOutputTokens: new(int32(8000))}}}, "policy.fit.reserved_output_tokens"), invalid("conversation.policy.fit.reserved_output_tokens")},
		{"UpdateConversation", "ttl", update(&pb.Conversation{Policy: &pb.Policy{Ttl: &durationpb.Duration{Seconds: -60}}}, "policy.ttl"), invalid("conversation.policy.ttl")},
		{"UpdateConversation", "ttl of no duration", update(&pb.Conversation{Policy: &pb.Policy{Ttl: &durationpb.Duration{Seconds: math.MaxInt64}}}, "policy.ttl"), invalid("conversation.policy.ttl")},
	}
	for _, path := range []string{"", "*", "id", "counter", "turn", "revision", "message_count", "Title", "title ", "policy.fit.", "policy.fit.none", "policy.ttl.seconds", "policy.expiration.turns", "policy.expiration.results.turns", "policy.rewrite.none"} {
		rows = append(rows, row{"UpdateConversation", fmt.Sprintf("path %q", path), update(titled(), path), invalid("update_mask.paths[0]")})
	}
	return rows
}

// profileRows: what operators can be wrong about.
func profileRows() []row {
	put := func(p *pb.ModelProfile) *pb.PutModelProfileRequest {
		return &pb.PutModelProfileRequest{Profile: p}
	}
	none := refusal{codes.NotFound, "MODEL_PROFILE_NOT_FOUND", nil}
	return []row{
		{"PutModelProfile", "nothing", put(nil), invalid("profile")},
		{"PutModelProfile", "no model", put(&pb.ModelProfile{}), invalid("profile.model")},
		{"PutModelProfile", "figures", put(&pb.ModelProfile{
			Model: secret, ContextWindowTokens: new(int32(10)), ReservedOutputTokens: new(int32(10)), Counter: secret,
			Factor: new(math.NaN()), MediaTokens: new(int32(-1)), InputPrice: new(-1.0), OutputPrice: new(math.Inf(1)),
		}), invalid("profile.reserved_output_tokens", "profile.counter", "profile.factor", "profile.media_tokens", "profile.input_price", "profile.output_price")},
		{"GetModelProfile", "unknown", &pb.GetModelProfileRequest{Model: secret}, none},
		{"GetModelProfile", "no model", &pb.GetModelProfileRequest{}, invalid("model")},
		{"DeleteModelProfile", "unknown", &pb.DeleteModelProfileRequest{Model: secret}, none},
	}
}

// largeRows: one byte over a field's limit, and over the transport's.
func largeRows() []row {
	over := func(n int) string { return secret + strings.Repeat("x", n-len(secret)) }
	return []row{
		{"AppendMessage", "text over its limit", appendOf(func(m *pb.Message) { m.Parts = parts(over(16<<20 + 1)) }), invalid("message.parts[0].text")},
		{"AppendMessage", "over the transport's limit", appendOf(func(m *pb.Message) { m.Parts = parts(over(17 << 20)) }), refusal{codes.ResourceExhausted, "", nil}},
		{"BuildContext", "system prompt over its limit", &pb.BuildContextRequest{ConversationId: target, FixedInput: &pb.FixedInput{SystemPrompt: over(16<<20 + 1)}}, invalid("fixed_input.system_prompt")},
	}
}
