package schema

import (
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
)

func citationsRules() rules.Table[*pb.CitationsPolicy] {
	return rules.Table[*pb.CitationsPolicy]{
		rules.Anything[*pb.CitationsPolicy]("enabled"),
		rules.OptionalNumber("threshold_chars", ThresholdLimit(), func(p *pb.CitationsPolicy) *int32 { return p.ThresholdChars }),
		rules.Anything[*pb.CitationsPolicy]("release_on_end_run"),
		rules.Message("recall_tools", (*pb.CitationsPolicy).GetRecallTools, nameListRules()),
	}
}

// Policy are the rules of a policy.
func Policy() rules.Table[*pb.Policy] {
	return rules.Table[*pb.Policy]{
		rules.Message("fit", (*pb.Policy).GetFit, fitRules()),
		rules.Lifetime("ttl", (*pb.Policy).GetTtl),
		rules.Message("expiration", (*pb.Policy).GetExpiration, rules.Table[*pb.ExpirationPolicy]{
			rules.Anything[*pb.ExpirationPolicy]("enabled"),
			rules.Message("results", (*pb.ExpirationPolicy).GetResults, preservingRules()),
		}),
		rules.Message("retention", (*pb.Policy).GetRetention, rules.Table[*pb.RetentionPolicy]{
			rules.Anything[*pb.RetentionPolicy]("all_inputs"),
		}),
		rules.Message("rewrite", (*pb.Policy).GetRewrite, rewriteRules()),
		rules.Duration("max_wait", "0 to 60 seconds", time.Minute, (*pb.Policy).GetMaxWait),
		rules.Message("pruning", (*pb.Policy).GetPruning, pruningRules()),
		rules.Message("compaction", (*pb.Policy).GetCompaction, compactionRules()),
		rules.Message("citations", (*pb.Policy).GetCitations, citationsRules()),
		rules.Message("deduplication", (*pb.Policy).GetDeduplication, rules.Table[*pb.DeduplicationPolicy]{
			rules.Anything[*pb.DeduplicationPolicy]("enabled"),
			rules.Message("excluded_tools", (*pb.DeduplicationPolicy).GetExcludedTools, nameListRules()),
			rules.OptionalNumber("min_lines", rules.NumberRange(2, 1000), func(p *pb.DeduplicationPolicy) *int32 { return p.MinLines }),
		}),
		rules.Message("memory", (*pb.Policy).GetMemory, memoryRules()),
		rules.Anything[*pb.Policy]("ttl_without_tombstone"),
	}
}

// preservingRules are those of an expiration that erases nothing: a policy for whatever comes must not.
func preservingRules() rules.Table[*pb.Expiration] {
	out := Expiration()
	for i := range out {
		if out[i].Field == "preserve_original_content" {
			out[i].Check = func(c *rules.Checker, e *pb.Expiration) {
				if e.PreserveOriginalContent != nil {
					c.Fail("must not be set in a policy: erasing is asked for by message, by result or by action")
				}
			}
		}
	}
	return out
}

func rewriteRules() rules.Table[*pb.RewritePolicy] {
	return rules.Table[*pb.RewritePolicy]{
		rules.Enum("mode", (*pb.RewritePolicy).GetMode),
		rules.OptionalNumber("min_gain_tokens", TokensLimit(), func(p *pb.RewritePolicy) *int32 { return p.MinGainTokens }),
		rules.OptionalNumber("max_deferral_turns", rules.NumberRange(0, 1000), func(p *pb.RewritePolicy) *int32 { return p.MaxDeferralTurns }),
		rules.Duration("cold_after", "0 to 24 hours", 24*time.Hour, (*pb.RewritePolicy).GetColdAfter),
		rules.OptionalNumber("expect_turns", rules.NumberRange(0, 100_000), func(p *pb.RewritePolicy) *int32 { return p.ExpectTurns }),
		rules.OptionalNumber("cold_cut_percent", rules.NumberRange(1, 100), func(p *pb.RewritePolicy) *int32 { return p.ColdCutPercent }),
	}
}

