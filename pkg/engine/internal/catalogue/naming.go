package catalogue

import (
	"context"
	"fmt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// PromptName is the id of a prompt, with the request field that names it.
type PromptName struct{ Field, ID string }

// RequirePrompts refuses ids of prompts that do not exist. If a prompt is deleted later, the default takes its place. Another process may
// have put a prompt just now, so the store is asked before an id is refused.
func (c *Reader) RequirePrompts(ctx context.Context, namespace string, named ...PromptName) error {
	missing, err := c.missingPrompts(ctx, namespace, named)
	if err != nil || len(missing) == 0 {
		return err
	}
	c.replace(namespace, nil)
	if missing, err = c.missingPrompts(ctx, namespace, missing); err != nil || len(missing) == 0 {
		return err
	}
	refusal := conversation.Errorf(conversation.InvalidField, "a prompt that is named does not exist")
	for _, n := range missing {
		refusal = refusal.At(n.Field, "names no prompt")
	}
	return refusal
}

func (c *Reader) missingPrompts(ctx context.Context, namespace string, named []PromptName) ([]PromptName, error) {
	var out []PromptName
	for _, n := range named {
		if n.ID == "" || n.ID == defaultPrompt { // the built-in prompt stands in until one is put
			continue
		}
		in, err := c.Read(ctx, namespace)
		if err != nil {
			return nil, err
		}
		if _, ok := in.prompts[n.ID]; !ok {
			out = append(out, n)
		}
	}
	return out, nil
}

// requireModels refuses a prompt whose models' providers are not configured in this server.
func (a *Admin) requireModels(p *conversation.Prompt) error {
	refusal := conversation.Errorf(conversation.InvalidField, "a model of the prompt has no provider here")
	for i, model := range p.Models {
		if !a.summaries.CanAsk(&conversation.Prompt{Models: []string{model}}) {
			refusal = refusal.At(fmt.Sprintf("prompt.models[%d]", i), "names a provider that is not configured")
		}
	}
	if len(refusal.Violations) == 0 {
		return nil
	}
	return refusal
}
