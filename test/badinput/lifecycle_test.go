package badinput

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// The messages of the aged conversation.
const (
	agedShort  = 2 // a result of which its first characters are shown
	agedErased = 4 // one whose original is gone
	agedLarge  = 8 // one too large to come back
	agedNewest = 10
)

// age makes a conversation in which everything that can expire has.
func (w *world) age(t *testing.T) {
	t.Helper()
	must[*pb.CreateConversationResponse](t)(w.Conversations.CreateConversation(w.ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: aged, Policy: &pb.Policy{
		Fit:        &pb.FitPolicy{ContextWindowTokens: new(int32(8000)), ReservedOutputTokens: new(int32(500))},
		Rewrite:    &pb.RewritePolicy{Mode: pb.RewriteMode_REWRITE_MODE_EAGER, MaxDeferralTurns: new(int32(4))},
		Expiration: &pb.ExpirationPolicy{Enabled: new(true), Results: &pb.Expiration{Turns: new(int32(70))}},
		Retention:  &pb.RetentionPolicy{AllInputs: new(false)}, MaxWait: durationpb.New(0),
	}}}))
	put := func(m *pb.Message, more ...*pb.AdditionalContent) {
		must[*pb.AppendMessageResponse](t)(w.Context.AppendMessage(w.ctx, &pb.AppendMessageRequest{ConversationId: aged, Message: m, AdditionalContent: more}))
	}
	put(user("Look."), added(func(*pb.AdditionalContent) {}), added(func(a *pb.AdditionalContent) {
		a.Plugin, a.Header, a.SaveToChatHistory = "notes", "Notes", &pb.AdditionalContent_KeepLast{KeepLast: 1}
	}))
	short := &pb.Expiration{Turns: new(int32(0)), Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT, CompactLength: new(int32(20))}
	for i, r := range []*pb.ToolResult{
		{Expiration: short, Output: &pb.ToolResult_Text{Text: strings.Repeat("short\n", 500)}},
		{Expiration: &pb.Expiration{Turns: new(int32(0)), Mode: 3, PreserveOriginalContent: new(false)}, Output: &pb.ToolResult_Json{Json: strconv.Quote(strings.Repeat("gone ", 500))}},
		{Expiration: &pb.Expiration{Turns: new(int32(0)), Mode: pb.ExpirationMode_EXPIRATION_MODE_REMOVE}, Output: &pb.ToolResult_Text{Text: strings.Repeat("removed\n", 500)}},
		{Expiration: short, Output: &pb.ToolResult_Text{Text: strings.Repeat("large\n", 6000)}},
	} {
		r.CallId = "a" + strconv.Itoa(i)
		put(&pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{call(r.GetCallId(), "read")}})
		put(&pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: r}}}})
	}
	for range 2 {
		put(&pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{retained(&pb.Retention{Policy: &pb.Retention_Permanent{Permanent: &pb.Permanent{}}})}})
		must[*pb.BuildContextResponse](t)(w.Context.BuildContext(w.ctx, &pb.BuildContextRequest{ConversationId: aged}))
	}
	must[*pb.ExpandMessageResponse](t)(w.Context.ExpandMessage(w.ctx, expand(agedShort, func(r *pb.ExpandMessageRequest) { r.RequestId = "used" })))
}

// configure makes an action policy and a prompt.
func (w *world) configure(t *testing.T) {
	t.Helper()
	must[*pb.PutActionPolicyResponse](t)(w.Policies.PutActionPolicy(w.ctx, &pb.PutActionPolicyRequest{RequestId: "used", Policy: &pb.ActionPolicy{Key: &pb.ActionPolicy_ToolName{ToolName: "kept"}}}))
	must[*pb.PutPromptResponse](t)(w.Policies.PutPrompt(w.ctx, &pb.PutPromptRequest{RequestId: "used", Prompt: &pb.Prompt{Id: "kept", Template: "{{content}}"}}))
}

// added is a plugin's text, shown at the next build, with something changed.
func added(change func(*pb.AdditionalContent)) *pb.AdditionalContent {
	a := &pb.AdditionalContent{Plugin: "plugin", DisplayOnCurrentMessage: true, Parts: parts(secret)}
	change(a)
	return a
}

