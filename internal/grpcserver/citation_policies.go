package grpcserver

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func citationsRules() table[*pb.CitationsPolicy] {
	return table[*pb.CitationsPolicy]{
		anything[*pb.CitationsPolicy]("enabled"),
		optionalNumber("threshold_chars", thresholdLimit(), func(p *pb.CitationsPolicy) *int32 { return p.ThresholdChars }),
		anything[*pb.CitationsPolicy]("release_on_end_run"),
		message("recall_tools", (*pb.CitationsPolicy).GetRecallTools, nameListRules()),
	}
}

// thresholdLimit is how long results may be that are not cited, in characters.
func thresholdLimit() limit { return numberRange(200, 100_000_000) }

func citationsSettables() map[string]setter {
	return map[string]setter{
		"policy.citations":         func(to, from *engine.Info) { to.Policy.Citations = from.Policy.Citations },
		"policy.citations.enabled": func(to, from *engine.Info) { to.Policy.Citations.On = from.Policy.Citations.On },
		"policy.citations.threshold_chars": func(to, from *engine.Info) {
			to.Policy.Citations.ThresholdChars = from.Policy.Citations.ThresholdChars
		},
		"policy.citations.release_on_end_run": func(to, from *engine.Info) {
			to.Policy.Citations.ReleaseOnEndRun = from.Policy.Citations.ReleaseOnEndRun
		},
		"policy.citations.recall_tools": func(to, from *engine.Info) { to.Policy.Citations.RecallTools = from.Policy.Citations.RecallTools },
	}
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
