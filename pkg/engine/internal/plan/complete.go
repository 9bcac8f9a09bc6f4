package plan

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

// Completion says what a build's answer holds beside the context, so that it can be sent as it is.
type Completion struct {
	On          bool
	RecallTools bool
	PromptCache bool
}

// completion is what completes a request, as of one attempt.
type completion struct {
	Completion

	tools  []json.RawMessage
	fixed  view.FixedInput // with the sidecar's own tools
	prompt string          // system prompt that stands in no block
}

// newCompletion puts the caller's tools and the sidecar's together.
func newCompletion(in *Input, s *settings) (*completion, error) {
	r := in.Request
	c := &completion{Completion: r.Complete, fixed: r.Fixed}
	if !c.On {
		return c, nil
	}
	tools, err := provider.ReadTools(r.Fixed.ToolsJSON)
	if err != nil {
		e := conversation.Errorf(conversation.InvalidField, "the tools cannot be part of a request")
		e.Violations = []conversation.Violation{{Field: "fixed_input.tools_json", Text: "must be a JSON array of objects where complete is set"}}
		return nil, e
	}
	if c.RecallTools && in.RecallTools != nil {
		memory := in.Recalls && conversation.ValueOr(s.policy.Memory.On, false)
		own := in.RecallTools(r.Format, memory)
		tools = provider.WithTools(r.Format, tools, own)
		c.addTokens(own, in.Counter)
	}
	c.tools = tools
	if len(tools) > 0 && c.RecallTools {
		c.fixed.ToolsJSON = string(provider.AppendArray(nil, tools))
	}
	c.prompt, c.fixed = placePrompt(in.Format, c.fixed)
	return c, nil
}

// placePrompt says where a whole request has its system prompt: apart from all blocks, or in the first of them.
func placePrompt(f provider.Format, in view.FixedInput) (apart string, out view.FixedInput) {
	if f.Traits().Request.Instructions != "" && !in.RenderSystem {
		return in.SystemPrompt, in
	}
	in.RenderSystem = true
	return "", in
}

// systemBlocks is the system prompt of the fixed input, if it is asked for; none where it is white space alone and the provider takes none.
func systemBlocks(f provider.Format, in view.FixedInput) provider.UnitBlocks {
	if !in.RenderSystem || in.SystemPrompt == "" {
		return provider.UnitBlocks{}
	}
	text := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: in.SystemPrompt}}
	item := conversation.Item{Message: &conversation.Message{Role: conversation.RoleSystem, Index: -1}, Parts: []conversation.Part{text}}
	return f.Unit(&conversation.Unit{Items: []conversation.Item{item}}, provider.UnitContext{Leading: true})
}

// addTokens adds the sidecar's tools to a weight that the caller gave.
func (c *completion) addTokens(own []provider.Tool, counter tokens.Counter) {
	if c.fixed.Tokens == nil {
		return
	}
	n := *c.fixed.Tokens
	for _, t := range own {
		weight, _ := counter.Count(string(t.JSON))
		n += int32(weight)
	}
	c.fixed.Tokens = &n
}

// cacheKeyDomain keeps the name of a conversation's prompt cache apart from all else that is made of its incarnation.
const cacheKeyDomain = "prompt cache key"

// complete writes the request that the answer is to be sent as.
func (c *completion) complete(r *report.Result, a *provider.Assembly, w *view.Loaded) {
	if !c.On {
		return
	}
	out := &provider.Completion{Instructions: c.prompt, Tools: c.tools}
	if c.PromptCache {
		out.CacheKey, out.Marks = promptCacheKey(w), slices.Clone(r.Breakpoints)
	}
	r.RequestJSON = a.Request(out)
}

// promptCacheKey is the name of a conversation's prompt cache.
func promptCacheKey(w *view.Loaded) string {
	key := txn.KeyedHash(w.Head.Incarnation, sha256.Sum256([]byte(cacheKeyDomain)))
	return hex.EncodeToString(key[:16])
}

// Finish puts into the answer what stands beside the context: the system prompt, and the whole request, if they are asked for.
func (d *Attempt) Finish(r *report.Result, a *provider.Assembly) {
	a = r.AddSystemPrompt(d.Format, systemBlocks(d.Format, d.completion.fixed), d.Composed, a)
	d.completion.complete(r, a, d.Loaded)
}

// FinishRepeated does the same for a build that is answered again.
func FinishRepeated(in *Input, r *report.Result, out *view.Composition) error {
	s := &settings{policy: in.Request.PolicyOverride.Or(in.View.Info.Policy).Or(in.Defaults)}
	c, err := newCompletion(in, s)
	if err != nil {
		return err
	}
	a := provider.NewAssembly(in.Format.Traits()).With(out.Blocks)
	c.complete(r, r.AddSystemPrompt(in.Format, systemBlocks(in.Format, c.fixed), out, a), in.View)
	return nil
}
