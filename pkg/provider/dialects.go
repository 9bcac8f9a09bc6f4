package provider

import (
	"regexp"
	"slices"
	"strings"
)

// ChatDialect describes how an API that is compatible with OpenAI's chat completions differs from them. Where a row says nothing, reasoning
// goes back to the model that it came from, in all later turns.
type ChatDialect struct {
	Name   string
	Models *regexp.Regexp // models that speak it, by bare name
	Not    *regexp.Regexp // exceptions among these; nil for none
	Server *regexp.Regexp // router or server that speaks it, by the start of the model's full name; nil if the bare name alone decides
	// Gives are the members that hold the model's reasoning: in the message, in a chunk of its content, or in its calls.
	Gives []string
	// Needs says which assistant messages, from whatever model, must have reasoning_content. Missing is the text for messages that have
	// none.
	Needs   ReasoningNeed
	Missing string
	// Refused are members of assistant messages that the API refuses. With RefusesOthers, it refuses all but those in Takes and those that
	// OpenAI has.
	Refused, Takes []string
	RefusesOthers  bool
	// Signs: calls carry Gemini's signatures. NeedsSignature: a message whose first call has no signature is refused, also by Gemini's own
	// API.
	Signs, NeedsSignature bool
	// Source says where this was documented.
	Source string
}

// ReasoningNeed says which assistant messages must have reasoning_content.
type ReasoningNeed int8

// The needs.
const (
	ReasoningFree    ReasoningNeed = iota
	ReasoningOnCalls               // messages that call tools
	ReasoningOnAll
)

// The members that hold reasoning, in a message, a chunk of content or a call.
const (
	ReasoningContent = "reasoning_content"
	ReasoningPlain   = "reasoning"
	ReasoningDetails = "reasoning_details"
	ThinkingBlocks   = "thinking_blocks"
	ThinkingChunk    = "thinking"
	ExtraContent     = "extra_content"
)

// ChatMembers are the members of a message that are written from the record's fields.
func ChatMembers() []string {
	return []string{"role", "content", "name", "refusal", "audio", "tool_calls", "tool_call_id", "function_call"}
}

// ReasoningMembers are the members of a message that hold reasoning. In the first two it is a text.
func ReasoningMembers() []string {
	return []string{ReasoningContent, ReasoningPlain, ReasoningDetails, ThinkingBlocks}
}

// SkippedSignature is what Google documents for calls that Gemini did not make (ai.google.dev/gemini-api/docs/thought-signatures, read
// 2026-11-26).
const SkippedSignature = "skip_thought_signature_validator"

