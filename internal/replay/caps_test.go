package replay

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const capped = "conversation: {pruning: {enabled: false}, fit: {max_context_tokens: 1000}}"

func TestCommand_Run_Caps_ReportsMeanAndEach(t *testing.T) {
	file := policyFile(t, capped)
	r, err := played(t, &fake{}, recorded, func(c *Command) { c.Policy, c.Caps = []string{file, "prune-40k"}, []string{"90%", "100%", "2000"} })
	if err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	if len(r.Caps) != 3 || len(r.Against) != 2 || len(r.Against[0].Caps) != 0 {
		t.Fatalf("%d caps, %d against", len(r.Caps), len(r.Against))
	}
	for i, want := range []int32{900, 1000, 2000} {
		if got := r.Caps[i]; got.Cap != want || got.Budget != want || got.Policy != file {
			t.Errorf("cap %d, budget %d, want %d", got.Cap, got.Budget, want)
		}
	}
	if r.Budget != 1300 || r.Cap != 0 || r.TokensWith != r.Caps[0].TokensWith || r.Files[0].CostWith != r.Caps[0].CostWith || r.Builds != 3 {
		t.Errorf("mean is %+v", r)
	}
}

func TestMeanOf_Figures_AreMeansAndFaultsAreAddedUp(t *testing.T) {
	one := func(cost float64, builds, wrong, kept int, largest float64) *Report {
		r := newTally().Report
		r.CostWith, r.Builds, r.WrongRefusals, r.NewestKept, r.Compactions.Largest = cost, builds, wrong, kept, largest
		r.Refused["X"], r.Files = builds, []FileReport{{File: "f", CostWith: cost, NewestKept: kept}}
		return &r
	}
	m := meanOf([]*Report{one(10, 3, 1, 50, 0.2), one(20, 4, 0, 40, 0.5), one(60, 4, 0, 0, 0.1)})
	if m.CostWith != 30 || m.Builds != 4 || m.Refused["X"] != 4 || m.Files[0].CostWith != 30 {
		t.Errorf("means are %+v", m)
	}
	if m.WrongRefusals != 1 || m.NewestKept != 40 || m.Files[0].NewestKept != 40 || m.Compactions.Largest != 0.5 {
		t.Errorf("faults, the least and the largest are %+v", m)
	}
}

func TestCommand_Run_CapsThatSayNothing_AreRefused(t *testing.T) {
	file := policyFile(t, capped)
	for _, bad := range []string{"many", "0", "-5", "0%", "NaN%", "4097", "500%", "1.5", "9999999999"} {
		_, err := played(t, &fake{}, recorded, func(c *Command) { c.Policy, c.Caps = []string{file}, []string{bad} })
		if err == nil || errors.Is(err, ErrJudged) || !strings.Contains(err.Error(), "--caps") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := played(t, &fake{}, recorded, func(c *Command) { c.Policy, c.Caps = []string{file}, []string{"90%", "90%"} }); err == nil {
		t.Error("a cap twice")
	}
}

// A fault at one cap of several is one of the policy.
func TestCommand_Run_CapsWithFault_Fails(t *testing.T) {
	file := policyFile(t, capped)
	f := &fake{report: func(r *pb.BuildContextResponse) {
		if r.GetTokens().GetBudget() == 900 {
			r.Rendered.ContentSha256 = "00"
		}
	}}
	r, err := played(t, f, recorded, func(c *Command) { c.Policy, c.Alone, c.Caps = []string{file}, true, []string{"90%", "100%"} })
	if !errors.Is(err, ErrJudged) || r.Errors == 0 || r.Errors != r.Caps[0].Errors || len(r.Examples) == 0 {
		t.Errorf("%v, %d errors, %v", err, r.Errors, r.Examples)
	}
}

func TestReport_Print_CapsAndBounds_HaveRows(t *testing.T) {
	var out bytes.Buffer
	f := &fake{}
	c := &Command{
		Files: []string{fileOf(t, recorded)}, Format: "openai-chat", Window: 4096, Sample: 1, Join: 1, Parallel: 1, ASCII: true,
		Policy: []string{policyFile(t, capped)}, Caps: []string{"90%", "100%"}, Bound: true,
	}
	if err := c.Run(t.Context(), &Env{Start: f.start, Counter: o200k(), Stdout: &out, Stderr: &bytes.Buffer{}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{", mean of 2 caps", "at 900", "at 1000", "none caps no view", boundPaid, boundFree} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	// Nothing was left out by the fake, so its cost is that of none.
	if strings.Count(out.String(), "1.000") < 6 {
		t.Errorf("shares of none are missing in\n%s", out.String())
	}
}
