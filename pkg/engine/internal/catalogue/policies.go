package catalogue

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// policyName is the name of an action policy's entry. It sorts entries by kind of key and then by key.
func policyName(k conversation.ActionKey) string {
	switch {
	case k.AgentActionID != "":
		return "agent_action/" + k.AgentActionID
	case k.ActionID != "":
		return "action/" + k.ActionID
	default:
		return "tool/" + k.ToolName
	}
}

// PutActionPolicy creates or replaces an action policy in a namespace.
func (a *Admin) PutActionPolicy(ctx context.Context, namespace string, p conversation.ActionPolicy, r txn.Request) error {
	value := func([]byte) ([]byte, error) { // a retry is answered before value is called
		err := a.catalogues.RequirePrompts(ctx, namespace, PromptName{"policy.expiration.compact_prompt_id", p.Expiration.CompactPromptID},
			PromptName{"policy.default_compact_prompt_id", p.DefaultPromptID})
		if err != nil {
			return nil, err
		}
		return record.EncodeActionPolicy(&p), nil
	}
	return a.change(ctx, namespace, entryChange{prefix: policySlot, name: policyName(p.Key), value: value}, r)
}

// DeleteActionPolicy removes an action policy.
func (a *Admin) DeleteActionPolicy(ctx context.Context, namespace string, key conversation.ActionKey, r txn.Request) error {
	ch := entryChange{prefix: policySlot, name: policyName(key), value: remove, absent: noPolicy()}
	return a.change(ctx, namespace, ch, r)
}

func noPolicy() *conversation.Error {
	return conversation.Errorf(conversation.ActionPolicyNotFound, "no such action policy")
}

// ActionPolicy returns an action policy.
func (a *Admin) ActionPolicy(ctx context.Context, namespace string, key conversation.ActionKey) (*conversation.ActionPolicy, error) {
	c, err := a.catalogues.Read(ctx, namespace)
	if err != nil {
		return nil, err
	}
	return find(c.Policies, key, noPolicy())
}

// ActionPolicies lists the action policies of a namespace: those of agents' actions, then those of actions, then those of
// tools, each sorted by key. after is next of the previous page; next is empty on the last page.
func (a *Admin) ActionPolicies(ctx context.Context, namespace, after string, limit int) (list []conversation.ActionPolicy, next string, err error) {
	c, err := a.catalogues.Read(ctx, namespace)
	if err != nil {
		return nil, "", err
	}
	named := make(map[string]conversation.ActionPolicy, len(c.Policies))
	for key, p := range c.Policies {
		named[policyName(key)] = p
	}
	list, next = page(named, after, limit)
	return list, next, nil
}

// PutPrompt creates or replaces a prompt in a namespace, and returns it with its version.
func (a *Admin) PutPrompt(ctx context.Context, namespace string, p conversation.Prompt, r txn.Request) (*conversation.Prompt, error) {
	ch := entryChange{prefix: promptSlot, name: p.ID, version: &p.Version, value: func(old []byte) ([]byte, error) {
		if err := a.requireModels(&p); err != nil {
			return nil, err
		}
		p.Version = 1
		if old != nil {
			before, err := record.DecodePrompt(old)
			if err != nil {
				return nil, err
			}
			p.Version = before.Version + 1
		}
		return record.EncodePrompt(&p), nil
	}}
	if err := a.change(ctx, namespace, ch, r); err != nil {
		return nil, err
	}
	return &p, nil
}

// DeletePrompt removes a prompt.
func (a *Admin) DeletePrompt(ctx context.Context, namespace, id string, r txn.Request) error {
	return a.change(ctx, namespace, entryChange{prefix: promptSlot, name: id, value: remove, absent: noPrompt()}, r)
}

func noPrompt() *conversation.Error {
	return conversation.Errorf(conversation.PromptNotFound, "no such prompt")
}

// Prompt returns a prompt.
func (a *Admin) Prompt(ctx context.Context, namespace, id string) (*conversation.Prompt, error) {
	c, err := a.catalogues.Read(ctx, namespace)
	if err != nil {
		return nil, err
	}
	return find(c.prompts, id, noPrompt())
}

// Prompts lists the prompts of a namespace whose ids come after an id, in order. next is empty on the last page.
func (a *Admin) Prompts(ctx context.Context, namespace, after string, limit int) (list []conversation.Prompt, next string, err error) {
	c, err := a.catalogues.Read(ctx, namespace)
	if err != nil {
		return nil, "", err
	}
	list, next = page(c.prompts, after, limit)
	return list, next, nil
}

// CheckTemplate returns what is wrong with a prompt's template; empty if nothing is.
func CheckTemplate(template string) string {
	if err := summarize.CheckTemplate(template); err != nil {
		return err.Error()
	}
	return ""
}

// defaultPrompt is the id of the prompt that is used where no prompt is named. If no such prompt was put, the built-in one
// is used.
const defaultPrompt = "default"

// Prompt finds a prompt by its id. It returns false if the prompt was deleted, so that the default stands in for it.
func (c *Entries) Prompt(id string) (conversation.Prompt, bool) {
	if id != "" {
		if p, ok := c.prompts[id]; ok {
			return p, true
		}
	}
	return c.prompts[defaultPrompt], id == ""
}
