// Package completion says what stands in a request beside its context, so that an answer can be sent to the provider as it is: system prompt,
// tools, and how the provider is to cache it.
package completion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// RecallTools are the tools by which a model gets text back, as a format's requests hold them; with that of the memory, if asked for.
type RecallTools func(f conversation.Format, memory bool) []provider.Tool

// Options says what a build's answer holds beside the context.
type Options struct {
	On          bool
	RecallTools bool
	PromptCache bool
}

// Input is what a request is completed from.
type Input struct {
	Options

	Fixed       view.FixedInput
	Format      provider.Format
	Model       string
	Counter     tokens.Counter
	RecallTools RecallTools // the sidecar's own; nil for none
	Memory      bool        // that of the memory too
	Incarnation conversation.ID
}

// Completion is what completes a request, as of one build.
type Completion struct {
	Options

	Fixed       view.FixedInput // with the sidecar's own tools
	tools       []json.RawMessage
	prompt      string // system prompt that stands in no block
	format      provider.Format
	developer   bool // the model's system prompt is the developer's, in the first item
	incarnation conversation.ID
}

// New puts the caller's tools and the sidecar's together.
func New(in *Input) (*Completion, error) {
	c := &Completion{Options: in.Options, Fixed: in.Fixed, format: in.Format, incarnation: in.Incarnation}
	c.developer = in.Format.Traits().Request.Instructions != "" && provider.PromptIsDevelopers(in.Model)
	if !c.On {
		return c, nil
	}
	tools, err := provider.ReadTools(in.Fixed.ToolsJSON)
	if err != nil {
		return nil, conversation.Errorf(conversation.InvalidField, "the tools cannot be part of a request").
			At("fixed_input.tools_json", "must be a JSON array of objects where complete is set")
	}
	if c.RecallTools && in.RecallTools != nil {
		own := in.RecallTools(in.Format.Format(), in.Memory)
		tools = provider.WithTools(in.Format.Format(), tools, own)
		c.addTokens(own, in.Counter)
	}
	c.tools = tools
	if len(tools) > 0 && c.RecallTools {
		c.Fixed.ToolsJSON = string(provider.AppendArray(nil, tools))
	}
	c.placePrompt()
	return c, nil
}

// placePrompt says where a whole request has its system prompt: apart from all blocks, or in the first of them.
func (c *Completion) placePrompt() {
	if c.format.Traits().Request.Instructions != "" && !c.developer && !c.Fixed.RenderSystem {
		c.prompt = c.Fixed.SystemPrompt
	} else {
		c.Fixed.RenderSystem = true
	}
}

// systemBlocks is the system prompt of the fixed input, if it is asked for; none where it is white space alone and the provider takes none.
func (c *Completion) systemBlocks() provider.UnitBlocks {
	if !c.Fixed.RenderSystem || c.Fixed.SystemPrompt == "" {
		return provider.UnitBlocks{}
	}
	text := view.TextPart(c.Fixed.SystemPrompt)
	if c.developer {
		text.Residue = provider.DevelopersResidue()
	}
	item := conversation.Item{Message: &conversation.Message{Role: conversation.RoleSystem, Index: -1}, Parts: []conversation.Part{text}}
	return c.format.Unit(&conversation.Unit{Items: []conversation.Item{item}}, provider.UnitContext{Leading: true})
}

// addTokens adds the sidecar's tools to a weight that the caller gave.
func (c *Completion) addTokens(own []provider.Tool, counter tokens.Counter) {
	if c.Fixed.Tokens == nil {
		return
	}
	n := *c.Fixed.Tokens
	for _, t := range own {
		weight, _ := counter.Count(string(t.JSON))
		n += int32(weight)
	}
	c.Fixed.Tokens = &n
}

// Finish puts into the answer what stands beside the context: the system prompt, and the whole request, if they are asked for.
func (c *Completion) Finish(r *report.Result, a *provider.Assembly, out *view.Composition) {
	a = r.AddSystemPrompt(c.format, c.systemBlocks(), out, a)
	if !c.On || r.ByPlace {
		return
	}
	request := &provider.Completion{Instructions: c.prompt, Tools: c.tools}
	if c.PromptCache {
		request.CacheKey, request.Marks = c.cacheKey(), slices.Clone(r.Breakpoints)
	}
	r.RequestJSON = a.Request(request)
}

// cacheKeyDomain keeps the name of a conversation's prompt cache apart from all else that is made of its incarnation.
const cacheKeyDomain = "prompt cache key"

// cacheKey is the name of the conversation's prompt cache.
func (c *Completion) cacheKey() string {
	key := txn.KeyedHash(c.incarnation, sha256.Sum256([]byte(cacheKeyDomain)))
	return hex.EncodeToString(key[:16])
}