func retained(r *pb.Retention) *pb.Part {
	p := text("Go on.")
	p.Retention = r
	return p
}

// wrong breaks every rule of an expiration.
func wrong() *pb.Expiration {
	return &pb.Expiration{Turns: new(int32(-1)), Mode: 99, CompactMode: -1, CompactLength: new(int32(0)), CompactPromptId: strings.Repeat(secret, 20)}
}

func wrongOverride() *pb.ExpirationOverride {
	return &pb.ExpirationOverride{Turns: new(int32(1_000_001)), Mode: 4, CompactMode: 3, CompactLength: new(int32(1_000_001)), CompactPromptId: strings.Repeat(secret, 20)}
}

func settings(prefix string) []string {
	return under(prefix+".", []string{"turns", "mode", "compact_mode", "compact_length", "compact_prompt_id"})
}

// expirationRows: what expirations, overrides and retentions can be wrong about, wherever they stand.
func expirationRows() []row {
	override := wrongOverride()
	overridden := appendOf(func(*pb.Message) {})
	overridden.ExpirationOverride = override
	batch := &pb.BatchAppendMessagesRequest{ConversationId: target, Items: []*pb.BatchAppendItem{{Message: user(secret)}, {Message: user(secret), ExpirationOverride: override}}}
	rows := []row{
		{"AppendMessage", "expiration", appendOf(func(m *pb.Message) { m.Expiration = wrong() }), invalid(settings("message.expiration")...)},
		{"AppendMessage", "most turns there are", appendOf(func(m *pb.Message) { m.Expiration = &pb.Expiration{Turns: new(int32(math.MaxInt32))} }), invalid("message.expiration.turns")},
		{"AppendMessage", "result's expiration", appendOf(func(m *pb.Message) {
			m.Role, m.Parts = pb.Role_ROLE_TOOL, []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: "c", Expiration: wrong()}}}}
		}), invalid(settings("message.parts[0].tool_result.expiration")...)},
		{"AppendMessage", "override", overridden, invalid(settings("expiration_override")...)},
		{"BatchAppendMessages", "override of the second", batch, invalid(settings("items[1].expiration_override")...)},
		{"BuildContext", "expiration override", &pb.BuildContextRequest{ConversationId: aged, ExpirationOverride: override}, invalid(settings("expiration_override")...)},
	}
	for what, r := range map[string]struct {
		retention *pb.Retention
		field     string
	}{
		"empty":       {&pb.Retention{}, ".policy"},
		"of none":     {&pb.Retention{Policy: &pb.Retention_KeepLast{}}, ".keep_last"},
		"negative":    {&pb.Retention{Policy: &pb.Retention_KeepLast{KeepLast: math.MinInt32}}, ".keep_last"},
		"of too many": {&pb.Retention{Policy: &pb.Retention_KeepLast{KeepLast: 1_000_001}}, ".keep_last"},
	} {
		rows = append(rows, row{"AppendMessage", "retention " + what, appendOf(func(m *pb.Message) { m.Parts = append(m.Parts, retained(r.retention)) }), invalid("message.parts[1].retention" + r.field)})
	}
	for _, role := range []pb.Role{pb.Role_ROLE_SYSTEM, pb.Role_ROLE_ASSISTANT} {
		good := retained(&pb.Retention{Policy: &pb.Retention_KeepLast{KeepLast: 1}})
		rows = append(rows, row{"AppendMessage", "retention in " + role.String(), appendOf(func(m *pb.Message) { m.Role, m.Parts = role, []*pb.Part{good} }), invalid("message.parts[0].retention")})
	}
	return rows
}

