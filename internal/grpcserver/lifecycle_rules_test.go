package grpcserver

import (
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
)

type badRequestCase = struct {
	req    proto.Message
	fields []string
}

// with is an append of a user's text with additions.
func with(additions ...*pb.AdditionalContent) *pb.AppendMessageRequest {
	return &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x"), AdditionalContent: additions}
}

func addition(parts ...*pb.Part) *pb.AdditionalContent {
	return &pb.AdditionalContent{Plugin: "p", DisplayOnCurrentMessage: true, Parts: parts}
}

func saving(save func(*pb.AdditionalContent)) *pb.AdditionalContent {
	a := addition(textPart("x"))
	save(a)
	return a
}

func kept(p *pb.Part, r *pb.Retention) *pb.Part {
	p.Retention = r
	return p
}

func permanent() *pb.Retention {
	return &pb.Retention{Policy: &pb.Retention_Permanent{Permanent: &pb.Permanent{}}}
}

func keepLast(n int32) *pb.Retention {
	return &pb.Retention{Policy: &pb.Retention_KeepLast{KeepLast: n}}
}

// badExpiration breaks every rule that an expiration has.
func badExpiration() *pb.Expiration {
	return &pb.Expiration{Turns: new(int32(-1)), Mode: 9, CompactMode: 9, CompactLength: new(int32(0)), CompactPromptId: strings.Repeat("x", long)}
}

func badOverride() *pb.ExpirationOverride {
	return &pb.ExpirationOverride{Turns: new(int32(1_000_001)), Mode: -1, CompactMode: 3, CompactLength: new(int32(1_000_001)), CompactPromptId: strings.Repeat("x", long)}
}

func expirationFaults(prefix string) []string {
	return []string{prefix + ".turns", prefix + ".mode", prefix + ".compact_mode", prefix + ".compact_length", prefix + ".compact_prompt_id"}
}

