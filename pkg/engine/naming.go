package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// promptName is a prompt as a field of a request names it.
type promptName struct{ field, id string }

// knowPrompts refuses prompts that do not exist where they are named. One that is deleted later gives way to the default. Another process may
// have put one in just now, so that the store is asked before one is refused.
func (e *Engine) knowPrompts(ctx context.Context, namespace string, named ...promptName) error {
	missing, err := e.missing(ctx, namespace, named)
	if err != nil || len(missing) == 0 {
		return err
	}
	e.catalogues.put(namespace, nil)
	if missing, err = e.missing(ctx, namespace, missing); err != nil || len(missing) == 0 {
		return err
	}
	refusal := conversation.Errorf(conversation.InvalidField, "a prompt that is named does not exist")
	for _, n := range missing {
		refusal.Violations = append(refusal.Violations, conversation.Violation{Field: n.field, Text: "names no prompt"})
	}
	return refusal
}

func (e *Engine) missing(ctx context.Context, namespace string, named []promptName) ([]promptName, error) {
	var out []promptName
	for _, n := range named {
		if n.id == "" || n.id == defaultPrompt { // which is built in until there is one
			continue
		}
		c, err := e.catalogue(ctx, namespace)
		if err != nil {
			return nil, err
		}
		if _, ok := c.prompts[n.id]; !ok {
			out = append(out, n)
		}
	}
	return out, nil
}

// promptsOf are the prompts that an append names.
func (a *appending) promptsOf() []promptName {
	var out []promptName
	add := func(field string, e *conversation.Expiration) {
		if e != nil && e.CompactPromptID != "" {
			out = append(out, promptName{field + ".compact_prompt_id", e.CompactPromptID})
		}
	}
	for i := range a.request.Messages {
		m, field := &a.request.Messages[i], a.field(i)
		add(field+".expiration", m.Expiration)
		for p := range m.Parts {
			if r := m.Parts[p].Result; r != nil {
				add(field+".parts["+strconv.Itoa(p)+"].tool_result.expiration", r.Expiration)
			}
		}
		if a.request.Extras != nil && a.request.Extras[i].Override != nil {
			add(strings.TrimSuffix(field, "message")+"expiration_override", &a.request.Extras[i].Override.Expiration)
		}
	}
	return out
}

// promptsOfPolicy are the prompts that a conversation's policy names, and the one before it, if there is one, did not: what has been
// deleted since it was named does not stand in the way of other changes.
func promptsOfPolicy(before, p *conversation.Policy) []promptName {
	named := func(p *conversation.Policy) []promptName {
		return []promptName{
			{"conversation.policy.expiration.results.compact_prompt_id", p.Expiration.Results.CompactPromptID},
			{"conversation.policy.compaction.prompt_id", or(p.Compaction.PromptID, "")},
		}
	}
	if before == nil {
		return named(p)
	}
	old := named(before)
	return slices.DeleteFunc(named(p), func(n promptName) bool { return slices.Contains(old, n) })
}

// knowModels refuses models of a prompt whose providers are not configured here.
func (e *Engine) knowModels(p *conversation.Prompt) error {
	refusal := conversation.Errorf(conversation.InvalidField, "a model of the prompt has no provider here")
	for i, model := range p.Models {
		if !e.summaries.CanAsk(&conversation.Prompt{Models: []string{model}}) {
			refusal.Violations = append(refusal.Violations, conversation.Violation{
				Field: fmt.Sprintf("prompt.models[%d]", i), Text: "names a provider that is not configured",
			})
		}
	}
	if len(refusal.Violations) == 0 {
		return nil
	}
	return refusal
}
