package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

type outcome int

// In order of weight: of two runs of one test the worse one counts.
const (
	skipped outcome = iota
	passed
	failed
)

var names = map[outcome]string{skipped: "skip", passed: "pass", failed: "fail"}

// outcomes holds one entry per test, named "package" + " " + "TestName".
// A package that failed outside its tests stands under its own name.
type outcomes map[string]outcome

func (o outcomes) record(name string, got outcome) {
	if before, ok := o[name]; !ok || got > before {
		o[name] = got
	}
}

type counts struct{ passed, failed, skipped int }

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// counts counts leaves: a test with subtests is counted by them, unless it
// failed while all of them passed.
func (o outcomes) counts() counts {
	hasChild, hasFailedChild := map[string]bool{}, map[string]bool{}
	for name, got := range o {
		for parent := up(name); parent != ""; parent = up(parent) {
			hasChild[parent] = true
			if got == failed {
				hasFailedChild[parent] = true
			}
		}
	}
	var c counts
	for name, got := range o {
		switch {
		case got == failed && !hasFailedChild[name]:
			c.failed++
		case hasChild[name]:
		case got == passed:
			c.passed++
		case got == skipped:
			c.skipped++
		}
	}
	return c
}

// up is the test that name is a subtest of, or "". Slashes before the space
// belong to the package.
func up(name string) string {
	space := strings.IndexByte(name, ' ')
	slash := strings.LastIndexByte(name, '/')
	if space < 0 || slash < space {
		return ""
	}
	return name[:slash]
}

func (o outcomes) appendTo(file string) error {
	lines := make([]string, 0, len(o))
	for name, got := range o {
		lines = append(lines, names[got]+"\t"+name+"\n")
	}
	sort.Strings(lines)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(strings.Join(lines, "")); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func load(file string) (outcomes, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := outcomes{}
	for line := range strings.Lines(string(data)) {
		word, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for got, spelled := range names {
			if word == spelled {
				all.record(name, got)
			}
		}
	}
	return all, nil
}