func badAppends() map[string]badRequestCase {
	assistant := with(addition(textPart("x")))
	assistant.Message.Role = pb.Role_ROLE_ASSISTANT
	expiring := with()
	expiring.Message.Expiration, expiring.ExpirationOverride = badExpiration(), badOverride()
	system := appendOf(pb.Role_ROLE_SYSTEM, kept(textPart("x"), permanent()))
	return map[string]badRequestCase{
		"expiration and override": {expiring, append(expirationFaults("message.expiration"), expirationFaults("expiration_override")...)},
		"result's expiration": {appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "a", Expiration: badExpiration()})),
			expirationFaults("message.parts[0].tool_result.expiration")},
		"retention, empty":          {appendOf(pb.Role_ROLE_USER, kept(textPart("x"), &pb.Retention{})), []string{"message.parts[0].retention.policy"}},
		"retention of none":         {appendOf(pb.Role_ROLE_USER, kept(textPart("x"), keepLast(0))), []string{"message.parts[0].retention.keep_last"}},
		"retention of too many":     {appendOf(pb.Role_ROLE_USER, kept(textPart("x"), keepLast(1_000_001))), []string{"message.parts[0].retention.keep_last"}},
		"retention of a result":     {appendOf(pb.Role_ROLE_TOOL, kept(resultPart(&pb.ToolResult{CallId: "a"}), keepLast(1))), []string{"message.parts[0].retention"}},
		"retention of the system's": {system, []string{"message.parts[0].retention"}},
		"retention of the model's":  {appendOf(pb.Role_ROLE_ASSISTANT, textPart("x"), kept(textPart("x"), keepLast(1))), []string{"message.parts[1].retention"}},
		"addition, empty":           {with(&pb.AdditionalContent{}), []string{"additional_content[0].plugin", "additional_content[0].parts"}},
		"addition to the model's":   {assistant, []string{"additional_content"}},
		"addition of a call":        {with(addition(textPart("x"), callPart("a", "b"))), []string{"additional_content[0].parts[1].tool_call"}},
		"addition of a result":      {with(addition(resultPart(&pb.ToolResult{CallId: "a"}))), []string{"additional_content[0].parts[0].tool_result"}},
		"addition of nothing":       {with(addition(&pb.Part{})), []string{"additional_content[0].parts[0].content"}},
		"addition of broken media":  {with(addition(mediaPart(&pb.Media{}))), []string{"additional_content[0].parts[0].media.mime_type", "additional_content[0].parts[0].media.source"}},
		"addition that says it":     {with(addition(kept(textPart("x"), keepLast(1)))), []string{"additional_content[0].parts[0].retention"}},
		"addition, long names": {with(saving(func(a *pb.AdditionalContent) {
			a.Plugin, a.Header = strings.Repeat("x", long), strings.Repeat("x", 65_537)
		})), []string{"additional_content[0].plugin", "additional_content[0].header"}},
		"addition kept for none":     {with(saving(func(a *pb.AdditionalContent) { a.SaveToChatHistory = &pb.AdditionalContent_KeepLast{} })), []string{"additional_content[0].keep_last"}},
		"too many additions":         {with(slices.Repeat([]*pb.AdditionalContent{addition(textPart("x"))}, 65)...), []string{"additional_content"}},
		"addition of too many parts": {with(addition(slices.Repeat([]*pb.Part{textPart("x")}, 65)...)), []string{"additional_content[0].parts"}},
		"batch, lifecycle": {&pb.BatchAppendMessagesRequest{ConversationId: "c", Items: []*pb.BatchAppendItem{
			{Message: userText("x")}, {Message: userText("x"), AdditionalContent: []*pb.AdditionalContent{{}}, ExpirationOverride: badOverride()},
		}}, append(expirationFaults("items[1].expiration_override"), "items[1].additional_content[0].plugin", "items[1].additional_content[0].parts")},
		// What parts say of plugins is for replies: it makes no text a plugin's in the message of a tool.
		"plugin of the caller's": {appendOf(pb.Role_ROLE_TOOL, resultPart(&pb.ToolResult{CallId: "a"}), &pb.Part{Content: &pb.Part_Text{}, Plugin: "p"}), []string{"message.parts[1].text"}},
	}
}

func expand(change func(*pb.ExpandMessageRequest)) *pb.ExpandMessageRequest {
	r := &pb.ExpandMessageRequest{ConversationId: "c", Target: &pb.ExpandMessageRequest_MessageIndex{}}
	change(r)
	return r
}

func summary(id string) *pb.ExpandMessageRequest {
	return expand(func(r *pb.ExpandMessageRequest) { r.Target = &pb.ExpandMessageRequest_SummaryId{SummaryId: id} })
}

func charsOf(start, end int64) *pb.ExpandMessageRequest {
	return expand(func(r *pb.ExpandMessageRequest) {
		r.Range = &pb.ExpandMessageRequest_Chars{Chars: &pb.Span{StartIndex: start, EndIndex: &end}}
	})
}

