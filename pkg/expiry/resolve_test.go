package expiry_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
)

func ptr[T any](v T) *T { return &v }

func life(turns int32, mode conversation.ExpirationMode) conversation.Expiration {
	return conversation.Expiration{Turns: &turns, Mode: mode}
}

func compact(turns int32, how conversation.CompactMode, length int32) conversation.Expiration {
	e := life(turns, conversation.ExpirationCompact)
	e.CompactMode, e.CompactLength = how, &length
	return e
}

// say writes an expiration down.
func say(e *conversation.Expiration) string {
	if e == nil {
		return "nothing"
	}
	turns, length := "-", "-"
	if e.Turns != nil {
		turns = fmt.Sprint(*e.Turns)
	}
	if e.CompactLength != nil {
		length = fmt.Sprint(*e.CompactLength)
	}
	return fmt.Sprintf("turns %s mode %d compact %d/%s prompt %q from %d", turns, e.Mode, e.CompactMode, length, e.CompactPromptID, e.Source)
}

func policies(list ...conversation.ActionPolicy) expiry.Policies {
	out := expiry.Policies{}
	for _, p := range list {
		out[p.Key] = p
	}
	return out
}

var (
	agent = conversation.ActionKey{AgentActionID: "agent"}
	act   = conversation.ActionKey{ActionID: "act"}
	tool  = conversation.ActionKey{ToolName: "search"}
	both  = []conversation.ActionRef{{AgentActionID: "agent", ActionID: "act"}}

	remove  = conversation.ExpirationRemove
	shorten = conversation.ExpirationCompact
)

