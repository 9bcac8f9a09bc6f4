package plan

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// systemPromptOrigin says why the first message of a neutral answer is not on record.
const systemPromptOrigin = "system_prompt"

// AddSystemPrompt puts the system prompt of the fixed input before everything else in the answer, if it is asked for. Nothing else of the
// build knows of it: it is weighed as fixed input, and the manifest, which cannot bring it back, is of what the record gives.
func (r *Result) AddSystemPrompt(f provider.Format, in view.FixedInput, out *view.Composition) {
	if !in.RenderSystem || in.SystemPrompt == "" {
		return
	}
	text := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: in.SystemPrompt}}
	item := conversation.Item{Message: &conversation.Message{Role: conversation.RoleSystem, Index: -1}, Parts: []conversation.Part{text}}
	prompt := f.Unit(&conversation.Unit{Items: []conversation.Item{item}}, provider.UnitContext{Leading: true})
	if len(prompt.Blocks) == 0 { // white space alone, where the provider takes none
		return
	}
	assembly := provider.NewAssembly(f.Traits()).With(slices.Concat(prompt.Blocks, out.Blocks))
	r.SHA256, r.Blocks = assembly.Sum(), int32(len(assembly.Blocks()))
	if r.Prefix.PreviousBlocks > 0 { // whether it is the same is what FixedInputChanged says
		r.Prefix.StableBlocks++
		r.Prefix.PreviousBlocks++
	}
	for i := range r.Breakpoints {
		r.Breakpoints[i]++
	}
	if out.Lead == 0 { // else a breakpoint stands behind the system messages, and the prompt is the first of them
		r.Breakpoints = slices.Insert(r.Breakpoints, 0, 0)
	}
	if f.Format() == conversation.FormatNeutral {
		for i := range prompt.Messages {
			prompt.Messages[i].Synthetic, prompt.Messages[i].Tokens = systemPromptOrigin, 0
		}
		r.Messages = slices.Concat(prompt.Messages, r.Messages)
		return
	}
	r.System, r.MessagesJSON = assembly.System(), assembly.Messages()
}
