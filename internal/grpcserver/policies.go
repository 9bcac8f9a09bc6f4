package grpcserver

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// PolicyOf is a policy of the contract in the engine's words. Settings beyond their limits are an error that names them all.
func PolicyOf(p *pb.Policy) (conversation.Policy, error) {
	c := &checker{}
	policyRules().check(c, p)
	return fromPolicy(p), c.err()
}

// ToolsOf is what the contract says of tools, by name, in the engine's words. Settings beyond their limits are an error that names
// them all.
func ToolsOf(tools []*pb.ActionPolicy) (map[string]conversation.ActionPolicy, error) {
	c, rules, out := &checker{}, actionPolicyRules(), make(map[string]conversation.ActionPolicy, len(tools))
	c.enter("tools")
	for _, p := range tools {
		c.enter(p.GetToolName())
		rules.check(c, p)
		c.leave()
		out[p.GetToolName()] = fromActionPolicy(p)
	}
	return out, c.err()
}

func fromPolicy(p *pb.Policy) conversation.Policy {
	out := conversation.Policy{
		Fit:        fromFit(p.GetFit()),
		Rewrite:    fromRewrite(p.GetRewrite()),
		Pruning:    fromPruning(p.GetPruning()),
		Compaction: fromCompaction(p.GetCompaction()),
		Citations:  fromCitations(p.GetCitations()),
		MaxWait:    fromDuration(p.GetMaxWait()),
		TTL:        fromDuration(p.GetTtl()),
	}
	if e := p.GetExpiration(); e != nil {
		out.Expiration.Off = opposite(e.Enabled)
		if results := fromExpiration(e.GetResults()); results != nil {
			out.Expiration.Results = *results
		}
	}
	if r := p.GetRetention(); r != nil {
		out.Retention.AllInputs = r.AllInputs
	}
	return out
}

func fromRewrite(r *pb.RewritePolicy) conversation.RewritePolicy {
	if r == nil {
		return conversation.RewritePolicy{}
	}
	return conversation.RewritePolicy{
		Mode:             conversation.RewriteMode(r.GetMode()),
		MinGainTokens:    r.MinGainTokens,
		MaxDeferralTurns: r.MaxDeferralTurns,
		ColdAfter:        fromDuration(r.GetColdAfter()),
	}
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
		KeepOpening:          f.KeepOpening,
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
	out := &pb.Policy{
		Expiration: toExpirationPolicy(p.Expiration),
		Rewrite:    toRewrite(p.Rewrite),
		Pruning:    toPruning(p.Pruning),
		Compaction: toCompaction(p.Compaction),
		Citations:  toCitations(p.Citations),
		MaxWait:    toDuration(p.MaxWait),
		Ttl:        toDuration(p.TTL),
	}
	if p.Retention != (conversation.RetentionPolicy{}) {
		out.Retention = &pb.RetentionPolicy{AllInputs: p.Retention.AllInputs}
	}
	if p.Fit != (conversation.FitPolicy{}) {
		out.Fit = &pb.FitPolicy{
			MaxContextTokens:     p.Fit.MaxContextTokens,
			ContextWindowTokens:  p.Fit.ContextWindowTokens,
			ReservedOutputTokens: p.Fit.ReservedOutputTokens,
			TargetPercent:        p.Fit.TargetPercent,
			MaxResultPercent:     p.Fit.MaxResultPercent,
			KeepOpening:          p.Fit.KeepOpening,
		}
	}
	return out
}

func toExpirationPolicy(p conversation.ExpirationPolicy) *pb.ExpirationPolicy {
	if p == (conversation.ExpirationPolicy{}) {
		return nil
	}
	return &pb.ExpirationPolicy{Enabled: opposite(p.Off), Results: toExpiration(&p.Results)}
}

func toRewrite(p conversation.RewritePolicy) *pb.RewritePolicy {
	if p == (conversation.RewritePolicy{}) {
		return nil
	}
	return &pb.RewritePolicy{
		Mode:             pb.RewriteMode(p.Mode),
		MinGainTokens:    p.MinGainTokens,
		MaxDeferralTurns: p.MaxDeferralTurns,
		ColdAfter:        toDuration(p.ColdAfter),
	}
}

func toDuration(d *time.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	return durationpb.New(*d)
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
	return engine.FixedInput{SystemPrompt: f.GetSystemPrompt(), ToolsJSON: f.GetToolsJson(), Tokens: f.Tokens, RenderSystem: f.GetRenderSystem()}
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

// opposite turns a switch around, if it is set: policies are kept by what they switch off.
func opposite(on *bool) *bool {
	if on == nil {
		return nil
	}
	return new(!*on)
}
