package main

import (
	"github.com/palimpsest-context/palimpsest/internal/toolset"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// toolFormatOf is how a context's format has its tools.
var toolFormatOf = map[conversation.Format]toolset.Format{
	conversation.FormatOpenAIChat: toolset.OpenAIChat, conversation.FormatOpenAIResponses: toolset.OpenAIResponses,
	conversation.FormatAnthropic: toolset.Anthropic, conversation.FormatGemini: toolset.Gemini,
}

// newRecallTools writes the tools by which a model gets text back once for every format.
func newRecallTools() (engine.RecallTools, error) {
	type offer struct {
		format conversation.Format
		memory bool
	}
	offers := map[offer][]engine.Tool{}
	for format, written := range toolFormatOf {
		for _, tool := range toolset.WithMemory() {
			encoded, err := toolset.Encode(written, tool)
			if err != nil {
				return nil, err
			}
			t := engine.Tool{Name: tool.Name, JSON: encoded}
			offers[offer{format, true}] = append(offers[offer{format, true}], t)
			if tool.Name != conversation.ToolSearchMemory {
				offers[offer{format, false}] = append(offers[offer{format, false}], t)
			}
		}
	}
	return func(f conversation.Format, memory bool) []engine.Tool { return offers[offer{f, memory}] }, nil
}
