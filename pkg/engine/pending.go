package engine

import (
	"context"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Expand brings back what left the view.
func (e *Engine) Expand(ctx context.Context, r ExpandRequest) (*ExpandResult, error) {
	return nil, pending()
}

// PutActionPolicy creates or replaces an action policy in a namespace.
func (e *Engine) PutActionPolicy(ctx context.Context, namespace string, p conversation.ActionPolicy, r Request) error {
	return pending()
}

// DeleteActionPolicy removes an action policy.
func (e *Engine) DeleteActionPolicy(ctx context.Context, namespace string, key conversation.ActionKey, r Request) error {
	return pending()
}

// ActionPolicy returns an action policy.
func (e *Engine) ActionPolicy(ctx context.Context, namespace string, key conversation.ActionKey) (*conversation.ActionPolicy, error) {
	return nil, pending()
}

// ActionPolicies lists the action policies of a namespace by key, after a key. next is empty on the last page.
func (e *Engine) ActionPolicies(ctx context.Context, namespace, after string, limit int) (list []conversation.ActionPolicy, next string, err error) {
	return nil, "", pending()
}

// PutPrompt creates or replaces a prompt in a namespace, and returns it with its version.
func (e *Engine) PutPrompt(ctx context.Context, namespace string, p conversation.Prompt, r Request) (*conversation.Prompt, error) {
	return nil, pending()
}

// DeletePrompt removes a prompt.
func (e *Engine) DeletePrompt(ctx context.Context, namespace, id string, r Request) error {
	return pending()
}

// Prompt returns a prompt.
func (e *Engine) Prompt(ctx context.Context, namespace, id string) (*conversation.Prompt, error) {
	return nil, pending()
}

// Prompts lists the prompts of a namespace by id, after an id. next is empty on the last page.
func (e *Engine) Prompts(ctx context.Context, namespace, after string, limit int) (list []conversation.Prompt, next string, err error) {
	return nil, "", pending()
}

func pending() error { return conversation.Errorf(conversation.Internal, "not written yet") }