// chatDialects are tried in order: the first row that fits a model applies. All were read on 2026-11-26.
var chatDialects = []ChatDialect{
	{
		Name: "OpenAI", Models: regexp.MustCompile(`^(?:gpt-\d|chatgpt-|o\d|ft:|codex-|computer-use-)`),
		// Chat completions return no reasoning. A router to these models returns it encrypted, and requires it back.
		Gives:  []string{ReasoningDetails},
		Source: "developers.openai.com/api/reference/resources/chat; openrouter.ai/docs/guides/best-practices/reasoning-tokens",
	},
	{
		// Natively thinking, in its compatible API reasoning: the same field of the model's template.
		Name: "Ollama", Models: regexp.MustCompile(`^[^:]+:[\w.-]+$`), Server: regexp.MustCompile(`^ollama(?:_chat)?/`),
		Gives: []string{ReasoningPlain}, Source: "docs.ollama.com/capabilities/thinking; docs.ollama.com/api/openai-compatibility",
	},
	{
		// "if the reasoning_content field is included in the sequence of input messages, the API will return a 400 error"
		Name: "DeepSeek R1", Models: regexp.MustCompile(`^deepseek-r1`), Gives: []string{ReasoningContent}, Refused: []string{ReasoningContent},
		Source: "api-docs.deepseek.com/guides/reasoning_model",
	},
	{
		// "for turns that do perform tool calls, the reasoning_content must be fully passed back to the API in all subsequent requests", or
		// 400: "The `reasoning_content` in the thinking mode must be passed back to the API". Of other turns it is ignored.
		Name: "DeepSeek", Models: regexp.MustCompile(`^deepseek-(?:chat|reasoner|flash|pro|v3[.-][1-9]|v[4-9])`), Gives: []string{ReasoningContent},
		Needs: ReasoningOnCalls, Source: "api-docs.deepseek.com/guides/thinking_mode",
	},
	{
		// 400: "thinking is enabled but reasoning_content is missing in assistant tool call message". These two take an empty text for a
		// missing one, and a space as it is.
		Name: "Kimi K2.5", Models: regexp.MustCompile(`^kimi-(?:k2\.[56]|latest|for-coding)`), Gives: []string{ReasoningContent},
		Needs: ReasoningOnCalls, Missing: " ",
		Source: "platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model; github.com/theopenco/llmgateway/pull/2093; github.com/earendil-works/pi/issues/4179",
	},
	{
		// "Because Preserved Thinking is always on, ... you must keep the reasoning_content of every historical assistant message"
		Name: "Kimi K2.7", Models: regexp.MustCompile(`^kimi-(?:k2\.[7-9]|k[3-9])`), Gives: []string{ReasoningContent}, Needs: ReasoningOnAll,
		Source: "platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model; github.com/MoonshotAI/kimi-cli/pull/2498",
	},
	{
		Name: "Kimi K2", Models: regexp.MustCompile(`^kimi-(?:k2-thinking|thinking)`), Gives: []string{ReasoningContent}, Needs: ReasoningOnCalls,
		Source: "platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model",
	},
	{
		// "thinking blocks should be explicitly preserved and returned together with the tool results"
		Name: "GLM", Models: regexp.MustCompile(`^glm-(?:4\.[5-9]|[5-9])`), Gives: []string{ReasoningContent}, Needs: ReasoningOnCalls,
		Source: "docs.z.ai/guides/capabilities/thinking-mode",
	},
	{
		Name: "Qwen", Models: regexp.MustCompile(`^(?:qwen|qwq|qvq)`), Gives: []string{ReasoningContent},
		Source: "alibabacloud.com/help/en/model-studio/deep-thinking",
	},
	{
		// "the complete model response must be append to the conversation history"
		Name: "MiniMax", Models: regexp.MustCompile(`^minimax-m`), Gives: []string{ReasoningContent, ReasoningDetails},
		Source: "platform.minimax.io/docs/api-reference/text-openai-api",
	},
	{
		// 422: "Extra inputs are not permitted", of reasoning_content and whatever else its types have not.
		Name: "Mistral", Models: mistrals, Gives: []string{ThinkingChunk}, RefusesOthers: true, Takes: []string{"prefix"},
		Source: "github.com/BerriAI/litellm/issues/30835; docs.mistral.ai/studio-api/conversations/reasoning; the types ThinkChunk and ReferenceChunk of mistralai 3.7",
	},
	{
		// "Function call is missing a thought_signature in functionCall parts", 400. Later versions keep to it, and the newest of each kind,
		// but "Gemini 3 Pro Image doesn't return a 400 error" (docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures).
		Name: "Gemini 3", Models: regexp.MustCompile(`^gemini-(?:(?:[3-9]|\d\d)(?:[.-]|$)|(?:pro|flash|flash-lite)-latest$)`), Not: regexp.MustCompile(`-image(?:-|$)`),
		Gives: []string{ExtraContent}, Signs: true, NeedsSignature: true,
		Source: "ai.google.dev/gemini-api/docs/openai; ai.google.dev/gemini-api/docs/thought-signatures; ai.google.dev/gemini-api/docs/models",
	},
	{
		Name: "Gemini", Models: regexp.MustCompile(`^gemini-`), Gives: []string{ExtraContent}, Signs: true,
		Source: "ai.google.dev/gemini-api/docs/openai; ai.google.dev/gemini-api/docs/thought-signatures",
	},
	{
		Name: "xAI", Models: regexp.MustCompile(`^grok-`), Gives: []string{ReasoningContent},
		Source: "docs.x.ai/developers/model-capabilities/text/reasoning",
	},
	{
		// Blocks of Anthropic's models, with signatures.
		Name: "LiteLLM", Models: regexp.MustCompile(`^claude-`), Server: regexp.MustCompile(`^litellm(?:_proxy)?/`),
		Gives: []string{ReasoningContent, ThinkingBlocks}, Source: "docs.litellm.ai/docs/reasoning_content",
	},
	{
		// "the entire sequence of consecutive reasoning blocks must match the outputs generated by the model"
		Name: "OpenRouter", Server: regexp.MustCompile(`^openrouter/`), Gives: []string{ReasoningPlain, ReasoningDetails},
		Source: "openrouter.ai/docs/guides/best-practices/reasoning-tokens",
	},
	{
		Name: "vLLM", Models: regexp.MustCompile(`^gpt-oss`), Server: regexp.MustCompile(`^(?:hosted_)?vllm/`), Gives: []string{ReasoningPlain},
		Source: "docs.vllm.ai/en/latest/features/interleaved_thinking",
	},
}

// ChatDialects returns all rows of the table.
func ChatDialects() []ChatDialect { return slices.Clone(chatDialects) }

// ChatDialectOf returns the dialect of the API through which a model is called. For a maker's model behind a router, it is the maker's.
func ChatDialectOf(model string) ChatDialect {
	bare, full := BareModel(model), strings.ToLower(model)
	for _, by := range []func(*ChatDialect) bool{
		func(d *ChatDialect) bool {
			return d.Models != nil && d.Models.MatchString(bare) && (d.Not == nil || !d.Not.MatchString(bare))
		},
		func(d *ChatDialect) bool { return d.Server != nil && d.Server.MatchString(full) },
	} {
		for i := range chatDialects {
			if by(&chatDialects[i]) {
				return chatDialects[i]
			}
		}
	}
	return ChatDialect{}
}

// Refuses reports whether the API refuses a member of the assistant's messages that OpenAI does not have.
func (d *ChatDialect) Refuses(member string) bool {
	return slices.Contains(d.Refused, member) || d.RefusesOthers && !slices.Contains(d.Takes, member)
}