func fitRules() rules.Table[*pb.FitPolicy] {
	return rules.Table[*pb.FitPolicy]{
		rules.OptionalNumber("max_context_tokens", WindowLimit(), func(p *pb.FitPolicy) *int32 { return p.MaxContextTokens }),
		rules.OptionalNumber("context_window_tokens", WindowLimit(), func(p *pb.FitPolicy) *int32 { return p.ContextWindowTokens }),
		BelowWindow(rules.OptionalNumber("reserved_output_tokens", TokensLimit(), func(p *pb.FitPolicy) *int32 { return p.ReservedOutputTokens }),
			func(p *pb.FitPolicy) (reserved, window *int32) { return p.ReservedOutputTokens, p.ContextWindowTokens }),
		rules.OptionalNumber("target_percent", rules.NumberRange(10, 90), func(p *pb.FitPolicy) *int32 { return p.TargetPercent }),
		rules.OptionalNumber("max_result_percent", rules.NumberRange(1, 100), func(p *pb.FitPolicy) *int32 { return p.MaxResultPercent }),
		rules.Anything[*pb.FitPolicy]("keep_opening"),
	}
}

// ReservedOverWindow is what is said of a reserve that leaves nothing of the window.
const ReservedOverWindow = "must be less than context_window_tokens: nothing would be left for the context"

// BelowWindow demands beside the rule that the reserve leaves something of the window, where both are set.
func BelowWindow[M any](r rules.Rule[M], get func(M) (reserved, window *int32)) rules.Rule[M] {
	return r.Also(func(c *rules.Checker, m M) {
		if reserved, window := get(m); reserved != nil && window != nil && *reserved >= *window {
			c.Fail(ReservedOverWindow)
		}
	})
}

func pruningRules() rules.Table[*pb.PruningPolicy] {
	return rules.Table[*pb.PruningPolicy]{
		rules.Anything[*pb.PruningPolicy]("enabled"),
		rules.OptionalNumber("protect_tokens", TokensLimit(), func(p *pb.PruningPolicy) *int32 { return p.ProtectTokens }),
		rules.OptionalNumber("minimum_tokens", TokensLimit(), func(p *pb.PruningPolicy) *int32 { return p.MinimumTokens }),
		rules.OptionalNumber("max_part_tokens", WindowLimit(), func(p *pb.PruningPolicy) *int32 { return p.MaxPartTokens }),
		rules.Message("protected_tools", (*pb.PruningPolicy).GetProtectedTools, nameListRules()),
		rules.Message("protected_tool_prefixes", (*pb.PruningPolicy).GetProtectedToolPrefixes, nameListRules()),
		rules.Lifetime("erase_after", (*pb.PruningPolicy).GetEraseAfter),
	}
}

func nameListRules() rules.Table[*pb.NameList] {
	return rules.Table[*pb.NameList]{names("names", 256, (*pb.NameList).GetNames)}
}

func compactionRules() rules.Table[*pb.CompactionPolicy] {
	return rules.Table[*pb.CompactionPolicy]{
		rules.Enum("strategy", (*pb.CompactionPolicy).GetStrategy),
		rules.OptionalNumber("threshold_messages", rules.NumberRange(0, 1_000_000), func(p *pb.CompactionPolicy) *int32 { return p.ThresholdMessages }),
		rules.OptionalNumber("prepare_percent", rules.NumberRange(1, 100), func(p *pb.CompactionPolicy) *int32 { return p.PreparePercent }),
		rules.OptionalNumber("keep_recent", RecentLimit(), func(p *pb.CompactionPolicy) *int32 { return p.KeepRecent }),
		rules.OptionalNumber("tail_percent", rules.NumberRange(1, 90), func(p *pb.CompactionPolicy) *int32 { return p.TailPercent }),
		rules.OptionalNumber("target_percent", rules.NumberRange(10, 90), func(p *pb.CompactionPolicy) *int32 { return p.TargetPercent }),
		rules.OptionalNumber("min_shrink_percent", rules.NumberRange(1, 90), func(p *pb.CompactionPolicy) *int32 { return p.MinShrinkPercent }),
		rules.OptionalNumber("fan_out", rules.NumberRange(2, 16), func(p *pb.CompactionPolicy) *int32 { return p.FanOut }),
		rules.OptionalNumber("summary_tokens", rules.NumberRange(100, 8_000), func(p *pb.CompactionPolicy) *int32 { return p.SummaryTokens }),
		rules.Text("prompt_id", OptionalNameLimit(), (*pb.CompactionPolicy).GetPromptId),
		rules.Anything[*pb.CompactionPolicy]("count_reasoning"),
		rules.OptionalNumber("list_tokens", rules.NumberRange(0, 100_000), func(p *pb.CompactionPolicy) *int32 { return p.ListTokens }),
		rules.Anything[*pb.CompactionPolicy]("live_prefix"),
		rules.OptionalNumber("summary_input_tokens", rules.NumberRange(1_000, 1_000_000), func(p *pb.CompactionPolicy) *int32 { return p.SummaryInputTokens }),
	}
}
