package conversationservice

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
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
	maps.Copy(out, pruningSettables())
	maps.Copy(out, compactionSettables())
	maps.Copy(out, citationsSettables())
	maps.Copy(out, deduplicationSettables())
	maps.Copy(out, memorySettables())
	maps.Copy(out, recallSettables())
	return out
}

func policySettables() map[string]setter {
	return map[string]setter{
		"policy":                            func(to, from *engine.Info) { to.Policy = from.Policy },
		"policy.fit":                        func(to, from *engine.Info) { to.Policy.Fit = from.Policy.Fit },
		"policy.ttl":                        func(to, from *engine.Info) { to.Policy.TTL = from.Policy.TTL },
		"policy.ttl_without_tombstone":      func(to, from *engine.Info) { to.Policy.TTLWithoutTombstone = from.Policy.TTLWithoutTombstone },
		"policy.max_wait":                   func(to, from *engine.Info) { to.Policy.MaxWait = from.Policy.MaxWait },
		"policy.expiration":                 func(to, from *engine.Info) { to.Policy.Expiration = from.Policy.Expiration },
		"policy.expiration.enabled":         func(to, from *engine.Info) { to.Policy.Expiration.Off = from.Policy.Expiration.Off },
		"policy.expiration.results":         func(to, from *engine.Info) { to.Policy.Expiration.Results = from.Policy.Expiration.Results },
		"policy.retention":                  func(to, from *engine.Info) { to.Policy.Retention = from.Policy.Retention },
		"policy.retention.all_inputs":       func(to, from *engine.Info) { to.Policy.Retention.AllInputs = from.Policy.Retention.AllInputs },
		"policy.rewrite":                    func(to, from *engine.Info) { to.Policy.Rewrite = from.Policy.Rewrite },
		"policy.rewrite.mode":               func(to, from *engine.Info) { to.Policy.Rewrite.Mode = from.Policy.Rewrite.Mode },
		"policy.rewrite.min_gain_tokens":    func(to, from *engine.Info) { to.Policy.Rewrite.MinGainTokens = from.Policy.Rewrite.MinGainTokens },
		"policy.rewrite.max_deferral_turns": func(to, from *engine.Info) { to.Policy.Rewrite.MaxDeferralTurns = from.Policy.Rewrite.MaxDeferralTurns },
		"policy.rewrite.cold_after":         func(to, from *engine.Info) { to.Policy.Rewrite.ColdAfter = from.Policy.Rewrite.ColdAfter },
		"policy.rewrite.expect_turns":       func(to, from *engine.Info) { to.Policy.Rewrite.ExpectTurns = from.Policy.Rewrite.ExpectTurns },
	}
}

func fitSettables() map[string]setter {
	return map[string]setter{
		"policy.fit.max_context_tokens":    func(to, from *engine.Info) { to.Policy.Fit.MaxContextTokens = from.Policy.Fit.MaxContextTokens },
		"policy.fit.context_window_tokens": func(to, from *engine.Info) { to.Policy.Fit.ContextWindowTokens = from.Policy.Fit.ContextWindowTokens },
		pathReserved:                       func(to, from *engine.Info) { to.Policy.Fit.ReservedOutputTokens = from.Policy.Fit.ReservedOutputTokens },
		"policy.fit.target_percent":        func(to, from *engine.Info) { to.Policy.Fit.TargetPercent = from.Policy.Fit.TargetPercent },
		"policy.fit.keep_opening":          func(to, from *engine.Info) { to.Policy.Fit.KeepOpening = from.Policy.Fit.KeepOpening },
		"policy.fit.max_result_percent":    func(to, from *engine.Info) { to.Policy.Fit.MaxResultPercent = from.Policy.Fit.MaxResultPercent },
	}
}

func pruningSettables() map[string]setter {
	return map[string]setter{
		"policy.pruning":                 func(to, from *engine.Info) { to.Policy.Pruning = from.Policy.Pruning },
		"policy.pruning.enabled":         func(to, from *engine.Info) { to.Policy.Pruning.Off = from.Policy.Pruning.Off },
		"policy.pruning.protect_tokens":  func(to, from *engine.Info) { to.Policy.Pruning.ProtectTokens = from.Policy.Pruning.ProtectTokens },
		"policy.pruning.minimum_tokens":  func(to, from *engine.Info) { to.Policy.Pruning.MinimumTokens = from.Policy.Pruning.MinimumTokens },
		"policy.pruning.max_part_tokens": func(to, from *engine.Info) { to.Policy.Pruning.MaxPartTokens = from.Policy.Pruning.MaxPartTokens },
		"policy.pruning.protected_tools": func(to, from *engine.Info) { to.Policy.Pruning.ProtectedTools = from.Policy.Pruning.ProtectedTools },
		"policy.pruning.protected_tool_prefixes": func(to, from *engine.Info) {
			to.Policy.Pruning.ProtectedPrefixes = from.Policy.Pruning.ProtectedPrefixes
		},
		"policy.pruning.erase_after": func(to, from *engine.Info) { to.Policy.Pruning.EraseAfter = from.Policy.Pruning.EraseAfter },
	}
}

