package replay

import (
	"path/filepath"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/policies"
)

// recordings is the file with the recordings of a folder.
func recordings(data, folder string) string {
	return filepath.Join(data, folder, "conversations.jsonl")
}

// every plays every Nth conversation.
func every(n int) func(*Command) { return func(c *Command) { c.Sample = n } }

// TestReplay_Compactions_LongSession holds the longest recording against the
// bars of `make replay-policies`: every view is small after a compaction, there
// is at most one for each window filled, and all of it can be had back. It meets
// every policy at the smallest window, where there is most to compact, and every
// window under some policy; `make replay-policies` plays all nine.
func TestReplay_Compactions_LongSession(t *testing.T) {
	data, _ := recordedData(t)
	address := sidecarProcess(t)
	long := []string{recordings(data, "pi_sessions")}
	whole := policyFile(t, "conversation: {pruning: {enabled: false}, compaction: {strategy: summarize}}")
	for window, under := range map[int32][]string{131072: {whole}, 65536: {"balanced"}, 32768: {whole, "summarize", "balanced"}} {
		for _, r := range replayed(t, address, long, window, "openai-chat", alone(under...), every(1)).All() {
			c := r.Compactions
			if c.Over != 0 || c.Early != 0 || c.Count == 0 || r.Policy == whole && c.Summaries == 0 || c.Summaries > 0 && r.Reached.Messages == 0 {
				t.Errorf("window %d, %s: %+v, %+v", window, r.Policy, c, r.Reached)
			}
		}
	}
}

// TestReplay_Money_SampleOfData holds balanced on a few coding runs and on the
// long session, at one size, against bars that are wider than those of `make
// replay-policies`, which plays all of them at five.
func TestReplay_Money_SampleOfData(t *testing.T) {
	data, _ := recordedData(t)
	files := []string{recordings(data, "mini_swe_agent"), recordings(data, "pi_sessions")}
	r := replayed(t, sidecarProcess(t), files, 128000, "openai-chat", alone("balanced", policies.None), every(9))
	for i, bar := range []struct{ cost, references, content float64 }{{0.90, 0.97, 0.90}, {0.68, 0.96, 0.80}} {
		with, none := r.Files[i], r.Against[0].Files[i]
		if cost := with.CostWith / none.CostWith; cost > bar.cost {
			t.Errorf("%s: cost %.3f of none, want %.2f", with.File, cost, bar.cost)
		}
		if references, content := with.ReferenceRecall/none.ReferenceRecall, with.ContentRecall/none.ContentRecall; references < bar.references || content < bar.content {
			t.Errorf("%s: references %.3f of none's, want %.2f; content %.3f of none's, want %.2f", with.File, references, bar.references, content, bar.content)
		}
	}
}