func badExpansions() map[string]badRequestCase {
	restoring := func(r *pb.ExpandMessageRequest) *pb.ExpandMessageRequest {
		r.Mode = pb.ExpandMode_EXPAND_MODE_RESTORE
		return r
	}
	longText := strings.Repeat("x", 1025)
	return map[string]badRequestCase{
		"expand nothing": {&pb.ExpandMessageRequest{}, []string{"conversation_id", "target"}},
		"expand, index":  {expand(func(r *pb.ExpandMessageRequest) { r.Target = &pb.ExpandMessageRequest_MessageIndex{MessageIndex: -1} }), []string{"message_index"}},
		"expand, no id":  {expand(func(r *pb.ExpandMessageRequest) { r.Target = &pb.ExpandMessageRequest_MessageId{} }), []string{"message_id"}},
		"expand, long id": {expand(func(r *pb.ExpandMessageRequest) {
			r.Target = &pb.ExpandMessageRequest_MessageId{MessageId: longText[:129]}
		}), []string{"message_id"}},
		"expand, no summary":                 {summary(""), []string{"summary_id"}},
		"expand, summary 0":                  {summary("s0"), []string{"summary_id"}},
		"expand, summary 01":                 {summary("s01"), []string{"summary_id"}},
		"expand, a build":                    {summary("b1"), []string{"summary_id"}},
		"expand, summary of too many digits": {summary("s99999999999999999999"), []string{"summary_id"}},
		"expand, all else": {expand(func(r *pb.ExpandMessageRequest) {
			r.Reason, r.Mode, r.MaxTokens, r.RequestId, r.PageSize, r.PageToken, r.MaxReplyBytes = longText, 9, -1, longText, -1, "x", new(int32(-1))
		}), []string{"reason", "mode", "max_tokens", "request_id", "page_size", "page_token", "max_reply_bytes"}},
		"expand, backward range": {charsOf(5, 4), []string{"chars.end_index"}},
		"expand, negative range": {charsOf(-5, -4), []string{"chars.start_index", "chars.end_index"}},
		"expand, far range":      {charsOf(convert.MaxPlace+1, convert.MaxPlace+1), []string{"chars.start_index", "chars.end_index"}},
		"expand, lines": {expand(func(r *pb.ExpandMessageRequest) {
			r.Range = &pb.ExpandMessageRequest_Lines{Lines: &pb.Span{StartIndex: 1, EndIndex: new(int64(0))}}
		}), []string{"lines.end_index"}},
		"expand, items": {expand(func(r *pb.ExpandMessageRequest) {
			r.Range = &pb.ExpandMessageRequest_Items{Items: &pb.Span{StartIndex: -1}}
		}), []string{"items.start_index"}},
		"restore a range":         {restoring(charsOf(0, 5)), []string{"mode"}},
		"restore some tokens":     {restoring(expand(func(r *pb.ExpandMessageRequest) { r.MaxTokens = 1 })), []string{"mode"}},
		"restore a summary":       {restoring(summary("s1")), []string{"mode"}},
		"restore a further page":  {restoring(expand(func(r *pb.ExpandMessageRequest) { r.PageToken = "x" })), []string{"mode", "page_token"}},
		"build with an override":  {build(func(r *pb.BuildContextRequest) { r.ExpirationOverride = badOverride() }), expirationFaults("expiration_override")},
		"build with bad policies": {build(func(r *pb.BuildContextRequest) { r.PolicyOverride = badPolicy() }), policyFaults("policy_override")},
	}
}

func badPolicy() *pb.Policy {
	e := badExpiration()
	e.PreserveOriginalContent = new(true)
	return &pb.Policy{
		Expiration: &pb.ExpirationPolicy{Results: e},
		Rewrite:    &pb.RewritePolicy{Mode: 7, MinGainTokens: new(int32(-1)), MaxDeferralTurns: new(int32(1001)), ColdAfter: durationpb.New(24*time.Hour + 1), ExpectTurns: new(int32(-1)), ColdCutPercent: new(int32)},
		MaxWait:    durationpb.New(-1),
	}
}

func policyFaults(prefix string) []string {
	return append(expirationFaults(prefix+".expiration.results"), prefix+".expiration.results.preserve_original_content",
		prefix+".rewrite.mode", prefix+".rewrite.min_gain_tokens", prefix+".rewrite.max_deferral_turns", prefix+".rewrite.cold_after", prefix+".rewrite.expect_turns", prefix+".rewrite.cold_cut_percent", prefix+".max_wait")
}

