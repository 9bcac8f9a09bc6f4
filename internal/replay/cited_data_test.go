package replay

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/policies"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// maxCiteCost is what contexts with citations may cost at most, as a share of
// the same without.
const maxCiteCost = 0.80

// TestReplay_Cite_SampleOfData holds citations on a few coding runs, with what
// their tools printed in full, and on the long session against the bars of
// `make replay-cite`; and beside everything else that makes views smaller,
// where all is small.
func TestReplay_Cite_SampleOfData(t *testing.T) {
	data, files := recordedData(t)
	address := sidecarProcess(t)
	cite := func(c *Command) { c.Cite, c.Raw = true, true }
	both := []string{recordings(data, "mini_swe_agent"), recordings(data, "pi_sessions")}
	r := replayed(t, address, both, 128000, "openai-chat", alone(policies.None), every(9), cite, func(c *Command) { c.Alone = false })
	for i, with := range r.Files {
		if none := r.Against[0].Files[i]; with.CostWith > maxCiteCost*none.CostWith {
			t.Errorf("%s: cost %.3f of none, want %.2f", with.File, with.CostWith/none.CostWith, maxCiteCost)
		}
	}
	c := r.Citations
	t.Logf("%d cited, mean %.0f tokens, at most %d; %.3f of the words found; retrieving p50 %.2f ms, p95 %.2f ms; recall %.3f",
		c.Count, c.Mean, c.Largest, report.Share(c.Found, c.Words), c.RetrieveMS.P50, c.RetrieveMS.P95, r.ReferenceRecall)
	if c.Count == 0 || report.Share(c.Found, c.Words) < 0.9 {
		t.Errorf("%+v", c)
	}
	for _, format := range []string{"openai-chat", "gemini"} {
		replayed(t, address, files, 8192, format, alone("balanced", "expiry"), every(40), cite)
	}
}