func compactionSettables() map[string]setter {
	return map[string]setter{
		"policy.compaction":          func(to, from *engine.Info) { to.Policy.Compaction = from.Policy.Compaction },
		"policy.compaction.strategy": func(to, from *engine.Info) { to.Policy.Compaction.Strategy = from.Policy.Compaction.Strategy },
		"policy.compaction.threshold_messages": func(to, from *engine.Info) {
			to.Policy.Compaction.ThresholdMessages = from.Policy.Compaction.ThresholdMessages
		},
		"policy.compaction.prepare_percent": func(to, from *engine.Info) {
			to.Policy.Compaction.PreparePercent = from.Policy.Compaction.PreparePercent
		},
		"policy.compaction.keep_recent":    func(to, from *engine.Info) { to.Policy.Compaction.KeepRecent = from.Policy.Compaction.KeepRecent },
		"policy.compaction.tail_percent":   func(to, from *engine.Info) { to.Policy.Compaction.TailPercent = from.Policy.Compaction.TailPercent },
		"policy.compaction.target_percent": func(to, from *engine.Info) { to.Policy.Compaction.TargetPercent = from.Policy.Compaction.TargetPercent },
		"policy.compaction.min_shrink_percent": func(to, from *engine.Info) {
			to.Policy.Compaction.MinShrinkPercent = from.Policy.Compaction.MinShrinkPercent
		},
		"policy.compaction.fan_out":        func(to, from *engine.Info) { to.Policy.Compaction.FanOut = from.Policy.Compaction.FanOut },
		"policy.compaction.summary_tokens": func(to, from *engine.Info) { to.Policy.Compaction.SummaryTokens = from.Policy.Compaction.SummaryTokens },
		"policy.compaction.prompt_id":      func(to, from *engine.Info) { to.Policy.Compaction.PromptID = from.Policy.Compaction.PromptID },
		"policy.compaction.count_reasoning": func(to, from *engine.Info) {
			to.Policy.Compaction.CountReasoning = from.Policy.Compaction.CountReasoning
		},
		"policy.compaction.list_tokens": func(to, from *engine.Info) { to.Policy.Compaction.ListTokens = from.Policy.Compaction.ListTokens },
		"policy.compaction.live_prefix": func(to, from *engine.Info) { to.Policy.Compaction.LivePrefix = from.Policy.Compaction.LivePrefix },
		"policy.compaction.summary_input_tokens": func(to, from *engine.Info) {
			to.Policy.Compaction.SummaryInputTokens = from.Policy.Compaction.SummaryInputTokens
		},
	}
}

func maskRules() rules.Table[*fieldmaskpb.FieldMask] {
	known := slices.Collect(maps.Keys(settables()))
	return rules.Table[*fieldmaskpb.FieldMask]{
		rules.Scalars("paths", rules.NumberRange(1, int64(len(known))), nil, (*fieldmaskpb.FieldMask).GetPaths, func(c *rules.Checker, path string) {
			if !slices.Contains(known, path) {
				c.Fail("is not a path that can be changed")
			}
		}),
	}
}

func deduplicationSettables() map[string]setter {
	return map[string]setter{
		"policy.deduplication":         func(to, from *engine.Info) { to.Policy.Deduplication = from.Policy.Deduplication },
		"policy.deduplication.enabled": func(to, from *engine.Info) { to.Policy.Deduplication.On = from.Policy.Deduplication.On },
		"policy.deduplication.excluded_tools": func(to, from *engine.Info) {
			to.Policy.Deduplication.ExcludedTools = from.Policy.Deduplication.ExcludedTools
		},
		"policy.deduplication.min_lines": func(to, from *engine.Info) {
			to.Policy.Deduplication.MinLines = from.Policy.Deduplication.MinLines
		},
	}
}

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
