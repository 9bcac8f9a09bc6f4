package catalogue

import (
	"context"
	"fmt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// PromptName is a prompt as a field of a request names it.
type PromptName struct{ Field, ID string }

// RequirePrompts refuses prompts that do not exist where they are named. One that is deleted later gives way to the default. Another process may
// have put one in just now, so that the store is asked before one is refused.
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
		if n.ID == "" || n.ID == defaultPrompt { // which is built in until there is one
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

// requireModels refuses models of a prompt whose providers are not configured here.
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