// additionRows: what plugins can be wrong about.
func additionRows() []row {
	with := func(change func(*pb.AdditionalContent)) *pb.AppendMessageRequest {
		return &pb.AppendMessageRequest{ConversationId: target, Message: user(secret), AdditionalContent: []*pb.AdditionalContent{added(change)}}
	}
	rows := []row{
		{"AppendMessage", "65 additions", &pb.AppendMessageRequest{ConversationId: target, Message: user(secret), AdditionalContent: repeated(added(func(*pb.AdditionalContent) {}), 65)}, invalid("additional_content")},
		{"BatchAppendMessages", "an empty addition", &pb.BatchAppendMessagesRequest{ConversationId: target, Items: []*pb.BatchAppendItem{{Message: user(secret), AdditionalContent: []*pb.AdditionalContent{{}}}}},
			invalid("items[0].additional_content[0].plugin", "items[0].additional_content[0].parts")},
		{"AppendMessage", "variants over the reply limit", &pb.AppendMessageRequest{ConversationId: target, Message: user(strings.Repeat("x", 2<<20)), ReturnVariants: true},
			refusal{codes.ResourceExhausted, "REPLY_TOO_LARGE", nil}},
		{"AppendMessage", "a plugin that the caller made up", appendOf(func(m *pb.Message) {
			m.Role, m.Parts = pb.Role_ROLE_TOOL, []*pb.Part{{Content: &pb.Part_Text{Text: secret}, Plugin: "plugin"}}
		}), invalid("message.parts[0].text")},
	}
	for _, role := range []pb.Role{pb.Role_ROLE_SYSTEM, pb.Role_ROLE_ASSISTANT} {
		r := with(func(*pb.AdditionalContent) {})
		r.Message.Role = role
		rows = append(rows, row{"AppendMessage", "addition to " + role.String(), r, invalid("additional_content")})
	}
	for what, c := range map[string]struct {
		change func(*pb.AdditionalContent)
		fields []string
	}{
		"names too long": {func(a *pb.AdditionalContent) {
			a.Plugin, a.Header = strings.Repeat(secret, 20), strings.Repeat("x", 65_537)
		}, []string{"plugin", "header"}},
		"no parts":      {func(a *pb.AdditionalContent) { a.Parts = nil }, []string{"parts"}},
		"65 parts":      {func(a *pb.AdditionalContent) { a.Parts = repeated(text(secret), 65) }, []string{"parts"}},
		"an empty part": {func(a *pb.AdditionalContent) { a.Parts = []*pb.Part{{}} }, []string{"parts[0].content"}},
		"a part that ages": {func(a *pb.AdditionalContent) {
			a.Parts = []*pb.Part{retained(&pb.Retention{Policy: &pb.Retention_KeepLast{KeepLast: 1}})}
		}, []string{"parts[0].retention"}},
		"kept for none": {func(a *pb.AdditionalContent) { a.SaveToChatHistory = &pb.AdditionalContent_KeepLast{} }, []string{"keep_last"}},
		"kept too long": {func(a *pb.AdditionalContent) {
			a.SaveToChatHistory = &pb.AdditionalContent_KeepLast{KeepLast: 1_000_001}
		}, []string{"keep_last"}},
	} {
		rows = append(rows, row{"AppendMessage", "addition, " + what, with(c.change), invalid(under("additional_content[0].", c.fields)...)})
	}
	for kind, part := range kinds() {
		if kind != "text" && kind != "media" {
			rows = append(rows, row{"AppendMessage", "addition of " + kind, with(func(a *pb.AdditionalContent) { a.Parts = []*pb.Part{part} }), invalid("additional_content[0].parts[0]." + kind)})
		}
	}
	return rows
}

func expand(index int32, change func(*pb.ExpandMessageRequest)) *pb.ExpandMessageRequest {
	r := &pb.ExpandMessageRequest{ConversationId: aged, Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: index}}
	change(r)
	return r
}

func unchangedExpansion(*pb.ExpandMessageRequest) {}

