package replay

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/bound"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
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

func TestCommand_Run_CapsThatSayNothing_AreRefused(t *testing.T) {
	file := policyFile(t, capped)
	for _, bad := range []string{"many", "0", "-5", "0%", "NaN%", "4097", "500%", "1.5", "9999999999"} {
		_, err := played(t, &fake{}, recorded, func(c *Command) { c.Policy, c.Caps = []string{file}, []string{bad} })
		if err == nil || errors.Is(err, report.ErrJudged) || !strings.Contains(err.Error(), "--caps") {
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
	if !errors.Is(err, report.ErrJudged) || r.Errors == 0 || r.Errors != r.Caps[0].Errors || len(r.Examples) == 0 {
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
	for _, want := range []string{", mean of 2 caps", "at 900", "at 1000", "none caps no view", bound.Paid, bound.Free} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	// Nothing was left out by the fake, so its cost is that of none.
	if strings.Count(out.String(), "1.000") < 6 {
		t.Errorf("shares of none are missing in\n%s", out.String())
	}
}

// What it says of the whole history is what a replay measures.
func TestCommand_Run_Bound_CountsAsReplayDoes(t *testing.T) {
	tools := `{"tools":[{"name":"read"}],` + recorded[1:]
	for name, content := range map[string]string{"tools": tools, "two": recorded + "\n" + recorded} {
		r, err := played(t, &fake{}, content, func(c *Command) { c.Bound = true })
		if err != nil || len(r.Bounds) != 2 {
			t.Fatalf("%s: %v, %+v", name, err, r.Bounds)
		}
		for _, b := range r.Bounds {
			if math.Abs(b.CostWithout-r.CostWithout) > 1e-9 || b.TokensWithout != r.TokensWithout || b.Builds != r.Builds || b.Conversations != r.Conversations {
				t.Errorf("%s: %s: %+v, replay says %v, %d tokens", name, b.Name, b.FileReport, r.CostWithout, r.TokensWithout)
			}
			if b.CostWith > b.CostWithout || b.ReferenceRecall != 1 || b.Files[0].CostWith != b.CostWith {
				t.Errorf("%s: %+v", name, b)
			}
		}
	}
}