func badCatalogues() map[string]badRequestCase {
	longText := strings.Repeat("x", long)
	prompt := func(change func(*pb.Prompt)) *pb.PutPromptRequest {
		p := &pb.Prompt{Id: "p", Template: "{{content}}"}
		change(p)
		return &pb.PutPromptRequest{Prompt: p}
	}
	template := func(s string) badRequestCase {
		return badRequestCase{prompt(func(p *pb.Prompt) { p.Template = s }), []string{"prompt.template"}}
	}
	return map[string]badRequestCase{
		"policy":              {policy(badPolicy()), policyFaults("conversation.policy")},
		"policy, long waits":  {policy(&pb.Policy{MaxWait: durationpb.New(time.Minute + 1), Rewrite: &pb.RewritePolicy{ColdAfter: &durationpb.Duration{Seconds: math.MinInt64}}}), []string{"conversation.policy.max_wait", "conversation.policy.rewrite.cold_after"}},
		"no action policy":    {&pb.PutActionPolicyRequest{}, []string{"policy"}},
		"empty action policy": {&pb.PutActionPolicyRequest{Policy: &pb.ActionPolicy{}, RequestId: longText}, []string{"policy.key", "request_id"}},
		"action's threshold": {
			&pb.PutActionPolicyRequest{Policy: &pb.ActionPolicy{Key: &pb.ActionPolicy_ToolName{ToolName: "t"}, Citations: &pb.ActionCitations{ThresholdChars: new(int32(199))}}},
			[]string{"policy.citations.threshold_chars"},
		},
		"action policy":        {&pb.PutActionPolicyRequest{Policy: &pb.ActionPolicy{Key: &pb.ActionPolicy_ActionId{ActionId: longText}, Expiration: badExpiration(), DefaultCompactPromptId: longText}}, append(expirationFaults("policy.expiration"), "policy.action_id", "policy.default_compact_prompt_id")},
		"no key":               {&pb.GetActionPolicyRequest{}, []string{"key"}},
		"empty key":            {&pb.GetActionPolicyRequest{Key: &pb.GetActionPolicyRequest_ToolName{}}, []string{"key"}},
		"long key":             {&pb.GetActionPolicyRequest{Key: &pb.GetActionPolicyRequest_AgentActionId{AgentActionId: longText}}, []string{"agent_action_id"}},
		"delete no key":        {&pb.DeleteActionPolicyRequest{RequestId: longText}, []string{"key", "request_id"}},
		"delete long key":      {&pb.DeleteActionPolicyRequest{Key: &pb.DeleteActionPolicyRequest_ToolName{ToolName: longText}}, []string{"tool_name"}},
		"list action policies": {&pb.ListActionPoliciesRequest{PageSize: 1001, PageToken: "x"}, []string{"page_size", "page_token"}},
		"no prompt":            {&pb.PutPromptRequest{RequestId: longText}, []string{"prompt", "request_id"}},
		"empty prompt":         {&pb.PutPromptRequest{Prompt: &pb.Prompt{}}, []string{"prompt.id", "prompt.template"}},
		"prompt, no content":   template("Summarize."),
		"prompt, twice":        template("{{content}} {{content}}"),
		"prompt, unknown":      template("{{content}} {{secret}}"),
		"prompt, open":         template("{{content}} {{length"),
		"prompt, long":         template("{{content}}" + strings.Repeat("x", 32_768)),
		"prompt, models":       {prompt(func(p *pb.Prompt) { p.Models = []string{"openai/a", "", "b", "/c", "openai/", longText} }), []string{"prompt.models[1]", "prompt.models[2]", "prompt.models[3]", "prompt.models[4]", "prompt.models[5]"}},
		"prompt, many models":  {prompt(func(p *pb.Prompt) { p.Models = slices.Repeat([]string{"a/b"}, 9) }), []string{"prompt.models"}},
		"prompt, output":       {prompt(func(p *pb.Prompt) { p.MaxOutputTokens = 100_001 }), []string{"prompt.max_output_tokens"}},
		"get no prompt":        {&pb.GetPromptRequest{}, []string{"id"}},
		"delete no prompt":     {&pb.DeletePromptRequest{RequestId: longText}, []string{"id", "request_id"}},
		"list prompts":         {&pb.ListPromptsRequest{PageSize: -1, PageToken: "x"}, []string{"page_size", "page_token"}},
	}
}

