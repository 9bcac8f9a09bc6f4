package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// What comes of a mutation.
const (
	caught   = "caught"
	survived = "survived"
	lost     = "lost"    // the code that it was in is no more
	unbuilt  = "unbuilt" // it no longer compiles
	slowest  = 3         // how much longer than without a mutation tests may take before they count as hanging
	memory   = "4194304" // KiB: what a mutation that never stops allocating may take, mapped files aside
)

type runner struct {
	code   *code
	stdout io.Writer
	steps  []step // tested one by one until a test fails
	folder string // of mutated files
}

// step is packages that are tested together.
type step struct {
	packages []string
	short    bool          // properties draw less, and tests that take long are left out
	limit    time.Duration // 0 is none
}

func (s *step) String() string {
	if s.short {
		return fmt.Sprint("-short ", s.packages)
	}
	return fmt.Sprint(s.packages)
}

func (r *runner) run(ctx context.Context, recorded []mutation, wanted map[int]bool) error {
	var err error
	if r.folder, err = os.MkdirTemp("", "mutants"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(r.folder) }()
	if err := r.healthy(ctx); err != nil {
		return err
	}
	counts := map[string]int{}
	for i, found := range locate(recorded, r.code.sites) {
		m := &recorded[i]
		if !wanted[m.Number] {
			continue
		}
		start := time.Now()
		outcome, why := lost, ""
		if found.site != nil {
			if outcome, why, err = r.judge(ctx, found.site); err != nil {
				return err
			}
		}
		counts[outcome]++
		fmt.Fprintf(r.stdout, "%3d %-8s %s%s (%.0f s)\n", m.Number, outcome, describe(m, found), why, time.Since(start).Seconds())
	}
	fmt.Fprintf(r.stdout, "%d caught, %d survived, %d lost, %d do not compile\n", counts[caught], counts[survived], counts[lost], counts[unbuilt])
	return nil
}

// describe is a mutation in one line.
func describe(m *mutation, found match) string {
	old := strings.Join(strings.Fields(m.Old), " ")
	if runes := []rune(old); len(runes) > 60 {
		old = string(runes[:60]) + "..."
	}
	text := fmt.Sprintf("%s in %s: %s", m.Kind, m.Function, old)
	if m.New != "" && m.Kind != "condition" {
		text += " -> " + m.New
	}
	if found.site != nil && (found.likeness < 1 || found.site.Function != m.Function) {
		text += fmt.Sprintf(" [now in %s, %.0f %% alike]", found.site.Function, 100*found.likeness)
	}
	return text
}

// healthy runs the tests without a mutation: they must pass, and how long they take is the measure for the others.
func (r *runner) healthy(ctx context.Context) error {
	for i := range r.steps {
		s := &r.steps[i]
		start := time.Now()
		if out, passed := r.test(ctx, s, "-count=1"); !passed {
			return fmt.Errorf("without a mutation the tests of %v fail:\n%s", s, out)
		}
		took := time.Since(start)
		fmt.Fprintf(r.stdout, "    without a mutation %v took %.0f s\n", s, took.Seconds())
		s.limit = slowest*took + time.Minute
	}
	return nil
}

// judge puts a mutation in the place of its file, and tests: its own package first, which is compiled soonest. What passes there is not
// run again by the next step, as go test keeps results.
func (r *runner) judge(ctx context.Context, s *site) (outcome, why string, err error) {
	overlay, err := r.overlay(s)
	if err != nil {
		return "", "", err
	}
	own, err := filepath.Abs(filepath.Dir(s.file))
	if err != nil {
		return "", "", err
	}
	first := step{packages: []string{own}, short: r.steps[0].short, limit: r.steps[0].limit}
	for _, s := range append([]step{first}, r.steps...) {
		out, passed := r.test(ctx, &s, "-overlay="+overlay)
		if ctx.Err() != nil {
			return "", "", ctx.Err()
		}
		if !passed {
			outcome, why = verdict(out)
			return outcome, why, nil
		}
	}
	return survived, "", nil
}

// overlay writes a file with a mutation in it, and what tells the go command to take it.
func (r *runner) overlay(s *site) (string, error) {
	path, err := filepath.Abs(s.file)
	if err != nil {
		return "", err
	}
	mutated, overlay := filepath.Join(r.folder, filepath.Base(s.file)), filepath.Join(r.folder, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(
		os.WriteFile(mutated, s.apply(r.code.sources[s.file]), 0o600),
		os.WriteFile(overlay, list, 0o600),
	)
}

func (r *runner) test(ctx context.Context, s *step, flag string) (out string, passed bool) {
	// A mutation may allocate for ever; the shell's limit holds for all that it starts.
	args := []string{"-c", "ulimit -d " + memory + "; exec go \"$@\"", "go", "test", "-vet=off", "-failfast", "-timeout", s.limit.String(), flag}
	if s.short {
		args = append(args, "-short")
	}
	cmd := exec.CommandContext(ctx, "sh", append(args, s.packages...)...)
	cmd.Env = environment(os.Environ())
	printed, err := cmd.CombinedOutput()
	return string(printed), err == nil
}

// environment is without what would draw otherwise, or add tests where there are recordings: a mutation meets the same tests everywhere.
func environment(all []string) (kept []string) {
	for _, variable := range all {
		if !strings.HasPrefix(variable, "RAPID_") && !strings.HasPrefix(variable, "PALIMPSEST_") {
			kept = append(kept, variable)
		}
	}
	return kept
}

var failing = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// verdict reads what failed.
func verdict(out string) (outcome, why string) {
	switch {
	case strings.Contains(out, "[build failed]"):
		return unbuilt, ""
	case strings.Contains(out, "panic: test timed out"):
		return caught, " by time"
	}
	if test := failing.FindStringSubmatch(out); test != nil {
		return caught, " by " + test[1]
	}
	return caught, " by a crash"
}