// expandRows: what expansions can be wrong about.
func expandRows() []row {
	summary := func(id string) *pb.ExpandMessageRequest {
		return expand(0, func(r *pb.ExpandMessageRequest) { r.Target = &pb.ExpandMessageRequest_SummaryId{SummaryId: id} })
	}
	named := func(id string) *pb.ExpandMessageRequest {
		return expand(0, func(r *pb.ExpandMessageRequest) { r.Target = &pb.ExpandMessageRequest_MessageId{MessageId: id} })
	}
	chars := func(start, end int64) *pb.ExpandMessageRequest {
		return expand(agedShort, func(r *pb.ExpandMessageRequest) {
			r.Range = &pb.ExpandMessageRequest_Chars{Chars: &pb.Span{StartIndex: start, EndIndex: &end}}
		})
	}
	restore := func(r *pb.ExpandMessageRequest) *pb.ExpandMessageRequest {
		r.Mode = pb.ExpandMode_EXPAND_MODE_RESTORE
		return r
	}
	failed := func(reason string) refusal { return refusal{codes.FailedPrecondition, reason, nil} }
	missing := refusal{codes.NotFound, "MESSAGE_NOT_FOUND", nil}
	long := strings.Repeat(secret, 80)
	const rpc = "ExpandMessage"
	rows := []row{
		{rpc, "nothing", &pb.ExpandMessageRequest{ConversationId: aged}, invalid("target")},
		{rpc, "negative index", expand(-1, unchangedExpansion), invalid("message_index")},
		{rpc, "index of none", expand(11, unchangedExpansion), missing},
		{rpc, "last index of all", expand(math.MaxInt32, unchangedExpansion), missing},
		{rpc, "no id", named(""), invalid("message_id")},
		{rpc, "id too long", named(long[:129]), invalid("message_id")},
		{rpc, "id of none", named(secret), missing},
		{rpc, "id of none that looks made", named("m99"), missing},
		{rpc, "no such summary", summary("s7"), refusal{codes.NotFound, "SUMMARY_NOT_FOUND", nil}},
		{rpc, "texts and figures", expand(agedShort, func(r *pb.ExpandMessageRequest) {
			r.Reason, r.Mode, r.MaxTokens, r.RequestId, r.PageSize, r.PageToken, r.MaxReplyBytes = long, 99, -1, long, 1001, secret, new(int32(-1))
		}), invalid("reason", "mode", "max_tokens", "request_id", "page_size", "page_token", "max_reply_bytes")},
		{rpc, "figures too large", expand(agedShort, func(r *pb.ExpandMessageRequest) { r.MaxTokens, r.MaxReplyBytes = 100_000_001, new(int32(67_108_865)) }), invalid("max_tokens", "max_reply_bytes")},
		{rpc, "range backwards", chars(4, 3), invalid("chars.end_index")},
		{rpc, "range negative", chars(-4, -3), invalid("chars.start_index", "chars.end_index")},
		{rpc, "lines backwards", expand(agedShort, func(r *pb.ExpandMessageRequest) {
			r.Range = &pb.ExpandMessageRequest_Lines{Lines: &pb.Span{StartIndex: 9, EndIndex: new(int64(1))}}
		}), invalid("lines.end_index")},
		{rpc, "items of what has none", expand(agedShort, func(r *pb.ExpandMessageRequest) {
			r.Range = &pb.ExpandMessageRequest_Items{Items: &pb.Span{EndIndex: new(int64(1))}}
		}), invalid("items")},
		{rpc, "restore a range", restore(chars(0, 5)), invalid("mode")},
		{rpc, "restore a summary", restore(summary("s7")), invalid("mode")},
		{rpc, "restore some tokens", expand(agedShort, func(r *pb.ExpandMessageRequest) { r.Mode, r.MaxTokens = 1, 5 }), invalid("mode")},
		{rpc, "restore a further page", expand(agedShort, func(r *pb.ExpandMessageRequest) { r.Mode, r.PageToken = 1, secret }), invalid("mode", "page_token")},
		{rpc, "in full already", expand(agedNewest, unchangedExpansion), failed("NOT_EDITED")},
		{rpc, "erased", expand(agedErased, unchangedExpansion), failed("ORIGINAL_ERASED")},
		{rpc, "erased, to be returned", expand(agedErased, func(r *pb.ExpandMessageRequest) { r.Mode = 2 }), failed("ORIGINAL_ERASED")},
		{rpc, "too large to come back", expand(agedLarge, unchangedExpansion), failed("EXPANSION_TOO_LARGE")},
		{rpc, "reply too small to restore", expand(6, func(r *pb.ExpandMessageRequest) { r.MaxReplyBytes = new(int32(900)) }), refusal{codes.ResourceExhausted, "REPLY_TOO_LARGE", nil}},
		{rpc, "request id of another", expand(agedLarge, func(r *pb.ExpandMessageRequest) { r.RequestId = "used" }), refusal{codes.AlreadyExists, "REQUEST_ID_REUSED", nil}},
	}
	for _, id := range []string{"", "s0", "s-1", "s01", "7", "s", "b1", "S7", "s7 ", secret, "s99999999999999999999"} {
		rows = append(rows, row{rpc, fmt.Sprintf("summary %q", id), summary(id), invalid("summary_id")})
	}
	return rows
}

