// Package tools holds the definitions of the tools by which models get text
// back from a sidecar, for each provider, as files that any client can take.
// `sidecar tools` prints the same.
package tools

import (
	"embed"
	"encoding/json"
)

//go:embed *.json
var files embed.FS

// Definitions are the tools in a file: openai_chat, openai_responses, anthropic
// or gemini, each also with _memory for a sidecar with a memory. It fails for
// other names.
func Definitions(name string) (json.RawMessage, error) { return files.ReadFile(name + ".json") }
