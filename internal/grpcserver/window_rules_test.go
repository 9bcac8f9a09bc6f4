package grpcserver

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func compact(o *pb.CompactionOptions) *pb.CompactConversationRequest {
	return &pb.CompactConversationRequest{ConversationId: "c", Options: o}
}

func pruning(p *pb.PruningPolicy) *pb.CreateConversationRequest {
	return policy(&pb.Policy{Pruning: p})
}

// badWindowPolicy breaks every rule that pruning and compaction have.
func badWindowPolicy(over bool) *pb.Policy {
	n := func(under, most int32) *int32 {
		if over {
			return new(most + 1)
		}
		return &under
	}
	strategy := pb.CompactionStrategy(-1)
	if over {
		strategy = 4
	}
	return &pb.Policy{
		Pruning: &pb.PruningPolicy{
			ProtectTokens: n(-1, 100_000_000), MinimumTokens: n(-1, 100_000_000), MaxPartTokens: n(0, 100_000_000),
			ProtectedTools:        &pb.NameList{Names: slices.Repeat([]string{"a"}, 257)},
			ProtectedToolPrefixes: &pb.NameList{Names: []string{"a", "", strings.Repeat("x", 257)}},
			EraseAfter:            durationpb.New(59 * time.Second),
		},
		Compaction: &pb.CompactionPolicy{
			Strategy: strategy, ThresholdMessages: n(-1, 1_000_000), PreparePercent: n(0, 100), KeepRecent: n(-1, 10_000),
			TailPercent: n(0, 90), TargetPercent: n(9, 90), MinShrinkPercent: n(0, 90), FanOut: n(1, 16), SummaryTokens: n(99, 8_000),
			PromptId: new(strings.Repeat("x", 257)), ListTokens: n(-1, 100_000),
		},
	}
}

func windowPolicyFaults(prefix string) []string {
	var out []string
	for _, field := range []string{
		"pruning.protect_tokens", "pruning.minimum_tokens", "pruning.max_part_tokens", "pruning.protected_tools.names",
		"pruning.protected_tool_prefixes.names[1]", "pruning.protected_tool_prefixes.names[2]", "pruning.erase_after",
		"compaction.strategy", "compaction.threshold_messages", "compaction.prepare_percent", "compaction.keep_recent",
		"compaction.tail_percent", "compaction.target_percent", "compaction.min_shrink_percent", "compaction.fan_out",
		"compaction.summary_tokens", "compaction.prompt_id", "compaction.list_tokens",
	} {
		out = append(out, prefix+"."+field)
	}
	return out
}

func badWindows() map[string]badRequestCase {
	eraseAfter := func(d time.Duration) badRequestCase {
		return badRequestCase{pruning(&pb.PruningPolicy{EraseAfter: durationpb.New(d)}), []string{"conversation.policy.pruning.erase_after"}}
	}
	return map[string]badRequestCase{
		"window policy, under":   {policy(badWindowPolicy(false)), windowPolicyFaults("conversation.policy")},
		"window override, over":  {build(func(r *pb.BuildContextRequest) { r.PolicyOverride = badWindowPolicy(true) }), windowPolicyFaults("policy_override")},
		"erased in the past":     eraseAfter(-time.Hour),
		"erased in an age":       eraseAfter(10*365*24*time.Hour + 1),
		"compact nothing":        {&pb.CompactConversationRequest{RequestId: strings.Repeat("x", long)}, []string{"conversation_id", "request_id"}},
		"compact, options under": {compact(&pb.CompactionOptions{Strategy: -1, KeepRecent: new(int32(-1)), TargetTokens: new(int32(0))}), []string{"options.strategy", "options.keep_recent", "options.target_tokens"}},
		"compact, options over":  {compact(&pb.CompactionOptions{Strategy: 4, KeepRecent: new(int32(10_001)), TargetTokens: new(int32(100_000_001))}), []string{"options.strategy", "options.keep_recent", "options.target_tokens"}},
		"rewind nothing":         {&pb.RewindConversationRequest{FromIndex: -1, RequestId: strings.Repeat("x", long)}, []string{"conversation_id", "from_index", "request_id"}},
	}
}

// goodWindows are requests at the limits.
func goodWindows() map[string]proto.Message {
	n := func(v int32) *int32 { return &v }
	return map[string]proto.Message{
		"window policy, least": policy(&pb.Policy{
			Pruning: &pb.PruningPolicy{
				Enabled: new(false), ProtectTokens: n(0), MinimumTokens: n(0), MaxPartTokens: n(1), ProtectedTools: &pb.NameList{}, EraseAfter: durationpb.New(0),
			},
			Compaction: &pb.CompactionPolicy{
				ThresholdMessages: n(0), PreparePercent: n(1), KeepRecent: n(0), TailPercent: n(1), TargetPercent: n(10), MinShrinkPercent: n(1),
				FanOut: n(2), SummaryTokens: n(100), PromptId: new(""), CountReasoning: new(false), ListTokens: n(0), LivePrefix: new(false), SummaryInputTokens: n(1000),
			},
		}),
		"window policy, most": policy(&pb.Policy{
			Pruning: &pb.PruningPolicy{
				ProtectTokens: n(100_000_000), MinimumTokens: n(100_000_000), MaxPartTokens: n(100_000_000),
				ProtectedTools: &pb.NameList{Names: slices.Repeat([]string{strings.Repeat("x", 256)}, 256)}, EraseAfter: durationpb.New(10 * 365 * 24 * time.Hour),
			},
			Compaction: &pb.CompactionPolicy{
				Strategy: 3, ThresholdMessages: n(1_000_000), PreparePercent: n(100), KeepRecent: n(10_000), TailPercent: n(90), TargetPercent: n(90),
				MinShrinkPercent: n(90), FanOut: n(16), SummaryTokens: n(8_000), PromptId: new(strings.Repeat("x", 256)), ListTokens: n(100_000),
			},
		}),
		"erased after a minute": pruning(&pb.PruningPolicy{EraseAfter: durationpb.New(time.Minute)}),
		"compact":               compact(nil),
		"compact, least":        compact(&pb.CompactionOptions{KeepRecent: n(0), TargetTokens: n(1)}),
		"compact, most":         compact(&pb.CompactionOptions{Strategy: 3, KeepRecent: n(10_000), TargetTokens: n(100_000_000)}),
		"rewind all":            &pb.RewindConversationRequest{ConversationId: "c"},
	}
}
