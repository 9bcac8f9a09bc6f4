package convert

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// FromPolicy takes a policy of the API; nil sets nothing.
func FromPolicy(p *pb.Policy) conversation.Policy {
	out := conversation.Policy{
		Fit:           fromFit(p.GetFit()),
		Rewrite:       fromRewrite(p.GetRewrite()),
		Pruning:       fromPruning(p.GetPruning()),
		Compaction:    fromCompaction(p.GetCompaction()),
		Citations:     fromCitations(p.GetCitations()),
		Memory:        fromMemory(p.GetMemory()),
		Deduplication: fromDeduplication(p.GetDeduplication()),
		MaxWait:       FromDuration(p.GetMaxWait()),
		TTL:           FromDuration(p.GetTtl()),
	}
	if p != nil {
		out.TTLWithoutTombstone = p.TtlWithoutTombstone
	}
	if e := p.GetExpiration(); e != nil {
		out.Expiration.Off = opposite(e.Enabled)
		if results := FromExpiration(e.GetResults()); results != nil {
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
		ColdAfter:        FromDuration(r.GetColdAfter()),
		ExpectTurns:      r.ExpectTurns,
		ColdCutPercent:   r.ColdCutPercent,
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

// FromDuration takes a time that may be left out.
func FromDuration(d *durationpb.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	out := d.AsDuration()
	return &out
}

// ToPolicy returns nil for a policy that sets nothing.
func ToPolicy(p conversation.Policy) *pb.Policy {
	if p == (conversation.Policy{}) {
		return nil
	}
	out := &pb.Policy{
		Expiration:    toExpirationPolicy(p.Expiration),
		Rewrite:       toRewrite(p.Rewrite),
		Pruning:       toPruning(p.Pruning),
		Compaction:    toCompaction(p.Compaction),
		Citations:     toCitations(p.Citations),
		Deduplication: toDeduplication(p.Deduplication),
		Memory:        toMemory(p.Memory),
		MaxWait:       toDuration(p.MaxWait),
		Ttl:           toDuration(p.TTL),

		TtlWithoutTombstone: p.TTLWithoutTombstone,
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
	return &pb.ExpirationPolicy{Enabled: opposite(p.Off), Results: ToExpiration(&p.Results)}
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
		ExpectTurns:      p.ExpectTurns,
		ColdCutPercent:   p.ColdCutPercent,
	}
}

func toDuration(d *time.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	return durationpb.New(*d)
}

// opposite turns a switch around, if it is set: policies are kept by what they switch off.
func opposite(on *bool) *bool {
	if on == nil {
		return nil
	}
	return new(!*on)
}

func fromDeduplication(p *pb.DeduplicationPolicy) conversation.DeduplicationPolicy {
	if p == nil {
		return conversation.DeduplicationPolicy{}
	}
	return conversation.DeduplicationPolicy{On: p.Enabled, ExcludedTools: fromNames(p.GetExcludedTools()), MinLines: p.MinLines}
}

// toDeduplication returns nil for a policy that sets nothing.
func toDeduplication(p conversation.DeduplicationPolicy) *pb.DeduplicationPolicy {
	if p == (conversation.DeduplicationPolicy{}) {
		return nil
	}
	return &pb.DeduplicationPolicy{Enabled: p.On, ExcludedTools: toNames(p.ExcludedTools), MinLines: p.MinLines}
}

func fromCitations(p *pb.CitationsPolicy) conversation.CitationsPolicy {
	if p == nil {
		return conversation.CitationsPolicy{}
	}
	return conversation.CitationsPolicy{
		On: p.Enabled, ThresholdChars: p.ThresholdChars, ReleaseOnEndRun: p.ReleaseOnEndRun, RecallTools: fromNames(p.GetRecallTools()),
	}
}

// toCitations returns nil for a policy that sets nothing.
func toCitations(p conversation.CitationsPolicy) *pb.CitationsPolicy {
	if p == (conversation.CitationsPolicy{}) {
		return nil
	}
	return &pb.CitationsPolicy{
		Enabled: p.On, ThresholdChars: p.ThresholdChars, ReleaseOnEndRun: p.ReleaseOnEndRun, RecallTools: toNames(p.RecallTools),
	}
}
