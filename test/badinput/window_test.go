package badinput

import (
	"math"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// windowRows: compaction, rewinds, and what a policy says of them.
func windowRows() []row {
	missing := refusal{codes.NotFound, "CONVERSATION_NOT_FOUND", nil}
	policy := func(p *pb.Policy) *pb.BuildContextRequest {
		return &pb.BuildContextRequest{ConversationId: target, PolicyOverride: p}
	}
	return []row{
		{"CompactConversation", "nothing", &pb.CompactConversationRequest{}, invalid("conversation_id")},
		{"CompactConversation", "of none", &pb.CompactConversationRequest{ConversationId: nobody}, missing},
		{"CompactConversation", "figures", &pb.CompactConversationRequest{ConversationId: target, Options: &pb.CompactionOptions{
			Strategy: 99, KeepRecent: new(int32(-1)), TargetTokens: new(int32(0)),
		}}, invalid("options.strategy", "options.keep_recent", "options.target_tokens")},
		{"CompactConversation", "request id", &pb.CompactConversationRequest{ConversationId: target, RequestId: strings.Repeat(secret, 30)}, invalid("request_id")},
		{"RewindConversation", "nothing", &pb.RewindConversationRequest{}, invalid("conversation_id")},
		{"RewindConversation", "of none", &pb.RewindConversationRequest{ConversationId: nobody}, missing},
		{"RewindConversation", "negative", &pb.RewindConversationRequest{ConversationId: target, FromIndex: -1}, invalid("from_index")},
		{"RewindConversation", "past the end", &pb.RewindConversationRequest{ConversationId: target, FromIndex: math.MaxInt32}, refusal{codes.NotFound, "MESSAGE_NOT_FOUND", nil}},
		{"UndoRewind", "nothing", &pb.UndoRewindRequest{}, invalid("conversation_id")},
		{"UndoRewind", "of none", &pb.UndoRewindRequest{ConversationId: nobody}, missing},
		{"UndoRewind", "no rewind", &pb.UndoRewindRequest{ConversationId: target}, refusal{codes.FailedPrecondition, "NOTHING_TO_UNDO", nil}},
		{"BuildContext", "pruning", policy(&pb.Policy{Pruning: &pb.PruningPolicy{
			ProtectTokens: new(int32(-1)), MinimumTokens: new(int32(math.MaxInt32)), MaxPartTokens: new(int32(0)),
			ProtectedTools: &pb.NameList{Names: []string{""}}, EraseAfter: &durationpb.Duration{Seconds: 1},
		}}), invalid(under("policy_override.pruning.", []string{"protect_tokens", "minimum_tokens", "max_part_tokens", "protected_tools.names[0]", "erase_after"})...)},
		{"BuildContext", "compaction", policy(&pb.Policy{Compaction: &pb.CompactionPolicy{
			Strategy: -1, ThresholdMessages: new(int32(-1)), PreparePercent: new(int32(101)), KeepRecent: new(int32(10_001)), TailPercent: new(int32(0)),
			TargetPercent: new(int32(9)), MinShrinkPercent: new(int32(91)), FanOut: new(int32(1)), SummaryTokens: new(int32(99)),
			PromptId: new(strings.Repeat(secret, 30)), ListTokens: new(int32(-1)),
		}}), invalid(under("policy_override.compaction.", []string{
			"strategy", "threshold_messages", "prepare_percent", "keep_recent", "tail_percent", "target_percent", "min_shrink_percent", "fan_out",
			"summary_tokens", "prompt_id", "list_tokens",
		})...)},
	}
}
