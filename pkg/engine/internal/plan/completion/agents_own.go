package completion

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Why it is not known what the agent sends beside the context.
const (
	fixedUnknown = "fixed_input does not say what stands before the context"
	fixedTools   = "the tools of fixed_input are not those of a request"
	uncached     = "the provider was not asked to cache the request: complete.prompt_cache is not set"
)

// AgentsOwn is what stands in a request as the agent sends it, whether or not the build's answer is that; or why that is not known.
func (c *Completion) AgentsOwn() (own *Completion, why string) {
	known := c.Fixed.SystemPrompt != "" || c.Fixed.ToolsJSON != ""
	switch {
	case !c.On && !known, c.Fixed.Tokens != nil && !known:
		return nil, fixedUnknown
	case c.On && !c.PromptCache && c.format.Traits().Request.CacheMark != "":
		return nil, uncached
	case c.On:
		return c, ""
	}
	tools, err := provider.ReadTools(c.Fixed.ToolsJSON)
	if err != nil {
		return nil, fixedTools
	}
	out := *c
	out.tools = tools
	out.placePrompt()
	return &out, ""
}

// Request writes the request of a context. marks are the blocks that the provider was asked to cache.
func (c *Completion) Request(blocks []provider.Block, marks []int32) []byte {
	prompt := c.systemBlocks().Blocks
	request := &provider.Completion{Instructions: c.prompt, Tools: c.tools}
	for _, at := range marks {
		request.Marks = append(request.Marks, at+int32(len(prompt)))
	}
	if c.PromptCache {
		request.CacheKey = c.cacheKey()
	}
	return provider.NewAssembly(c.format.Traits()).With(slices.Concat(prompt, blocks)).Request(request)
}
