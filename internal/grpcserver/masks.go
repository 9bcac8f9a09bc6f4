package grpcserver

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// pathReserved is the path of a field that an update can bring into conflict with another.
const pathReserved = "policy.fit.reserved_output_tokens"

// setter takes one field of a conversation over from another.
type setter func(to, from *engine.Info)

// settables are the paths that an update mask may name.
func settables() map[string]setter {
	out := map[string]setter{
		"actor_id":      func(to, from *engine.Info) { to.ActorID = from.ActorID },
		"agent_id":      func(to, from *engine.Info) { to.AgentID = from.AgentID },
		"title":         func(to, from *engine.Info) { to.Title = from.Title },
		"metadata_json": func(to, from *engine.Info) { to.Metadata = from.Metadata },
	}
	maps.Copy(out, policySettables())
	maps.Copy(out, fitSettables())
	return out
}

func policySettables() map[string]setter {
	return map[string]setter{
		"policy":                            func(to, from *engine.Info) { to.Policy = from.Policy },
		"policy.fit":                        func(to, from *engine.Info) { to.Policy.Fit = from.Policy.Fit },
		"policy.ttl":                        func(to, from *engine.Info) { to.Policy.TTL = from.Policy.TTL },
		"policy.max_wait":                   func(to, from *engine.Info) { to.Policy.MaxWait = from.Policy.MaxWait },
		"policy.expiration":                 func(to, from *engine.Info) { to.Policy.Expiration = from.Policy.Expiration },
		"policy.expiration.off":             func(to, from *engine.Info) { to.Policy.Expiration.Off = from.Policy.Expiration.Off },
		"policy.expiration.results":         func(to, from *engine.Info) { to.Policy.Expiration.Results = from.Policy.Expiration.Results },
		"policy.retention":                  func(to, from *engine.Info) { to.Policy.Retention = from.Policy.Retention },
		"policy.retention.all_inputs":       func(to, from *engine.Info) { to.Policy.Retention.AllInputs = from.Policy.Retention.AllInputs },
		"policy.rewrite":                    func(to, from *engine.Info) { to.Policy.Rewrite = from.Policy.Rewrite },
		"policy.rewrite.mode":               func(to, from *engine.Info) { to.Policy.Rewrite.Mode = from.Policy.Rewrite.Mode },
		"policy.rewrite.min_gain_tokens":    func(to, from *engine.Info) { to.Policy.Rewrite.MinGainTokens = from.Policy.Rewrite.MinGainTokens },
		"policy.rewrite.max_deferral_turns": func(to, from *engine.Info) { to.Policy.Rewrite.MaxDeferralTurns = from.Policy.Rewrite.MaxDeferralTurns },
		"policy.rewrite.cold_after":         func(to, from *engine.Info) { to.Policy.Rewrite.ColdAfter = from.Policy.Rewrite.ColdAfter },
	}
}

func fitSettables() map[string]setter {
	return map[string]setter{
		"policy.fit.max_context_tokens":    func(to, from *engine.Info) { to.Policy.Fit.MaxContextTokens = from.Policy.Fit.MaxContextTokens },
		"policy.fit.context_window_tokens": func(to, from *engine.Info) { to.Policy.Fit.ContextWindowTokens = from.Policy.Fit.ContextWindowTokens },
		pathReserved:                       func(to, from *engine.Info) { to.Policy.Fit.ReservedOutputTokens = from.Policy.Fit.ReservedOutputTokens },
		"policy.fit.target_percent":        func(to, from *engine.Info) { to.Policy.Fit.TargetPercent = from.Policy.Fit.TargetPercent },
		"policy.fit.max_result_percent":    func(to, from *engine.Info) { to.Policy.Fit.MaxResultPercent = from.Policy.Fit.MaxResultPercent },
	}
}

func maskRules() table[*fieldmaskpb.FieldMask] {
	known := slices.Collect(maps.Keys(settables()))
	return table[*fieldmaskpb.FieldMask]{
		scalars("paths", numberRange(1, int64(len(known))), nil, (*fieldmaskpb.FieldMask).GetPaths, func(c *checker, path string) {
			if !slices.Contains(known, path) {
				c.fail("is not a path that can be changed")
			}
		}),
	}
}
