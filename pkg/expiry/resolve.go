package expiry

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Policies are a namespace's action policies.
type Policies map[conversation.ActionKey]conversation.ActionPolicy

// Origin is where the expiration of a tool result, or of a message's words, can come from.
type Origin struct {
	Explicit *conversation.Expiration // nil if neither the result nor its message says
	Actions  []conversation.ActionRef
	Tool     string // empty for words
	Override *conversation.ExpirationOverride
}

// Resolve says how long something lives: what it says itself, else what the policies of its actions say, else that of its tool;
// and above that the override, field by field. It is nil if nothing says.
func (o *Origin) Resolve(policies Policies) *conversation.Expiration {
	if o.Override != nil && o.Override.Disable {
		return &conversation.Expiration{Mode: conversation.ExpirationNone, Source: conversation.SourceOverride}
	}
	e := o.configured(policies)
	if o.Explicit != nil {
		e = *o.Explicit
		e.Source = conversation.SourceExplicit
	}
	if o.Override != nil {
		set := o.Override.Expiration
		set.Source = conversation.SourceOverride
		e = set.Or(e)
	}
	if e == (conversation.Expiration{Source: e.Source}) {
		return nil
	}
	if e.CompactPromptID == "" && e.CompactMode == conversation.CompactSummary {
		e.CompactPromptID = o.prompt(policies)
	}
	return &e
}

// configured is what action policies say.
func (o *Origin) configured(policies Policies) conversation.Expiration {
	var found []conversation.Expiration
	for _, a := range o.Actions {
		if e, ok := policies.of(a); ok {
			found = append(found, e)
		}
	}
	if len(found) > 0 {
		return MostAggressive(found)
	}
	if p, ok := policies[conversation.ActionKey{ToolName: o.Tool}]; ok && o.Tool != "" {
		p.Expiration.Source = conversation.SourceTool
		return p.Expiration
	}
	return conversation.Expiration{}
}

// of is what is said of an action: as its agent uses it, else in general.
func (p Policies) of(a conversation.ActionRef) (conversation.Expiration, bool) {
	if policy, ok := p[conversation.ActionKey{AgentActionID: a.AgentActionID}]; ok && a.AgentActionID != "" {
		e := policy.Expiration
		e.Source = conversation.SourceAgentAction
		if e.CompactPromptID == "" {
			e.CompactPromptID = p.prompt(a)
		}
		return e, true
	}
	if policy, ok := p[conversation.ActionKey{ActionID: a.ActionID}]; ok && a.ActionID != "" {
		e := policy.Expiration
		e.Source = conversation.SourceAction
		if e.CompactPromptID == "" {
			e.CompactPromptID = policy.DefaultPromptID
		}
		return e, true
	}
	return conversation.Expiration{}, false
}

// prompt is the prompt of an action: as its agent uses it, else its default.
func (p Policies) prompt(a conversation.ActionRef) string {
	var agent, action conversation.ActionPolicy
	if a.AgentActionID != "" {
		agent = p[conversation.ActionKey{AgentActionID: a.AgentActionID}]
	}
	if a.ActionID != "" {
		action = p[conversation.ActionKey{ActionID: a.ActionID}]
	}
	return first(agent.Expiration.CompactPromptID, agent.DefaultPromptID, action.DefaultPromptID)
}

// prompt is the first prompt that the actions name, or else the tool's policy.
func (o *Origin) prompt(policies Policies) string {
	for _, a := range o.Actions {
		if id := policies.prompt(a); id != "" {
			return id
		}
	}
	if o.Tool == "" {
		return ""
	}
	tool := policies[conversation.ActionKey{ToolName: o.Tool}]
	return first(tool.Expiration.CompactPromptID, tool.DefaultPromptID)
}

func first(ids ...string) string {
	for _, id := range ids {
		if id != "" {
			return id
		}
	}
	return ""
}

// MostAggressive chooses among the configurations of several actions behind one text: the whole one that leaves least, of
// those that expire at all; fewest turns, then REMOVE over COMPACT, then the first characters over a summary, then the smallest
// length; of equals, the first. There is at least one.
func MostAggressive(list []conversation.Expiration) conversation.Expiration {
	var expiring []conversation.Expiration
	for i := range list {
		if list[i].Expires() {
			expiring = append(expiring, list[i])
		}
	}
	if len(expiring) == 0 {
		return list[0]
	}
	return slices.MinFunc(expiring, func(a, b conversation.Expiration) int {
		return cmp.Or(
			cmp.Compare(*a.Turns, *b.Turns), cmp.Compare(mildness(a), mildness(b)), cmp.Compare(a.Length(), b.Length()),
		)
	})
}

// mildness orders what can happen to a text by how much it leaves.
func mildness(e conversation.Expiration) int {
	switch {
	case e.Mode == conversation.ExpirationRemove:
		return 0
	case e.CompactMode != conversation.CompactSummary:
		return 1
	default:
		return 2
	}
}