// goodLifecycle are requests at the limits, and what is output only and therefore ignored.
func goodLifecycle() map[string]proto.Message {
	full := with(&pb.AdditionalContent{
		Plugin: strings.Repeat("p", 256), Header: strings.Repeat("h", 65_536), SaveToChatHistory: &pb.AdditionalContent_KeepLast{KeepLast: 1_000_000},
		Parts: slices.Repeat([]*pb.Part{textPart("")}, 64),
	}, saving(func(a *pb.AdditionalContent) { a.SaveToChatHistory = &pb.AdditionalContent_Never{Never: &pb.Never{}} }))
	full.Message.Expiration = &pb.Expiration{Turns: new(int32(0)), Mode: 3, CompactMode: 2, CompactLength: new(int32(1)), Source: 99}
	full.ExpirationOverride = &pb.ExpirationOverride{Turns: new(int32(1_000_000)), PreserveOriginalContent: new(false), DisableExpiration: true}
	result := appendOf(pb.Role_ROLE_TOOL, kept(resultPart(&pb.ToolResult{CallId: "a", Expiration: &pb.Expiration{}}), permanent()))
	result.AdditionalContent = []*pb.AdditionalContent{addition(textPart("x"))}
	output := userText("x")
	output.Parts[0].Plugin, output.Parts[0].Variant, output.Parts[0].Erasure = strings.Repeat("x", long), 99, &pb.Erasure{OriginalLengthBytes: -1}
	return map[string]proto.Message{
		"all of an append": full,
		"tool":             result,
		"output only":      &pb.AppendMessageRequest{ConversationId: "c", Message: output},
		"last range":       charsOf(convert.MaxPlace, convert.MaxPlace),
		"empty range":      charsOf(5, 5),
		"all items": expand(func(r *pb.ExpandMessageRequest) {
			r.Range = &pb.ExpandMessageRequest_Items{Items: &pb.Span{}}
		}),
		"summary": summary("s9223372036854775807"),
		"return a summary": expand(func(r *pb.ExpandMessageRequest) {
			r.Target, r.Mode = &pb.ExpandMessageRequest_SummaryId{SummaryId: "s1"}, pb.ExpandMode_EXPAND_MODE_RETURN_ONLY
		}),
		"restore by id": expand(func(r *pb.ExpandMessageRequest) {
			r.Target, r.Mode = &pb.ExpandMessageRequest_MessageId{MessageId: "m"}, pb.ExpandMode_EXPAND_MODE_RESTORE
		}),
		"policies at the limits": policy(&pb.Policy{
			MaxWait: durationpb.New(0), Rewrite: &pb.RewritePolicy{ColdAfter: durationpb.New(24 * time.Hour), MaxDeferralTurns: new(int32(1000)), ExpectTurns: new(int32(100_000)), ColdCutPercent: new(int32(100))},
			Expiration: &pb.ExpirationPolicy{Enabled: new(false), Results: &pb.Expiration{Mode: 2}}, Retention: &pb.RetentionPolicy{AllInputs: new(true)},
		}),
		"tool's policy": &pb.PutActionPolicyRequest{Policy: &pb.ActionPolicy{Key: &pb.ActionPolicy_ToolName{ToolName: "t"}, Expiration: &pb.Expiration{PreserveOriginalContent: new(false)}}},
		"prompt": &pb.PutPromptRequest{Prompt: &pb.Prompt{Id: "p", Version: -5, Models: []string{"openai/org/model"},
			Template: "{{length}} {{target_length}} {{message_type}} {{turn_added}} {{tool}} { } }} {{content}}"}},
	}
}
