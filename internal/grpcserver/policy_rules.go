package grpcserver

import (
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func policyRules() table[*pb.Policy] {
	return table[*pb.Policy]{
		message("fit", (*pb.Policy).GetFit, fitRules()),
		lifetime("ttl", (*pb.Policy).GetTtl),
		message("expiration", (*pb.Policy).GetExpiration, table[*pb.ExpirationPolicy]{
			anything[*pb.ExpirationPolicy]("enabled"),
			message("results", (*pb.ExpirationPolicy).GetResults, preservingRules()),
		}),
		message("retention", (*pb.Policy).GetRetention, table[*pb.RetentionPolicy]{
			anything[*pb.RetentionPolicy]("all_inputs"),
		}),
		message("rewrite", (*pb.Policy).GetRewrite, rewriteRules()),
		duration("max_wait", "0 to 60 seconds", time.Minute, (*pb.Policy).GetMaxWait),
		message("pruning", (*pb.Policy).GetPruning, pruningRules()),
		message("compaction", (*pb.Policy).GetCompaction, compactionRules()),
		message("citations", (*pb.Policy).GetCitations, citationsRules()),
	}
}

// preservingRules are those of an expiration that erases nothing: a policy for whatever comes must not.
func preservingRules() table[*pb.Expiration] {
	rules := expirationRules()
	for i := range rules {
		if rules[i].field == "preserve_original_content" {
			rules[i].check = func(c *checker, e *pb.Expiration) {
				if e.PreserveOriginalContent != nil {
					c.fail("must not be set in a policy: erasing is asked for by message, by result or by action")
				}
			}
		}
	}
	return rules
}

func rewriteRules() table[*pb.RewritePolicy] {
	return table[*pb.RewritePolicy]{
		enum("mode", (*pb.RewritePolicy).GetMode),
		optionalNumber("min_gain_tokens", tokensLimit(), func(p *pb.RewritePolicy) *int32 { return p.MinGainTokens }),
		optionalNumber("max_deferral_turns", numberRange(0, 1000), func(p *pb.RewritePolicy) *int32 { return p.MaxDeferralTurns }),
		duration("cold_after", "0 to 24 hours", 24*time.Hour, (*pb.RewritePolicy).GetColdAfter),
	}
}

func fitRules() table[*pb.FitPolicy] {
	return table[*pb.FitPolicy]{
		optionalNumber("max_context_tokens", windowLimit(), func(p *pb.FitPolicy) *int32 { return p.MaxContextTokens }),
		optionalNumber("context_window_tokens", windowLimit(), func(p *pb.FitPolicy) *int32 { return p.ContextWindowTokens }),
		belowWindow(optionalNumber("reserved_output_tokens", tokensLimit(), func(p *pb.FitPolicy) *int32 { return p.ReservedOutputTokens }),
			func(p *pb.FitPolicy) (reserved, window *int32) { return p.ReservedOutputTokens, p.ContextWindowTokens }),
		optionalNumber("target_percent", numberRange(10, 90), func(p *pb.FitPolicy) *int32 { return p.TargetPercent }),
		optionalNumber("max_result_percent", numberRange(1, 100), func(p *pb.FitPolicy) *int32 { return p.MaxResultPercent }),
		anything[*pb.FitPolicy]("keep_opening"),
	}
}

func budgetRules() table[*pb.Budget] {
	return table[*pb.Budget]{
		optionalNumber("context_window_tokens", windowLimit(), func(b *pb.Budget) *int32 { return b.ContextWindowTokens }),
		belowWindow(optionalNumber("reserved_output_tokens", tokensLimit(), func(b *pb.Budget) *int32 { return b.ReservedOutputTokens }),
			func(b *pb.Budget) (reserved, window *int32) { return b.ReservedOutputTokens, b.ContextWindowTokens }),
		optionalNumber("max_context_tokens", windowLimit(), func(b *pb.Budget) *int32 { return b.MaxContextTokens }),
	}
}

const reservedOverWindow = "must be less than context_window_tokens: nothing would be left for the context"

// belowWindow demands beside the rule that the reserve leaves something of the window, where both are set.
func belowWindow[M any](r rule[M], get func(M) (reserved, window *int32)) rule[M] {
	return rule[M]{r.facts, func(c *checker, m M) {
		r.check(c, m)
		if reserved, window := get(m); reserved != nil && window != nil && *reserved >= *window {
			c.fail(reservedOverWindow)
		}
	}}
}

func profileRules() table[*pb.ModelProfile] {
	return table[*pb.ModelProfile]{
		text("model", nameLimit(), (*pb.ModelProfile).GetModel),
		optionalNumber("context_window_tokens", windowLimit(), func(p *pb.ModelProfile) *int32 { return p.ContextWindowTokens }),
		belowWindow(optionalNumber("reserved_output_tokens", tokensLimit(), func(p *pb.ModelProfile) *int32 { return p.ReservedOutputTokens }),
			func(p *pb.ModelProfile) (reserved, window *int32) {
				return p.ReservedOutputTokens, p.ContextWindowTokens
			}),
		closedText("counter", (*pb.ModelProfile).GetCounter, counterName),
		decimal("factor", 0.5, 2, func(p *pb.ModelProfile) *float64 { return p.Factor }),
		optionalNumber("media_tokens", numberRange(0, 1_000_000), func(p *pb.ModelProfile) *int32 { return p.MediaTokens }),
		decimal("input_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.InputPrice }),
		decimal("cache_read_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.CacheReadPrice }),
		decimal("cache_write_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.CacheWritePrice }),
		decimal("output_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.OutputPrice }),
	}
}

// closedText is a string that is empty or one of the words a condition knows.
func closedText[M any](field string, get func(M) string, known condition) rule[M] {
	return rule[M]{facts{field: field}, func(c *checker, m M) {
		if s := get(m); s != "" {
			if fault := known(s); fault != "" {
				c.fail("%s", fault)
			}
		}
	}}
}

func usageRules() table[*pb.Usage] {
	l := numberRange(0, 1_000_000_000)
	return table[*pb.Usage]{
		number("input_tokens", l, (*pb.Usage).GetInputTokens),
		number("cache_read_tokens", l, (*pb.Usage).GetCacheReadTokens),
		number("cache_write_tokens", l, (*pb.Usage).GetCacheWriteTokens),
		number("output_tokens", l, (*pb.Usage).GetOutputTokens),
		number("reasoning_tokens", l, (*pb.Usage).GetReasoningTokens),
	}
}

func fixedInputRules() table[*pb.FixedInput] {
	return table[*pb.FixedInput]{
		text("system_prompt", atMostBytes(maxContentBytes), (*pb.FixedInput).GetSystemPrompt),
		optionalText("tools_json", atMostBytes(maxContentBytes), (*pb.FixedInput).GetToolsJson, jsonValue),
		optionalNumber("tokens", tokensLimit(), func(f *pb.FixedInput) *int32 { return f.Tokens }),
		anything[*pb.FixedInput]("render_system"),
	}
}