// policyRows: what the policies of the lifecycle can be wrong about, wherever they stand.
func policyRows() (rows []row) {
	for what, p := range map[string]struct {
		policy *pb.Policy
		fields []string
	}{
		"results":         {&pb.Policy{Expiration: &pb.ExpirationPolicy{Results: wrong()}}, settings("expiration.results")},
		"erasing":         {&pb.Policy{Expiration: &pb.ExpirationPolicy{Results: &pb.Expiration{PreserveOriginalContent: new(false)}}}, []string{"expiration.results.preserve_original_content"}},
		"preserving":      {&pb.Policy{Expiration: &pb.ExpirationPolicy{Results: &pb.Expiration{PreserveOriginalContent: new(true)}}}, []string{"expiration.results.preserve_original_content"}},
		"rewrite":         {&pb.Policy{Rewrite: &pb.RewritePolicy{Mode: 99, MinGainTokens: new(int32(-1)), MaxDeferralTurns: new(int32(1001))}}, []string{"rewrite.mode", "rewrite.min_gain_tokens", "rewrite.max_deferral_turns"}},
		"a cold day":      {&pb.Policy{Rewrite: &pb.RewritePolicy{ColdAfter: &durationpb.Duration{Seconds: 86_400, Nanos: 1}}}, []string{"rewrite.cold_after"}},
		"cold cuts":       {&pb.Policy{Rewrite: &pb.RewritePolicy{ColdCutPercent: new(int32)}}, []string{"rewrite.cold_cut_percent"}},
		"expectations":    {&pb.Policy{Rewrite: &pb.RewritePolicy{ExpectTurns: new(int32(100_001))}}, []string{"rewrite.expect_turns"}},
		"cold before":     {&pb.Policy{Rewrite: &pb.RewritePolicy{ColdAfter: &durationpb.Duration{Nanos: -1}}}, []string{"rewrite.cold_after"}},
		"no duration":     {&pb.Policy{MaxWait: &durationpb.Duration{Seconds: math.MinInt64}}, []string{"max_wait"}},
		"wait too long":   {&pb.Policy{MaxWait: &durationpb.Duration{Seconds: 61}}, []string{"max_wait"}},
		"wait of no time": {&pb.Policy{MaxWait: &durationpb.Duration{Seconds: 1, Nanos: 1_000_000_000}}, []string{"max_wait"}},
	} {
		rows = append(rows,
			row{"BuildContext", "policy, " + what, &pb.BuildContextRequest{ConversationId: aged, PolicyOverride: p.policy}, invalid(under("policy_override.", p.fields)...)},
			row{"CreateConversation", "policy, " + what, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: nobody, Title: secret, Policy: p.policy}}, invalid(under("conversation.policy.", p.fields)...)},
			row{"UpdateConversation", "policy, " + what, &pb.UpdateConversationRequest{
				Conversation: &pb.Conversation{Id: aged, Policy: p.policy}, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy.rewrite"}},
			}, invalid(under("conversation.policy.", p.fields)...)})
	}
	return rows
}

