package provider

import (
	"strconv"
)

// maxUsage is the greatest count of tokens that the API takes.
const maxUsage = 1_000_000_000

// ReadUsage reads the object in which a provider reports what a call took. Its keys tell whose it is.
func ReadUsage(json string) (*Usage, error) {
	r := &Reading{camel: true}
	var usage *Usage
	if root, ok := r.document(json); ok {
		usage = r.usage(r.Object(root))
	}
	if len(r.faults) > 0 {
		return nil, r.refusal("the provider's usage cannot be read")
	}
	return usage, nil
}

// usageIfAny is the usage of an answer, or nil if it cannot be read: a reply whose tools have effects goes on record whatever was counted of it.
func (r *Reading) usageIfAny(n Node) *Usage {
	before := len(r.faults)
	u := r.usage(r.Object(n))
	if len(r.faults) > before || before == maxReadFaults {
		r.faults = r.faults[:before]
		return nil
	}
	return u
}

// usageKeys say where a provider's counts stand. Those of the input and of the output hold the others, or do not.
type usageKeys struct {
	input, cacheRead, cacheWrite, output, reasoning, details, outputDetails string

	extraInput     string // counted beside the input
	inputIsFresh   bool   // the input does not hold what was read from the cache and written to it
	outputIsSpoken bool   // the output does not hold the reasoning
}

// usageOf tells whose usage it is: of Chat Completions, Ollama, Gemini, Responses or Anthropic, whose names of input and output Responses shares.
func usageOf(has func(string) bool) usageKeys {
	switch {
	case has("promptTokens") || has("completionTokens"):
		return usageKeys{input: "promptTokens", output: "completionTokens", details: "promptTokensDetails", outputDetails: "completionTokensDetails",
			cacheRead: "cachedTokens", cacheWrite: "cacheWriteTokens", reasoning: "reasoningTokens"}
	case has("promptEvalCount") || has("evalCount"): // Ollama's
		return usageKeys{input: "promptEvalCount", output: "evalCount"}
	case has("promptTokenCount") || has("candidatesTokenCount") || has("totalTokenCount"):
		return usageKeys{input: "promptTokenCount", extraInput: "toolUsePromptTokenCount", output: "candidatesTokenCount",
			cacheRead: "cachedContentTokenCount", reasoning: "thoughtsTokenCount", outputIsSpoken: true}
	case has("inputTokensDetails") || has("totalTokens"):
		return usageKeys{input: "inputTokens", output: "outputTokens", details: "inputTokensDetails", outputDetails: "outputTokensDetails",
			cacheRead: "cachedTokens", cacheWrite: "cacheWriteTokens", reasoning: "reasoningTokens"}
	default:
		return usageKeys{input: "inputTokens", output: "outputTokens", outputDetails: "outputTokensDetails", inputIsFresh: true,
			cacheRead: "cacheReadInputTokens", cacheWrite: "cacheCreationInputTokens", reasoning: "thinkingTokens"}
	}
}

// usage reads counts so that they do not overlap.
func (r *Reading) usage(o *Object) *Usage {
	k := usageOf(func(key string) bool { return o.Has(key) || o.Has(snakeKey(key)) })
	input, output := r.details(o, k.details), r.details(o, k.outputDetails)
	u := &Usage{
		Input: r.count(o, k.input) + r.count(o, k.extraInput), CacheRead: r.count(input, k.cacheRead), CacheWrite: r.count(input, k.cacheWrite),
		Output: r.count(o, k.output), Reasoning: r.count(output, k.reasoning),
	}
	if !k.inputIsFresh {
		u.Input = max(0, u.Input-u.CacheRead-u.CacheWrite)
	}
	if !k.outputIsSpoken {
		u.Output = max(0, u.Output-u.Reasoning)
	}
	return u
}

// details returns the object in which details stand: the usage itself, if it has no place of their own.
func (r *Reading) details(o *Object, key string) *Object {
	if key == "" {
		return o
	}
	n := r.member(o, key)
	if n.Missing() {
		return &Object{Node: n}
	}
	return r.Object(n)
}

// member returns a member by its name in camelCase, which stands in snake_case where the provider writes so.
func (r *Reading) member(o *Object, key string) Node {
	if n := o.Get(key); !n.Missing() || key == "" {
		return n
	}
	return o.Get(snakeKey(key))
}

// count reads a count of tokens; 0 if it is missing.
func (r *Reading) count(o *Object, key string) int32 {
	n := r.member(o, key)
	if n.Missing() {
		return 0
	}
	count, err := strconv.ParseInt(n.JSON, 10, 64)
	if err != nil || count < 0 || count > maxUsage {
		r.Fail(&n, "must be a whole number from 0 to 1,000,000,000")
		return 0
	}
	return int32(count)
}
