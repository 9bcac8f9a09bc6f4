package replay

import (
	"fmt"
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/policies"
)

// after compacts results to 500 characters after so many turns.
func after(t *testing.T, turns int, mode string) func(*Command) {
	return under(t, fmt.Sprintf("conversation: {expiration: {results: {turns: %d, mode: compact}}, rewrite: {mode: %s}, "+
		"pruning: {enabled: false}, compaction: {strategy: sliding_window}}", turns, mode))
}

// TestReplay_Policy_RealSidecar plays a small recording through the real
// sidecar: what must happen to it is known to the message.
func TestReplay_Policy_RealSidecar(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	address := sidecarProcess(t)
	for name, c := range map[string]struct {
		policy string
		want   map[string]int
		put    int
	}{
		"compacted at once": {compactAtOnce, map[string]int{"COMPACTED": 1}, 0},
		"removed": {"conversation: {expiration: {results: {turns: 0, mode: remove}}, rewrite: {mode: eager}}",
			map[string]int{"EXPIRED": 1, "REMOVED": 2}, 0},
		"summarized": {"conversation: {expiration: {results: {turns: 0, mode: compact, compact_mode: ai_summary}}, rewrite: {mode: eager}}",
			map[string]int{"COMPACTED": 1}, 0},
		"of one tool":   {"tools: {read: {turns: 0, mode: compact}}\nconversation: {rewrite: {mode: eager}}", map[string]int{"COMPACTED": 1}, 0},
		"of no tool":    {"tools: {write: {turns: 0, mode: compact}}\nconversation: {rewrite: {mode: eager}}", map[string]int{}, 0},
		"put off":       {"conversation: {expiration: {results: {turns: 0, mode: compact}}}", map[string]int{}, 1},
		"not yet":       {"conversation: {expiration: {results: {turns: 1, mode: compact}}, rewrite: {mode: eager}}", map[string]int{"COMPACTED": 1}, 0},
		"never in this": {"conversation: {expiration: {results: {turns: 2, mode: compact}}, rewrite: {mode: eager}}", map[string]int{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			file := []string{fileOf(t, longer)}
			r := replayed(t, address, file, 128000, "openai-chat", under(t, c.policy), func(cmd *Command) { cmd.Sample, cmd.Alone = 1, false })
			if got := r.LetGo.Deferred["HELD_FOR_REWRITE"]; fmt.Sprint(r.LetGo.Events) != fmt.Sprint(c.want) || got != c.put {
				t.Errorf("events %v, put off %d; want %v, %d", r.LetGo.Events, got, c.want, c.put)
			}
			saved := r.Against[0].TokensWith - r.TokensWith
			if saved != r.LetGo.SavedByExpiry || (saved > 0) != (len(c.want) > 0) {
				t.Errorf("%d tokens fewer, %d saved by expiry", saved, r.LetGo.SavedByExpiry)
			}
		})
	}
}

// enough is how many of a file's conversations the sample must hold for its cost to say something: in two, one late turn decides.
const enough = 4

// TestReplay_Lifecycle_SampleOfData holds a tenth of all recorded conversations
// against the bars of `make replay-lifecycle`.
func TestReplay_Lifecycle_SampleOfData(t *testing.T) {
	data, files := recordedData(t)
	address := sidecarProcess(t)
	coding := recordings(data, "mini_swe_agent")
	// Every tenth is counted over all files, so that what stands before them in order is played too.
	none := replayed(t, address, files[:slices.Index(files, coding)+1], 128000, "openai-chat", alone(policies.None))
	for _, turns := range []int{2, 10} {
		eager := replayed(t, address, files, 128000, "openai-chat", after(t, turns, "eager"))
		coalesced := replayed(t, address, files, 128000, "openai-chat", after(t, turns, "coalesced"))
		if coalesced.CostWith > eager.CostWith {
			t.Errorf("%d turns: coalesced costs %.0f, eager %.0f", turns, coalesced.CostWith, eager.CostWith)
		}
		for i, c := range coalesced.Files {
			if e := eager.Files[i]; c.CostWith > e.CostWith && c.Conversations >= enough {
				t.Errorf("%s, %d turns: coalesced costs %.0f, eager %.0f", c.File, turns, c.CostWith, e.CostWith)
			}
			if turns != 2 || c.File != coding {
				continue
			}
			// The tenth holds shorter runs than most: over all of them the bar is 0.72.
			if n := none.Files[i]; n.Conversations != c.Conversations || float64(c.TokensWith) > 0.76*float64(n.TokensWith) || c.CostWith > 0.9*n.CostWith {
				t.Errorf("coding runs: %.3f of the tokens, %.3f of the cost", float64(c.TokensWith)/float64(n.TokensWith), c.CostWith/n.CostWith)
			}
		}
	}
	long := []string{recordings(data, "pi_sessions")}
	r := replayed(t, address, long, 128000, "openai-chat", after(t, 2, "coalesced"), func(c *Command) { c.Sample, c.Alone = 1, false })
	if r.CostWith > 0.7*r.Against[0].CostWith || float64(r.TokensWith) > 0.7*float64(r.Against[0].TokensWith) {
		t.Errorf("long sessions: %.3f of the tokens, %.3f of the cost", float64(r.TokensWith)/float64(r.Against[0].TokensWith), r.CostWith/r.Against[0].CostWith)
	}
}
