package main

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
	"github.com/palimpsest-context/palimpsest/internal/toolset"
)

// toolsCommand is `sidecar tools`. It needs no sidecar that runs.
type toolsCommand struct {
	Format toolset.Format `help:"Whose: openai-chat (Chat Completions), openai-responses, anthropic, or gemini (for functionDeclarations)." enum:"${tool_formats}" default:"openai-chat"`
	Memory bool           `help:"Include search_memory, for a sidecar with a memory."`
}

// Run prints the definitions as a JSON array.
func (c *toolsCommand) Run(out *command.Output) error {
	offered := toolset.Tools()
	if c.Memory {
		offered = toolset.WithMemory()
	}
	tools, err := toolset.Render(c.Format, offered)
	if err != nil {
		return err
	}
	_, err = out.Stdout.Write(tools)
	return err
}

func toolFormats() string {
	formats := toolset.Formats()
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = string(f)
	}
	return strings.Join(names, ",")
}
