package grpcserver

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func fromPolicy(p *pb.Policy) conversation.Policy {
	return conversation.Policy{Fit: fromFit(p.GetFit()), TTL: fromDuration(p.GetTtl())}
}

func fromFit(f *pb.FitPolicy) conversation.FitPolicy {
	if f == nil {
		return conversation.FitPolicy{}
	}
	return conversation.FitPolicy{
		MaxContextTokens:     f.MaxContextTokens,
		ContextWindowTokens:  f.ContextWindowTokens,
		ReservedOutputTokens: f.ReservedOutputTokens,
		TargetPercent:        f.TargetPercent,
		MaxResultPercent:     f.MaxResultPercent,
	}
}

func fromDuration(d *durationpb.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	out := d.AsDuration()
	return &out
}

// toPolicy returns nil for a policy that sets nothing.
func toPolicy(p conversation.Policy) *pb.Policy {
	if p == (conversation.Policy{}) {
		return nil
	}
	out := &pb.Policy{}
	if p.Fit != (conversation.FitPolicy{}) {
		out.Fit = &pb.FitPolicy{
			MaxContextTokens:     p.Fit.MaxContextTokens,
			ContextWindowTokens:  p.Fit.ContextWindowTokens,
			ReservedOutputTokens: p.Fit.ReservedOutputTokens,
			TargetPercent:        p.Fit.TargetPercent,
			MaxResultPercent:     p.Fit.MaxResultPercent,
		}
	}
	if p.TTL != nil {
		out.Ttl = durationpb.New(*p.TTL)
	}
	return out
}

func fromBudget(b *pb.Budget) engine.BudgetOverride {
	if b == nil {
		return engine.BudgetOverride{}
	}
	return engine.BudgetOverride{
		ContextWindow:  b.ContextWindowTokens,
		ReservedOutput: b.ReservedOutputTokens,
		MaxContext:     b.MaxContextTokens,
	}
}

func fromFixedInput(f *pb.FixedInput) engine.FixedInput {
	if f == nil {
		return engine.FixedInput{}
	}
	return engine.FixedInput{SystemPrompt: f.GetSystemPrompt(), ToolsJSON: f.GetToolsJson(), Tokens: f.Tokens}
}

func fromUsage(u *pb.Usage) *engine.Usage {
	if u == nil {
		return nil
	}
	return &engine.Usage{
		Input:      u.GetInputTokens(),
		CacheRead:  u.GetCacheReadTokens(),
		CacheWrite: u.GetCacheWriteTokens(),
		Output:     u.GetOutputTokens(),
		Reasoning:  u.GetReasoningTokens(),
	}
}

func fromProfile(p *pb.ModelProfile) conversation.ModelProfile {
	return conversation.ModelProfile{
		Model:                p.GetModel(),
		ContextWindowTokens:  p.ContextWindowTokens,
		ReservedOutputTokens: p.ReservedOutputTokens,
		Counter:              p.GetCounter(),
		Factor:               p.Factor,
		MediaTokens:          p.MediaTokens,
		InputPrice:           p.InputPrice,
		CacheReadPrice:       p.CacheReadPrice,
		CacheWritePrice:      p.CacheWritePrice,
		OutputPrice:          p.OutputPrice,
	}
}

func toProfile(p conversation.ModelProfile) *pb.ModelProfile {
	return &pb.ModelProfile{
		Model:                p.Model,
		ContextWindowTokens:  p.ContextWindowTokens,
		ReservedOutputTokens: p.ReservedOutputTokens,
		Counter:              p.Counter,
		Factor:               p.Factor,
		MediaTokens:          p.MediaTokens,
		InputPrice:           p.InputPrice,
		CacheReadPrice:       p.CacheReadPrice,
		CacheWritePrice:      p.CacheWritePrice,
		OutputPrice:          p.OutputPrice,
	}
}
