package expiry_test

import (
	"fmt"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
)

const low, normal, high = conversation.ImportanceLow, conversation.ImportanceNormal, conversation.ImportanceHigh

// TestOrigin_Importance_WhereItComesFrom: it is that of the result, the message, the agent's action, the action, or the tool, in this
// order. Of several actions the highest counts.
func TestOrigin_Importance_WhereItComesFrom(t *testing.T) {
	const unset = conversation.ImportanceUnspecified
	is := func(key conversation.ActionKey, i conversation.Importance) conversation.ActionPolicy {
		return conversation.ActionPolicy{Key: key, Importance: i}
	}
	other := conversation.ActionKey{ActionID: "other"}
	several := []conversation.ActionRef{{ActionID: "act"}, {ActionID: "other"}, {ActionID: "unknown"}}
	for _, tt := range []struct {
		name   string
		origin expiry.Origin
		known  expiry.Policies
		given  []conversation.Importance
		want   conversation.Importance
	}{
		{"nothing", expiry.Origin{}, nil, nil, unset},
		{"the result's before all", expiry.Origin{Actions: both, Tool: "search"}, policies(is(agent, high), is(tool, high)), []conversation.Importance{low, normal}, low},
		{"the message's before policies", expiry.Origin{Actions: both}, policies(is(agent, high)), []conversation.Importance{unset, normal}, normal},
		{"the agent's action before the action", expiry.Origin{Actions: both}, policies(is(agent, low), is(act, high)), nil, low},
		{"the action where the agent's says nothing", expiry.Origin{Actions: both}, policies(is(agent, unset), is(act, high)), nil, high},
		{"actions before the tool", expiry.Origin{Actions: both, Tool: "search"}, policies(is(act, low), is(tool, high)), nil, low},
		{"the tool where actions say nothing", expiry.Origin{Actions: both, Tool: "search"}, policies(is(act, unset), is(tool, high)), nil, high},
		{"of several actions the highest", expiry.Origin{Actions: several}, policies(is(act, low), is(other, high)), nil, high},
		{"one that says nothing is none of them", expiry.Origin{Actions: several}, policies(is(act, low)), nil, low},
		{"the server's of the tool", expiry.Origin{Tool: "search", Server: is(tool, low)}, nil, nil, low},
		{"the tool's policy before the server's", expiry.Origin{Tool: "search", Server: is(tool, low)}, policies(is(tool, high)), nil, high},
	} {
		if got := tt.origin.Importance(tt.known, tt.given...); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestPlan_Importance_MovesThePolicysTurns: low importance halves the policy's turns, high importance means never, and no other turns
// change. What is shown as in force says the same.
func TestPlan_Importance_MovesThePolicysTurns(t *testing.T) {
	own, half := life(4, shorten), conversation.Expiration{Mode: remove}
	five, one := life(5, shorten), life(1, shorten)
	for _, tt := range []struct {
		name       string
		importance conversation.Importance
		stored     *conversation.Expiration
		policy     conversation.Expiration
		override   *conversation.ExpirationOverride
		want       int32 // turns; -1 for never
	}{
		{"nobody sets it", conversation.ImportanceUnspecified, nil, five, nil, 5},
		{"normal", normal, nil, five, nil, 5},
		{"low has half, rounded down", low, nil, five, nil, 2},
		{"low has at least none", low, nil, one, nil, 0},
		{"high never expires", high, nil, five, nil, -1},
		{"but by its own turns", high, &own, five, nil, 4},
		{"low: its own turns are as they were set", low, &own, five, nil, 4},
		{"half a setting takes the policy's turns", low, &half, five, nil, 2},
		{"which high does not", high, &half, five, nil, -1},
		{"an override stands above", high, nil, five, &conversation.ExpirationOverride{Expiration: life(3, shorten)}, 3},
		{"and is not halved", low, nil, five, &conversation.ExpirationOverride{Expiration: life(3, shorten)}, 3},
	} {
		m := message(tool1, nil, found(tt.stored))
		m.Parts[0].Result.Importance = tt.importance
		calls := message(assistant, nil, called())
		due := func(turn int32) bool {
			return plan(turn, unit(0, 0, calls, m), func(in *expiry.Input) { in.Policy, in.Override = tt.policy, tt.override }) != ""
		}
		if got := due(1000); got != (tt.want >= 0) || got && (due(tt.want) || !due(tt.want+1)) {
			t.Errorf("%s: not due as of %d turns", tt.name, tt.want)
		}
		if tt.override != nil {
			continue
		}
		expiry.ShowInForce(&m, tt.policy)
		shown, want := say(m.Parts[0].Result.Expiration), fmt.Sprintf("turns %d ", tt.want)
		if tt.want < 0 {
			want = "turns - "
		}
		if shown[:len(want)] != want {
			t.Errorf("%s: shown as %s", tt.name, shown)
		}
	}
	// An action's result that is written as text has the policy's turns too, by the importance of its message.
	words := message(user, nil, said("x"))
	words.Type, words.Importance = conversation.TypeActionResult, low
	if got := plan(3, unit(0, 0, words), func(in *expiry.Input) { in.Policy = five }); got != "compact 0 words since 3" {
		t.Error(got)
	}
}
