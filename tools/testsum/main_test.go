package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

const stream = `{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"pass","Package":"m/p","Test":"TestA/one"}
{"Action":"output","Package":"m/p","Test":"TestA/two","Output":"    a_test.go:3: boom\n"}
{"Action":"fail","Package":"m/p","Test":"TestA/two"}
{"Action":"fail","Package":"m/p","Test":"TestA"}
{"Action":"output","Package":"m/p","Test":"TestB","Output":"    a_test.go:9: no data here\n"}
{"Action":"skip","Package":"m/p","Test":"TestB"}
{"Action":"fail","Package":"m/p","Elapsed":0.1}
{"Action":"build-output","ImportPath":"m/q","Output":"q.go:1: syntax error\n"}
{"Action":"fail","Package":"m/q"}
{"Action":"pass","Package":"m/r","Test":"TestC"}
{"Action":"pass","Package":"m/r","Elapsed":0.2}
`

func TestRead_MixedStream_CountsLeavesAndBrokenPackages(t *testing.T) {
	var out bytes.Buffer
	got := read(strings.NewReader(stream), &out).counts()
	// Failed: TestA/two and the package that does not build. TestA itself is
	// counted by its subtests.
	if want := (counts{passed: 2, failed: 2, skipped: 1}); got != want {
		t.Errorf("counts = %v, want %v\n%s", got, want, out.String())
	}
	for _, want := range []string{"boom", "no data here", "syntax error", "ok   m/r 1 tests"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
}

func TestOutcomes_ParentFailsAlone_Counts(t *testing.T) {
	all := outcomes{"m/p TestA": failed, "m/p TestA/one": passed}
	if got, want := all.counts(), (counts{passed: 1, failed: 1}); got != want {
		t.Errorf("counts = %v, want %v", got, want)
	}
}

func TestTotal_SameTestTwice_WorstCountsOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "outcomes")
	for _, o := range []outcomes{{"m TestA": passed, "m TestB": skipped}, {"m TestA": failed, "m TestB": passed}} {
		if err := o.appendTo(file); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := printTotal(file, &out); err == nil {
		t.Error("a failed test must fail the total")
	}
	if got, want := out.String(), "1 passed, 1 failed, 0 skipped\n"; got != want {
		t.Errorf("total = %q, want %q", got, want)
	}
}

func TestTotal_NothingRan_Fails(t *testing.T) {
	var out bytes.Buffer
	if err := finish(outcomes{}, "", &out); err == nil || out.String() != "0 passed, 0 failed, 0 skipped\n" {
		t.Errorf("error %v, output %q", err, out.String())
	}
}

func TestScript_ExitCode_BecomesOutcome(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"script", "ok", "--", "true"}, &out, &out); err != nil {
		t.Errorf("true: %v", err)
	}
	if err := run(t.Context(), []string{"script", "bad", "--", "false"}, &out, &out); err == nil {
		t.Error("a failing script must fail")
	}
	if want := "1 passed, 0 failed, 0 skipped\n"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("output = %q", out.String())
	}
}

func TestRun_Nothing_SaysUsage(t *testing.T) {
	var out bytes.Buffer
	for _, args := range [][]string{nil, {"script"}, {"script", "x", "--"}, {"total"}, {"what"}} {
		if err := run(t.Context(), args, &out, &out); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