// catalogueRows: what operators can be wrong about in action policies and prompts.
func catalogueRows() []row {
	long := strings.Repeat(secret, 20)
	prompt := func(change func(*pb.Prompt)) *pb.PutPromptRequest {
		p := &pb.Prompt{Id: secret, Template: "{{content}}"}
		change(p)
		return &pb.PutPromptRequest{Prompt: p}
	}
	noPolicy := refusal{codes.NotFound, "ACTION_POLICY_NOT_FOUND", nil}
	noPrompt := refusal{codes.NotFound, "PROMPT_NOT_FOUND", nil}
	reused := refusal{codes.AlreadyExists, "REQUEST_ID_REUSED", nil}
	rows := []row{
		{"PutActionPolicy", "nothing", &pb.PutActionPolicyRequest{RequestId: long}, invalid("policy", "request_id")},
		{"PutActionPolicy", "no key", &pb.PutActionPolicyRequest{Policy: &pb.ActionPolicy{DefaultCompactPromptId: secret}}, invalid("policy.key")},
		{"PutActionPolicy", "empty key", &pb.PutActionPolicyRequest{Policy: &pb.ActionPolicy{Key: &pb.ActionPolicy_ActionId{}}}, invalid("policy.key")},
		{"PutActionPolicy", "everything", &pb.PutActionPolicyRequest{Policy: &pb.ActionPolicy{Key: &pb.ActionPolicy_AgentActionId{AgentActionId: long}, Expiration: wrong(), DefaultCompactPromptId: long}},
			invalid(append(append([]string{"policy.agent_action_id"}, settings("policy.expiration")...), "policy.default_compact_prompt_id")...)},
		{"PutActionPolicy", "request id of another", &pb.PutActionPolicyRequest{RequestId: "used", Policy: &pb.ActionPolicy{Key: &pb.ActionPolicy_ToolName{ToolName: secret}}}, reused},
		{"GetActionPolicy", "no key", &pb.GetActionPolicyRequest{}, invalid("key")},
		{"GetActionPolicy", "long key", &pb.GetActionPolicyRequest{Key: &pb.GetActionPolicyRequest_ActionId{ActionId: long}}, invalid("action_id")},
		{"GetActionPolicy", "unknown", &pb.GetActionPolicyRequest{Key: &pb.GetActionPolicyRequest_ToolName{ToolName: secret}}, noPolicy},
		{"GetActionPolicy", "a tool's name for an action", &pb.GetActionPolicyRequest{Key: &pb.GetActionPolicyRequest_ActionId{ActionId: "kept"}}, noPolicy},
		{"ListActionPolicies", "page", &pb.ListActionPoliciesRequest{PageSize: -1, PageToken: secret}, invalid("page_size", "page_token")},
		{"DeleteActionPolicy", "no key", &pb.DeleteActionPolicyRequest{RequestId: long}, invalid("key", "request_id")},
		{"DeleteActionPolicy", "unknown", &pb.DeleteActionPolicyRequest{Key: &pb.DeleteActionPolicyRequest_AgentActionId{AgentActionId: "kept"}}, noPolicy},
		{"PutPrompt", "nothing", &pb.PutPromptRequest{RequestId: long}, invalid("prompt", "request_id")},
		{"PutPrompt", "empty", &pb.PutPromptRequest{Prompt: &pb.Prompt{}}, invalid("prompt.id", "prompt.template")},
		{"PutPrompt", "id and figures", prompt(func(p *pb.Prompt) { p.Id, p.MaxOutputTokens = long, -1 }), invalid("prompt.id", "prompt.max_output_tokens")},
		{"PutPrompt", "models", prompt(func(p *pb.Prompt) {
			p.Models = []string{secret, "openai/" + secret, "/" + secret, secret + "/", "", long}
		}),
			invalid("prompt.models[0]", "prompt.models[2]", "prompt.models[3]", "prompt.models[4]", "prompt.models[5]")},
		{"PutPrompt", "nine models", prompt(func(p *pb.Prompt) { p.Models = repeated("openai/"+secret, 9) }), invalid("prompt.models")},
		{"PutPrompt", "request id of another", &pb.PutPromptRequest{RequestId: "used", Prompt: &pb.Prompt{Id: "kept", Template: "{{content}} " + secret}}, reused},
		{"GetPrompt", "no id", &pb.GetPromptRequest{}, invalid("id")},
		{"GetPrompt", "unknown", &pb.GetPromptRequest{Id: secret}, noPrompt},
		{"ListPrompts", "page", &pb.ListPromptsRequest{PageSize: 1001, PageToken: secret}, invalid("page_size", "page_token")},
		{"DeletePrompt", "nothing", &pb.DeletePromptRequest{RequestId: long}, invalid("id", "request_id")},
		{"DeletePrompt", "unknown", &pb.DeletePromptRequest{Id: secret}, noPrompt},
	}
	for what, template := range map[string]string{
		"without content": secret, "with content twice": "{{content}}{{content}}", "with something else": "{{content}} {{" + secret + "}}",
		"left open": "{{content}} {{" + secret, "with content spaced": "{{content}}{{ content }}", "too long": "{{content}}" + strings.Repeat("x", 32_768),
	} {
		rows = append(rows, row{"PutPrompt", "template " + what, prompt(func(p *pb.Prompt) { p.Template = template }), invalid("prompt.template")})
	}
	return rows
}
