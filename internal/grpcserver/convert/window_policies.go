package convert

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

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
		EraseAfter:        FromDuration(p.GetEraseAfter()),
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
		Strategy:           conversation.Strategy(p.GetStrategy()),
		ThresholdMessages:  p.ThresholdMessages,
		PreparePercent:     p.PreparePercent,
		KeepRecent:         p.KeepRecent,
		TailPercent:        p.TailPercent,
		TargetPercent:      p.TargetPercent,
		MinShrinkPercent:   p.MinShrinkPercent,
		FanOut:             p.FanOut,
		SummaryTokens:      p.SummaryTokens,
		PromptID:           p.PromptId,
		CountReasoning:     p.CountReasoning,
		ListTokens:         p.ListTokens,
		LivePrefix:         p.LivePrefix,
		SummaryInputTokens: p.SummaryInputTokens,
	}
}

// toCompaction returns nil for a policy that sets nothing.
func toCompaction(p conversation.CompactionPolicy) *pb.CompactionPolicy {
	if p == (conversation.CompactionPolicy{}) {
		return nil
	}
	return &pb.CompactionPolicy{
		Strategy:           pb.CompactionStrategy(p.Strategy),
		ThresholdMessages:  p.ThresholdMessages,
		PreparePercent:     p.PreparePercent,
		KeepRecent:         p.KeepRecent,
		TailPercent:        p.TailPercent,
		TargetPercent:      p.TargetPercent,
		MinShrinkPercent:   p.MinShrinkPercent,
		FanOut:             p.FanOut,
		SummaryTokens:      p.SummaryTokens,
		PromptId:           p.PromptID,
		CountReasoning:     p.CountReasoning,
		ListTokens:         p.ListTokens,
		LivePrefix:         p.LivePrefix,
		SummaryInputTokens: p.SummaryInputTokens,
	}
}
