package contextservice

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

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

func budgetRules() rules.Table[*pb.Budget] {
	return rules.Table[*pb.Budget]{
		rules.OptionalNumber("context_window_tokens", schema.WindowLimit(), func(b *pb.Budget) *int32 { return b.ContextWindowTokens }),
		schema.BelowWindow(rules.OptionalNumber("reserved_output_tokens", schema.TokensLimit(), func(b *pb.Budget) *int32 { return b.ReservedOutputTokens }),
			func(b *pb.Budget) (reserved, window *int32) { return b.ReservedOutputTokens, b.ContextWindowTokens }),
		rules.OptionalNumber("max_context_tokens", schema.WindowLimit(), func(b *pb.Budget) *int32 { return b.MaxContextTokens }),
	}
}

func usageRules() rules.Table[*pb.Usage] {
	l := rules.NumberRange(0, 1_000_000_000)
	return rules.Table[*pb.Usage]{
		rules.Number("input_tokens", l, (*pb.Usage).GetInputTokens),
		rules.Number("cache_read_tokens", l, (*pb.Usage).GetCacheReadTokens),
		rules.Number("cache_write_tokens", l, (*pb.Usage).GetCacheWriteTokens),
		rules.Number("output_tokens", l, (*pb.Usage).GetOutputTokens),
		rules.Number("reasoning_tokens", l, (*pb.Usage).GetReasoningTokens),
	}
}

func fixedInputRules() rules.Table[*pb.FixedInput] {
	return rules.Table[*pb.FixedInput]{
		rules.Text("system_prompt", rules.AtMostBytes(schema.MaxContentBytes), (*pb.FixedInput).GetSystemPrompt),
		rules.OptionalText("tools_json", rules.AtMostBytes(schema.MaxContentBytes), (*pb.FixedInput).GetToolsJson, rules.JSONValue),
		rules.OptionalNumber("tokens", schema.TokensLimit(), func(f *pb.FixedInput) *int32 { return f.Tokens }),
		rules.Anything[*pb.FixedInput]("render_system"),
	}
}
