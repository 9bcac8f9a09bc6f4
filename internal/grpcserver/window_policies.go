package grpcserver

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// The policies that keep a view inside its window: pruning and compaction.

func pruningRules() table[*pb.PruningPolicy] {
	return table[*pb.PruningPolicy]{
		anything[*pb.PruningPolicy]("enabled"),
		optionalNumber("protect_tokens", tokensLimit(), func(p *pb.PruningPolicy) *int32 { return p.ProtectTokens }),
		optionalNumber("minimum_tokens", tokensLimit(), func(p *pb.PruningPolicy) *int32 { return p.MinimumTokens }),
		optionalNumber("max_part_tokens", windowLimit(), func(p *pb.PruningPolicy) *int32 { return p.MaxPartTokens }),
		message("protected_tools", (*pb.PruningPolicy).GetProtectedTools, nameListRules()),
		message("protected_tool_prefixes", (*pb.PruningPolicy).GetProtectedToolPrefixes, nameListRules()),
		lifetime("erase_after", (*pb.PruningPolicy).GetEraseAfter),
	}
}

func nameListRules() table[*pb.NameList] {
	return table[*pb.NameList]{names("names", 256, (*pb.NameList).GetNames)}
}

func compactionRules() table[*pb.CompactionPolicy] {
	return table[*pb.CompactionPolicy]{
		enum("strategy", (*pb.CompactionPolicy).GetStrategy),
		optionalNumber("threshold_messages", numberRange(0, 1_000_000), func(p *pb.CompactionPolicy) *int32 { return p.ThresholdMessages }),
		optionalNumber("prepare_percent", numberRange(1, 100), func(p *pb.CompactionPolicy) *int32 { return p.PreparePercent }),
		optionalNumber("keep_recent", recentLimit(), func(p *pb.CompactionPolicy) *int32 { return p.KeepRecent }),
		optionalNumber("tail_percent", numberRange(1, 90), func(p *pb.CompactionPolicy) *int32 { return p.TailPercent }),
		optionalNumber("target_percent", numberRange(10, 90), func(p *pb.CompactionPolicy) *int32 { return p.TargetPercent }),
		optionalNumber("min_shrink_percent", numberRange(1, 90), func(p *pb.CompactionPolicy) *int32 { return p.MinShrinkPercent }),
		optionalNumber("fan_out", numberRange(2, 16), func(p *pb.CompactionPolicy) *int32 { return p.FanOut }),
		optionalNumber("summary_tokens", numberRange(100, 8_000), func(p *pb.CompactionPolicy) *int32 { return p.SummaryTokens }),
		text("prompt_id", optionalNameLimit(), (*pb.CompactionPolicy).GetPromptId),
		anything[*pb.CompactionPolicy]("count_reasoning"),
	}
}

func fromPruning(p *pb.PruningPolicy) conversation.PruningPolicy {
	if p == nil {
		return conversation.PruningPolicy{}
	}
	return conversation.PruningPolicy{
		Off:               opposite(p.Enabled),
		ProtectTokens:     p.ProtectTokens,
		MinimumTokens:     p.MinimumTokens,
		MaxPartTokens:     p.MaxPartTokens,
		ProtectedTools:    fromNames(p.GetProtectedTools()),
		ProtectedPrefixes: fromNames(p.GetProtectedToolPrefixes()),
		EraseAfter:        fromDuration(p.GetEraseAfter()),
	}
}

// toPruning returns nil for a policy that sets nothing.
func toPruning(p conversation.PruningPolicy) *pb.PruningPolicy {
	if p == (conversation.PruningPolicy{}) {
		return nil
	}
	return &pb.PruningPolicy{
		Enabled:               opposite(p.Off),
		ProtectTokens:         p.ProtectTokens,
		MinimumTokens:         p.MinimumTokens,
		MaxPartTokens:         p.MaxPartTokens,
		ProtectedTools:        toNames(p.ProtectedTools),
		ProtectedToolPrefixes: toNames(p.ProtectedPrefixes),
		EraseAfter:            toDuration(p.EraseAfter),
	}
}

// fromNames tells a list that is set and empty from one that is not set.
func fromNames(l *pb.NameList) *[]string {
	if l == nil {
		return nil
	}
	list := l.GetNames()
	return &list
}

func toNames(list *[]string) *pb.NameList {
	if list == nil {
		return nil
	}
	return &pb.NameList{Names: *list}
}

func fromCompaction(p *pb.CompactionPolicy) conversation.CompactionPolicy {
	if p == nil {
		return conversation.CompactionPolicy{}
	}
	return conversation.CompactionPolicy{
		Strategy:          conversation.Strategy(p.GetStrategy()),
		ThresholdMessages: p.ThresholdMessages,
		PreparePercent:    p.PreparePercent,
		KeepRecent:        p.KeepRecent,
		TailPercent:       p.TailPercent,
		TargetPercent:     p.TargetPercent,
		MinShrinkPercent:  p.MinShrinkPercent,
		FanOut:            p.FanOut,
		SummaryTokens:     p.SummaryTokens,
		PromptID:          p.PromptId,
		CountReasoning:    p.CountReasoning,
	}
}

// toCompaction returns nil for a policy that sets nothing.
func toCompaction(p conversation.CompactionPolicy) *pb.CompactionPolicy {
	if p == (conversation.CompactionPolicy{}) {
		return nil
	}
	return &pb.CompactionPolicy{
		Strategy:          pb.CompactionStrategy(p.Strategy),
		ThresholdMessages: p.ThresholdMessages,
		PreparePercent:    p.PreparePercent,
		KeepRecent:        p.KeepRecent,
		TailPercent:       p.TailPercent,
		TargetPercent:     p.TargetPercent,
		MinShrinkPercent:  p.MinShrinkPercent,
		FanOut:            p.FanOut,
		SummaryTokens:     p.SummaryTokens,
		PromptId:          p.PromptID,
		CountReasoning:    p.CountReasoning,
	}
}
