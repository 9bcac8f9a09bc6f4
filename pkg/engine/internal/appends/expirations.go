package appends

import (
	"context"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// resolve decides once, for each message and each of its results, how long it lives and how important it is (behaviour §5).
func (a *attempt) resolve(ctx context.Context, head *store.Head, info *store.Info) error {
	if a.resolved {
		return nil
	}
	c, err := a.service.Catalogues.Read(ctx, a.request.Key.Namespace)
	if err != nil {
		return err
	}
	if err := a.service.Catalogues.RequirePrompts(ctx, a.request.Key.Namespace, a.request.prompts()...); err != nil {
		return err
	}
	calls, err := placement.AnswersOf(head, a.request.Messages, a.request.field, a.found.isCut)
	if err != nil {
		return err
	}
	a.policies, a.policy = c.Policies, info.Policy.Or(a.service.Defaults).Expiration.Results
	a.given = givenOf(a.request.Messages)
	r := resolver{policies: a.policies, tools: a.service.Tools, policy: a.policy, calls: calls}
	for i := range a.request.Messages {
		var override *conversation.ExpirationOverride
		if a.request.Extras != nil {
			override = a.request.Extras[i].Override
		}
		r.resolve(&a.request.Messages[i], override)
	}
	a.resolved = true
	return nil
}

// givenSettings are the settings that the caller gave for a message and, by part, for its results.
type givenSettings struct {
	message settings
	results map[int]settings
}

type settings struct {
	expiration *conversation.Expiration
	importance conversation.Importance
}

func givenOf(messages []conversation.Message) []givenSettings {
	out := make([]givenSettings, len(messages))
	for i := range messages {
		out[i].message = settings{messages[i].Expiration, messages[i].Importance}
		for p := range messages[i].Parts {
			if r := messages[i].Parts[p].Result; r != nil {
				if out[i].results == nil {
					out[i].results = map[int]settings{}
				}
				out[i].results[p] = settings{r.Expiration, r.Importance}
			}
		}
	}
	return out
}

// resolver knows everything that configures lifetime and importance.
type resolver struct {
	policies expiry.Policies
	tools    map[string]conversation.ActionPolicy // the server's
	policy   conversation.Expiration              // the conversation's
	calls    placement.Answers
}

// resolve replaces the settings that the caller gave for a message and its results by those to be stored.
func (r *resolver) resolve(m *conversation.Message, override *conversation.ExpirationOverride) {
	var given []conversation.Expiration
	if m.Expiration != nil {
		given = append(given, *m.Expiration)
	}
	for i := range m.Parts {
		t := m.Parts[i].Result
		if t == nil {
			continue
		}
		tool := r.calls.Tool(t)
		o := expiry.Origin{Explicit: given, Actions: t.Actions, Tool: tool, Server: r.tools[tool], Override: override, Policy: r.policy}
		if t.Expiration != nil {
			o.Explicit = append([]conversation.Expiration{*t.Expiration}, given...)
		}
		if len(o.Actions) == 0 {
			o.Actions = m.Actions
		}
		t.Expiration, t.Importance = o.Resolve(r.policies), o.Importance(r.policies, t.Importance, m.Importance)
	}
	hasWords := len(expiry.TextParts(m)) > 0
	words := expiry.Origin{Explicit: given, Actions: m.Actions, Override: override}
	if hasWords && m.Role != conversation.RoleSystem {
		m.Importance = words.Importance(r.policies, m.Importance)
	}
	if given != nil || hasWords {
		if expiry.PolicyApplies(m, expiry.MessageText) {
			words.Policy = r.policy
		}
		m.Expiration = words.Resolve(r.policies)
	}
}

// prompts lists the prompts that an append names.
func (r *AppendRequest) prompts() []catalogue.PromptName {
	var out []catalogue.PromptName
	add := func(field string, e *conversation.Expiration) {
		if e != nil && e.CompactPromptID != "" {
			out = append(out, catalogue.PromptName{Field: field + ".compact_prompt_id", ID: e.CompactPromptID})
		}
	}
	for i := range r.Messages {
		m, field := &r.Messages[i], r.field(i)
		add(field+".expiration", m.Expiration)
		for p := range m.Parts {
			if t := m.Parts[p].Result; t != nil {
				add(field+".parts["+strconv.Itoa(p)+"].tool_result.expiration", t.Expiration)
			}
		}
		if r.Extras != nil && r.Extras[i].Override != nil {
			add(strings.TrimSuffix(field, "message")+"expiration_override", &r.Extras[i].Override.Expiration)
		}
	}
	return out
}