// TestOrigin_Resolve_WhereItComesFrom: explicit settings come first, then the agent's action, the action, and the tool. Overrides
// apply to single fields. The first level with both turns and a mode counts as a whole; a level with only one of them is completed by
// the next (behaviour §5).
func TestOrigin_Resolve_WhereItComesFrom(t *testing.T) {
	all := policies(
		conversation.ActionPolicy{Key: agent, Expiration: life(1, remove)}, conversation.ActionPolicy{Key: act, Expiration: life(2, remove)},
		conversation.ActionPolicy{Key: tool, Expiration: life(3, remove)},
	)
	override := func(e conversation.Expiration) *conversation.ExpirationOverride {
		return &conversation.ExpirationOverride{Expiration: e}
	}
	for _, tt := range []struct {
		name string
		o    expiry.Origin
		want string
	}{
		{"nothing said", expiry.Origin{}, "nothing"},
		{"explicit", expiry.Origin{Explicit: []conversation.Expiration{life(9, shorten)}, Actions: both, Tool: "search"}, `turns 9 mode 3 compact 1/500 prompt "" from 1`},
		{"explicit, in part: the rest is the agent's", expiry.Origin{Explicit: []conversation.Expiration{{Mode: remove}}, Actions: both, Tool: "search"},
			`turns 1 mode 2 compact 1/500 prompt "" from 1`},
		{"explicit turns: the rest is the tool's", expiry.Origin{Explicit: []conversation.Expiration{{Turns: ptr(int32(7))}}, Tool: "search"},
			`turns 7 mode 2 compact 1/500 prompt "" from 1`},
		{"the result's turns, its message's mode", expiry.Origin{Explicit: []conversation.Expiration{{Turns: ptr(int32(7))}, {Mode: shorten}}, Actions: both},
			`turns 7 mode 3 compact 1/500 prompt "" from 1`},
		{"explicit turns and nothing below: open", expiry.Origin{Explicit: []conversation.Expiration{{Turns: ptr(int32(7))}}},
			`turns 7 mode 0 compact 0/- prompt "" from 1`},
		{"explicit NONE", expiry.Origin{Explicit: []conversation.Expiration{{Mode: conversation.ExpirationNone}}, Actions: both}, `turns 1 mode 1 compact 1/500 prompt "" from 1`},
		{"the agent's action", expiry.Origin{Actions: both, Tool: "search"}, `turns 1 mode 2 compact 1/500 prompt "" from 2`},
		{"the action, without the agent's id", expiry.Origin{Actions: []conversation.ActionRef{{ActionID: "act"}}, Tool: "search"}, `turns 2 mode 2 compact 1/500 prompt "" from 3`},
		{"the action, for an agent's action without a policy", expiry.Origin{Actions: []conversation.ActionRef{{AgentActionID: "other", ActionID: "act"}}},
			`turns 2 mode 2 compact 1/500 prompt "" from 3`},
		{"the tool, for actions without a policy", expiry.Origin{Actions: []conversation.ActionRef{{AgentActionID: "x", ActionID: "y"}}, Tool: "search"},
			`turns 3 mode 2 compact 1/500 prompt "" from 4`},
		{"the tool", expiry.Origin{Tool: "search"}, `turns 3 mode 2 compact 1/500 prompt "" from 4`},
		{"another tool", expiry.Origin{Tool: "Search"}, "nothing"},
		{"ids of one kind are none of another", expiry.Origin{Actions: []conversation.ActionRef{{AgentActionID: "act", ActionID: "agent"}}, Tool: "act"}, "nothing"},
		{"an override of a field", expiry.Origin{Actions: both, Override: override(conversation.Expiration{Turns: ptr(int32(0))})}, `turns 0 mode 2 compact 1/500 prompt "" from 5`},
		{"an override of another", expiry.Origin{Explicit: []conversation.Expiration{life(9, remove)}, Override: override(conversation.Expiration{Mode: shorten, CompactLength: ptr(int32(7))})},
			`turns 9 mode 3 compact 1/7 prompt "" from 5`},
		{"an override that sets nothing", expiry.Origin{Actions: both, Override: override(conversation.Expiration{})}, `turns 1 mode 2 compact 1/500 prompt "" from 2`},
		{"an override over nothing", expiry.Origin{Override: override(life(4, remove))}, `turns 4 mode 2 compact 0/- prompt "" from 5`},
		{"an override of NONE", expiry.Origin{Actions: both, Override: override(conversation.Expiration{Mode: conversation.ExpirationNone})},
			`turns 1 mode 1 compact 1/500 prompt "" from 5`},
		{"disabled", expiry.Origin{Explicit: []conversation.Expiration{life(9, remove)}, Override: &conversation.ExpirationOverride{Disable: true}}, `turns - mode 1 compact 0/- prompt "" from 5`},
	} {
		if got := say(tt.o.Resolve(all)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestOrigin_Resolve_Prompts: the prompt comes from the override, then from the agent's action, then from the action's default;
// otherwise the server's default is used. No other settings of a policy come with it (behaviour §5).
func TestOrigin_Resolve_Prompts(t *testing.T) {
	sum := compact(2, conversation.CompactSummary, 300)
	named := sum
	named.CompactPromptID = "agent's own"
	actions := func(agentOwn conversation.Expiration, agentDefault, actionDefault string) expiry.Policies {
		return policies(
			conversation.ActionPolicy{Key: agent, Expiration: agentOwn, DefaultPromptID: agentDefault},
			conversation.ActionPolicy{Key: act, Expiration: compact(1, conversation.CompactFirstChars, 10), DefaultPromptID: actionDefault},
			conversation.ActionPolicy{Key: tool, Expiration: sum, DefaultPromptID: "tool's"},
		)
	}
	explicit := named
	explicit.CompactPromptID = "explicit"
	over := &conversation.ExpirationOverride{Expiration: conversation.Expiration{CompactPromptID: "override's"}}
	for _, tt := range []struct {
		name     string
		o        expiry.Origin
		policies expiry.Policies
		want     string
	}{
		{"override", expiry.Origin{Actions: both, Override: over}, actions(named, "agent's default", "action's default"), "override's"},
		{"override over explicit", expiry.Origin{Explicit: []conversation.Expiration{explicit}, Actions: both, Override: over}, actions(named, "", ""), "override's"},
		{"explicit", expiry.Origin{Explicit: []conversation.Expiration{explicit}, Actions: both}, actions(named, "", ""), "explicit"},
		{"agent's own", expiry.Origin{Actions: both}, actions(named, "agent's default", "action's default"), "agent's own"},
		{"agent's default", expiry.Origin{Actions: both}, actions(sum, "agent's default", "action's default"), "agent's default"},
		{"action's default", expiry.Origin{Actions: both}, actions(sum, "", "action's default"), "action's default"},
		{"nobody's", expiry.Origin{Actions: both}, actions(sum, "", ""), ""},
		{"of an explicit summary without one", expiry.Origin{Explicit: []conversation.Expiration{sum}, Actions: both}, actions(named, "", "action's default"), "agent's own"},
		{"of an explicit summary, of its tool", expiry.Origin{Explicit: []conversation.Expiration{sum}, Tool: "search"}, actions(named, "", ""), "tool's"},
		{"of a summary by override", expiry.Origin{Actions: []conversation.ActionRef{{ActionID: "act"}},
			Override: &conversation.ExpirationOverride{Expiration: conversation.Expiration{CompactMode: conversation.CompactSummary}}},
			actions(sum, "", "action's default"), "action's default"},
		{"of the tool", expiry.Origin{Tool: "search"}, actions(sum, "", ""), "tool's"},
	} {
		got := tt.o.Resolve(tt.policies)
		if got == nil || got.CompactPromptID != tt.want || got.CompactMode != conversation.CompactSummary {
			t.Errorf("%s: %s, want %q", tt.name, say(got), tt.want)
		}
	}
}

// TestMostAggressive_AnyOrder: of several actions behind one text, the one that leaves least counts, as a whole: fewest turns, REMOVE
// over COMPACT, first characters over a summary, the smallest length. Actions that never expire do not count (behaviour §5).
func TestMostAggressive_AnyOrder(t *testing.T) {
	first, sum := conversation.CompactFirstChars, conversation.CompactSummary
	// From the most to the least aggressive.
	order := []conversation.Expiration{
		life(0, remove), compact(0, first, 10), compact(0, first, 499), life(0, shorten), compact(0, first, 501), compact(0, sum, 1), compact(0, sum, 500), compact(0, sum, 501),
		life(1, remove), compact(1, first, 1), compact(1, sum, 1),
		life(1_000_000, remove), compact(1_000_000, sum, 1_000_000),
		life(0, conversation.ExpirationNone), {Mode: remove}, {}, life(0, conversation.ExpirationUnspecified),
	}
	expiring := order[:13]
	for i := range expiring {
		for j := i + 1; j < len(order); j++ {
			for _, list := range [][]conversation.Expiration{{order[i], order[j]}, {order[j], order[i]}, {order[j], order[i], order[j]}} {
				if got := expiry.MostAggressive(list, conversation.Expiration{}); say(&got) != say(&order[i]) {
					t.Errorf("of %s and %s: %s", say(&order[i]), say(&order[j]), say(&got))
				}
			}
		}
	}
	a, b := life(2, remove), life(2, remove)
	a.CompactPromptID, b.CompactPromptID = "a", "b"
	if got := expiry.MostAggressive([]conversation.Expiration{a, b}, conversation.Expiration{}); got.CompactPromptID != "a" {
		t.Errorf("of equals: %s", say(&got))
	}
	if got := expiry.MostAggressive(slices.Clone(order[13:]), conversation.Expiration{}); say(&got) != say(&order[14]) {
		t.Errorf("of those that never expire, the first that is not NONE: %s", say(&got))
	}
	half := conversation.Expiration{Turns: ptr(int32(1))}
	if got := expiry.MostAggressive([]conversation.Expiration{a, half}, life(9, shorten)); say(&got) != say(&half) {
		t.Errorf("what is left open counts as the conversation's policy has it: %s", say(&got))
	}
}

// TestOrigin_Resolve_SeveralActions: each action resolves for itself, the agent's first.
func TestOrigin_Resolve_SeveralActions(t *testing.T) {
	p := policies(
		conversation.ActionPolicy{Key: agent, Expiration: life(5, remove)}, conversation.ActionPolicy{Key: act, Expiration: life(0, remove)},
		conversation.ActionPolicy{Key: conversation.ActionKey{ActionID: "none"}, Expiration: conversation.Expiration{Mode: conversation.ExpirationNone}},
		conversation.ActionPolicy{Key: conversation.ActionKey{ActionID: "two"}, Expiration: compact(5, conversation.CompactFirstChars, 10)},
		conversation.ActionPolicy{Key: conversation.ActionKey{ActionID: "soon"}, Expiration: compact(4, conversation.CompactSummary, 10)},
	)
	refs := func(ids ...string) (out []conversation.ActionRef) {
		for _, id := range ids {
			out = append(out, conversation.ActionRef{ActionID: id})
		}
		return out
	}
	for _, tt := range []struct {
		name    string
		actions []conversation.ActionRef
		want    string
	}{
		{"the agent's policy hides the action's", both, `turns 5 mode 2 compact 1/500 prompt "" from 2`},
		{"the agent's of one, another's own", append(slices.Clone(both), refs("soon")...), `turns 4 mode 3 compact 2/10 prompt "" from 3`},
		{"REMOVE over COMPACT at the same turns", append(refs("two"), both...), `turns 5 mode 2 compact 1/500 prompt "" from 2`},
		{"NONE is ignored", refs("none", "two", "none"), `turns 5 mode 3 compact 1/10 prompt "" from 3`},
		{"NONE alone", refs("none"), `turns - mode 1 compact 0/- prompt "" from 3`},
		{"one without a policy is ignored", refs("unknown", "two"), `turns 5 mode 3 compact 1/10 prompt "" from 3`},
	} {
		o := expiry.Origin{Actions: tt.actions}
		if got := say(o.Resolve(p)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestOrigin_Resolve_TheServersTools: they fill single fields that the policy put for the tool does not set.
func TestOrigin_Resolve_TheServersTools(t *testing.T) {
	turns := func(n int32) *int32 { return &n }
	server := conversation.ActionPolicy{Expiration: conversation.Expiration{Turns: turns(2), Mode: conversation.ExpirationCompact, CompactPromptID: "logs"}}
	put := expiry.Policies{{ToolName: "read"}: {Expiration: conversation.Expiration{Turns: turns(7)}}}
	for name, c := range map[string]struct {
		policies expiry.Policies
		origin   expiry.Origin
		turns    int32
		source   conversation.ExpirationSource
	}{
		"alone":        {nil, expiry.Origin{Tool: "read", Server: server}, 2, conversation.SourceTool},
		"half is put":  {put, expiry.Origin{Tool: "read", Server: server}, 7, conversation.SourceTool},
		"said itself":  {put, expiry.Origin{Tool: "read", Server: server, Explicit: []conversation.Expiration{{Turns: turns(9)}}}, 9, conversation.SourceExplicit},
		"of an action": {expiry.Policies{{ActionID: "a"}: {Expiration: conversation.Expiration{Turns: turns(4)}}}, expiry.Origin{Tool: "read", Server: server, Actions: []conversation.ActionRef{{ActionID: "a"}}}, 4, conversation.SourceAction},
	} {
		e := c.origin.Resolve(c.policies)
		if e == nil || *e.Turns != c.turns || e.Source != c.source || e.Mode != conversation.ExpirationCompact || e.CompactPromptID != "logs" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := (&expiry.Origin{Tool: "other"}).Resolve(put); e != nil {
		t.Errorf("%+v", e)
	}
}
