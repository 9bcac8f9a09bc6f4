package policyservice

import (
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func profileRules() rules.Table[*pb.ModelProfile] {
	return rules.Table[*pb.ModelProfile]{
		rules.Text("model", schema.NameLimit(), (*pb.ModelProfile).GetModel),
		rules.OptionalNumber("context_window_tokens", schema.WindowLimit(), func(p *pb.ModelProfile) *int32 { return p.ContextWindowTokens }),
		schema.BelowWindow(rules.OptionalNumber("reserved_output_tokens", schema.TokensLimit(), func(p *pb.ModelProfile) *int32 { return p.ReservedOutputTokens }),
			func(p *pb.ModelProfile) (reserved, window *int32) {
				return p.ReservedOutputTokens, p.ContextWindowTokens
			}),
		rules.ClosedText("counter", (*pb.ModelProfile).GetCounter, schema.CounterName),
		rules.Decimal("factor", 0.5, 2, func(p *pb.ModelProfile) *float64 { return p.Factor }),
		rules.OptionalNumber("media_tokens", rules.NumberRange(0, 1_000_000), func(p *pb.ModelProfile) *int32 { return p.MediaTokens }),
		rules.Decimal("input_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.InputPrice }),
		rules.Decimal("cache_read_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.CacheReadPrice }),
		rules.Decimal("cache_write_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.CacheWritePrice }),
		rules.Decimal("output_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.OutputPrice }),
		rules.Anything[*pb.ModelProfile]("live_prefix"),
		rules.Duration("cache_lifetime", "0 to 24 hours", 24*time.Hour, (*pb.ModelProfile).GetCacheLifetime),
		rules.Enum("reasoning_binding", (*pb.ModelProfile).GetReasoningBinding),
	}
}
