package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is one line of `go test -json` (see `go doc test2json`).
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// read turns the event stream into outcomes. It prints a line per package, why
// tests were skipped, and what failing ones printed; passing tests are silent.
func read(events io.Reader, stdout io.Writer) outcomes {
	r := reader{stdout: stdout, all: outcomes{}, output: map[string]*strings.Builder{}, tests: map[string]int{}}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err != nil {
			return r.all
		}
	}
}

type reader struct {
	stdout io.Writer
	all    outcomes
	output map[string]*strings.Builder // by test, until its outcome is known
	tests  map[string]int              // by package
}

func (r *reader) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		_, _ = r.stdout.Write(line) // what is not an event is worth seeing
		return
	}
	name := strings.TrimSuffix(e.Package+" "+e.Test, " ")
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.stdout, e.Output)
	case "output":
		if r.output[name] == nil {
			r.output[name] = &strings.Builder{}
		}
		r.output[name].WriteString(e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.endPackage(e)
		} else {
			r.endTest(e, name)
		}
		delete(r.output, name)
	}
}

func (r *reader) endTest(e event, name string) {
	r.tests[e.Package]++
	printed := ""
	if b := r.output[name]; b != nil {
		printed = b.String()
	}
	switch e.Action {
	case "pass":
		r.all.record(name, passed)
	case "fail":
		r.all.record(name, failed)
		fmt.Fprintf(r.stdout, "FAIL %s\n%s", name, printed)
	case "skip":
		r.all.record(name, skipped)
		fmt.Fprintf(r.stdout, "skip %s: %s\n", name, reason(printed))
	}
}

// endPackage counts a package that failed with no failing test to blame, such
// as one that does not build, as one failure.
func (r *reader) endPackage(e event) {
	if e.Action != "fail" {
		if r.tests[e.Package] > 0 {
			fmt.Fprintf(r.stdout, "ok   %s %d tests, %.1fs\n", e.Package, r.tests[e.Package], e.Elapsed)
		}
		return
	}
	for name, got := range r.all {
		if got == failed && strings.HasPrefix(name, e.Package+" ") {
			fmt.Fprintf(r.stdout, "FAIL %s %.1fs\n", e.Package, e.Elapsed)
			return
		}
	}
	r.all.record(e.Package, failed)
	printed := ""
	for name, b := range r.output {
		if name == e.Package || strings.HasPrefix(name, e.Package+" ") {
			printed += b.String()
		}
	}
	fmt.Fprintf(r.stdout, "FAIL %s outside its tests\n%s", e.Package, printed)
}

// reason is what a skipped test said last, without the framing of go test.
func reason(printed string) string {
	last := "no reason given"
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			last = line
		}
	}
	return last
}
