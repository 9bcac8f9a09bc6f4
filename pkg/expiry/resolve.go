package expiry

import (
	"cmp"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Policies are a namespace's action policies.
type Policies map[conversation.ActionKey]conversation.ActionPolicy

// Origin holds the possible sources of the expiration of a tool result or of a message's words.
type Origin struct {
	Explicit []conversation.Expiration // of the result, then of its message
	Actions  []conversation.ActionRef
	Tool     string // empty for words
	// Server is what the server says about the tool; its action policy takes precedence.
	Server   conversation.ActionPolicy
	Override *conversation.ExpirationOverride
	// Policy is the conversation's, if it applies here: it helps to choose among several actions. Its settings are not stored.
	Policy conversation.Expiration
}

// Resolve returns how long something lives: its own setting, else the policies of its actions, else that of its tool; the override takes
// precedence field by field. A partial setting (turns or a mode alone) is completed from the next source. What is still open is left to the
// conversation's policy, which [InForce] applies. It is nil if nothing is set.
func (o *Origin) Resolve(policies Policies) *conversation.Expiration {
	if o.Override != nil && o.Override.Disable {
		return &conversation.Expiration{Mode: conversation.ExpirationNone, Source: conversation.SourceOverride}
	}
	levels := slices.Clone(o.Explicit)
	for i := range levels {
		levels[i].Source = conversation.SourceExplicit
	}
	e := merged(append(levels, o.configured(policies))...)
	if e.Whole() {
		e = e.WithDefaults() // nothing is left for the conversation's policy
	}
	if o.Override != nil {
		set := o.Override.Expiration
		set.Source = conversation.SourceOverride
		e = set.Or(e)
	}
	if e.CompactPromptID == "" {
		e = e.Or(o.prompt(policies))
	}
	if e == (conversation.Expiration{Source: e.Source}) {
		return nil
	}
	return &e
}

// merged combines levels, the most specific first: once turns and mode are set, later levels have no effect.
func merged(levels ...conversation.Expiration) conversation.Expiration {
	var e conversation.Expiration
	for _, level := range levels {
		if !e.Whole() {
			e = e.Or(level)
		}
	}
	return e
}

// configured returns what action policies say.
func (o *Origin) configured(policies Policies) conversation.Expiration {
	tool := o.tool(policies).Expiration
	tool.Source = conversation.SourceTool
	var found []conversation.Expiration
	for _, a := range o.Actions {
		agent, action, ok := policies.of(a)
		if !ok {
			continue
		}
		agent.Expiration.Source, action.Expiration.Source = conversation.SourceAgentAction, conversation.SourceAction
		e := merged(agent.Expiration, action.Expiration, tool)
		if e.CompactPromptID == "" {
			e = e.Or(prompt(agent, action))
		}
		found = append(found, e)
	}
	if len(found) > 0 {
		return MostAggressive(found, o.Policy)
	}
	return tool
}

// of returns the policies of an action: as its agent uses it, and in general. False if there is none.
func (p Policies) of(a conversation.ActionRef) (agent, action conversation.ActionPolicy, ok bool) {
	var used, general bool
	if a.AgentActionID != "" {
		agent, used = p[conversation.ActionKey{AgentActionID: a.AgentActionID}]
	}
	if a.ActionID != "" {
		action, general = p[conversation.ActionKey{ActionID: a.ActionID}]
	}
	return agent, action, used || general
}

// tool returns the tool's policy, completed with what the server says about the tool.
func (o *Origin) tool(policies Policies) conversation.ActionPolicy {
	if o.Tool == "" {
		return conversation.ActionPolicy{}
	}
	p := policies[conversation.ActionKey{ToolName: o.Tool}]
	p.Expiration = merged(p.Expiration, o.Server.Expiration)
	p.Citations = cmp.Or(p.Citations, o.Server.Citations)
	p.Importance = cmp.Or(p.Importance, o.Server.Importance)
	return p
}

// prompt returns the prompt of an action, alone: as its agent uses it, else in general.
func prompt(agent, action conversation.ActionPolicy) conversation.Expiration {
	if id := cmp.Or(agent.Expiration.CompactPromptID, agent.DefaultPromptID); id != "" {
		return conversation.Expiration{CompactPromptID: id, Source: conversation.SourceAgentAction}
	}
	return conversation.Expiration{
		CompactPromptID: cmp.Or(action.Expiration.CompactPromptID, action.DefaultPromptID), Source: conversation.SourceAction,
	}
}

// prompt returns the first prompt that the actions name, or else the tool's policy.
func (o *Origin) prompt(policies Policies) conversation.Expiration {
	for _, a := range o.Actions {
		agent, action, _ := policies.of(a)
		if e := prompt(agent, action); e.CompactPromptID != "" {
			return e
		}
	}
	tool := o.tool(policies)
	return conversation.Expiration{
		CompactPromptID: cmp.Or(tool.Expiration.CompactPromptID, tool.DefaultPromptID, o.Server.Expiration.CompactPromptID), Source: conversation.SourceTool,
	}
}

// MostAggressive chooses among the configurations of several actions behind one text the one that leaves least, among those that expire at
// all: fewest turns, then REMOVE over COMPACT, then first characters over a summary, then the smallest length; the first of equals. What
// one leaves open is taken from the conversation's policy. The list is not empty.
func MostAggressive(list []conversation.Expiration, policy conversation.Expiration) conversation.Expiration {
	best, chosen := conversation.Expiration{}, -1
	for i := range list {
		e := InForce(&list[i], policy)
		switch {
		case chosen >= 0 && best.Expires() && (!e.Expires() || compareAggressive(&best, &e) <= 0):
		case chosen >= 0 && !e.Expires() && (best.Mode != conversation.ExpirationNone || e.Mode == conversation.ExpirationNone):
		default:
			best, chosen = e, i
		}
	}
	return list[chosen]
}

func compareAggressive(a, b *conversation.Expiration) int {
	return cmp.Or(cmp.Compare(*a.Turns, *b.Turns), cmp.Compare(leniency(*a), leniency(*b)), cmp.Compare(a.Length(), b.Length()))
}

// InForce completes what was stored at append from the conversation's policy.
func InForce(stored *conversation.Expiration, policy conversation.Expiration) conversation.Expiration {
	if stored == nil {
		return policy
	}
	return stored.Or(policy)
}

// leniency orders what can happen to a text by how much it leaves.
func leniency(e conversation.Expiration) int {
	switch {
	case e.Mode == conversation.ExpirationRemove:
		return 0
	case e.CompactMode != conversation.CompactSummary:
		return 1
	default:
		return 2
	}
}
