package provider

import (
	"strconv"
)

// maxUsage is the greatest count of tokens that the API accepts.
const maxUsage = 1_000_000_000

// ReadUsage reads the object in which a provider reports the usage of a call. Its keys tell which provider it is.
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

// usageIfAny reads the usage of an answer; nil if it cannot be read. A reply whose tools have had effects must be recorded even then.
func (r *Reading) usageIfAny(n Node) *Usage {
	before := len(r.faults)
	u := r.usage(r.Object(n))
	if len(r.faults) > before || before == maxReadFaults {
		r.faults = r.faults[:before]
		return nil
	}
	return u
}

// usageKeys says where a provider's counts are, and whether the totals include the others.
type usageKeys struct {
	input, cacheRead, cacheWrite, output, reasoning, details, outputDetails string

	extraInput     string // counted in addition to the input
	inputIsFresh   bool   // the input does not include tokens read from or written to the cache
	outputIsSpoken bool   // the output does not include reasoning
}

// usageOf recognizes the usage of Chat Completions, Ollama, Gemini, Responses or Anthropic. Responses and Anthropic have the same names for
// input and output.
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

// details returns the object that holds the details; the usage itself if it has no separate object for them.
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

// member returns a member by its name in camelCase. Providers that use snake_case have it under that name.
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
