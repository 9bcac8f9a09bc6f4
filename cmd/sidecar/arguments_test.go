package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/palimpsest-context/palimpsest/internal/policies"
)

// commandWords are what names a command, and a word for each argument that it must have.
func commandWords(t *testing.T, command *kong.Node, argument string) (path, arguments []string) {
	t.Helper()
	for n := command; n != nil && n.Type == kong.CommandNode; n = n.Parent {
		path = append([]string{n.Name}, path...)
	}
	for _, p := range command.Positional {
		if p.Target.Kind() == reflect.Slice || p.Tag.Type == "existingfile" {
			arguments = append(arguments, os.DevNull)
		} else {
			arguments = append(arguments, argument)
		}
	}
	return path, arguments
}

// TestCommandLine_ValuesThatBeginWithAHyphen_AreTaken: tokens of pages and streams may begin so, and ids that callers choose. An argument stands
// behind -- then.
func TestCommandLine_ValuesThatBeginWithAHyphen_AreTaken(t *testing.T) {
	parser, err := newCommandLine(io.Discard, io.Discard).parser(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	parse := func(words ...[]string) (*kong.Context, error) {
		return parser.Parse(withHyphens(parser.Model, slices.Concat(words...)))
	}
	flags, arguments := 0, 0
	for _, command := range parser.Model.Leaves(true) {
		path, words := commandWords(t, command, "7")
		for _, f := range command.Flags {
			if f.IsBool() || f.Name == "help" {
				continue
			}
			for _, value := range []string{"-Ab_9", "--b-9_"} {
				parsed, err := parse(path, words, []string{"--" + f.Name, value})
				switch {
				case err != nil && (strings.Contains(err.Error(), "perhaps try") || strings.Contains(err.Error(), "unknown flag")):
					t.Errorf("%s --%s %s: %v", command.Path(), f.Name, value, err)
				case err == nil:
					flags++
					if got := valueOf(parsed, f.Name); !strings.Contains(got, value) {
						t.Errorf("%s --%s %s is %q", command.Path(), f.Name, value, got)
					}
				}
			}
		}
		path, words = commandWords(t, command, "-Ab_9")
		if _, err := parse(path, []string{"--"}, words); err != nil && strings.Contains(err.Error(), "flag -") {
			t.Errorf("%s -- %v: %v", command.Path(), words, err)
		}
		arguments += len(words)
	}
	if flags < 100 || arguments < 30 {
		t.Errorf("%d flags and %d arguments", flags, arguments)
	}
	parsed, err := parse([]string{"events", "c", "--since", "-TOKEN", "--json"})
	if err != nil || valueOf(parsed, "since") != "-TOKEN" || valueOf(parsed, "json") != "true" {
		t.Error(err)
	}
	if _, err := parse([]string{"events", "c", "--since", "--json"}); err == nil || !strings.Contains(err.Error(), "--since: expected string value") {
		t.Errorf("a flag as a value: %v", err)
	}
}

func valueOf(parsed *kong.Context, name string) string {
	for _, f := range parsed.Flags() {
		if f.Name == name {
			return fmt.Sprint(f.Target.Interface())
		}
	}
	return ""
}

var (
	codeSpan  = regexp.MustCompile("`([^`]+)`")
	withValue = regexp.MustCompile(`--[a-z][a-z-]* [^\s-]\S*`)
)

// tableValues are what the tables of the docs name flags with, as `--flag value`: in a code span, in the first column below a heading that is a
// flag, and policies below "policy" and "choose".
func tableValues(t *testing.T) (values []string) {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md") {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var heads []string
		for line := range strings.Lines(string(raw)) {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			if !strings.HasPrefix(line, "|") {
				heads = nil
				continue
			}
			if heads == nil {
				heads = cells
				continue
			}
			for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
				values = append(values, withValue.FindAllString(span[1], -1)...)
			}
			for i, cell := range cells[:min(len(cells), len(heads))] {
				span := codeSpan.FindStringSubmatch(cell)
				head := strings.Trim(strings.TrimSpace(heads[i]), "`")
				switch {
				case span == nil:
				case page == "../../docs/policies.md" && (head == "policy" || head == "choose"):
					values = append(values, "--policy "+span[1], "--default-policy "+span[1])
				case i == 0 && strings.HasPrefix(head, "--"):
					values = append(values, head+" "+span[1])
				}
			}
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// TestDocs_ValuesInTables_AreTaken: whatever a table names as the value of a flag, a command takes; policies are played and loaded.
func TestDocs_ValuesInTables_AreTaken(t *testing.T) {
	values, played := tableValues(t), []string{}
	parser, err := newCommandLine(io.Discard, io.Discard).parser(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		flag, value, _ := strings.Cut(v, " ")
		var faults []string
		taken := false
		for _, command := range parser.Model.Leaves(true) {
			path, words := commandWords(t, command, "7")
			if slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return "--"+f.Name == flag }) {
				_, err := parser.Parse(slices.Concat(path, words, []string{flag, value}))
				if err != nil && strings.HasPrefix(err.Error(), flag) && !strings.Contains(err.Error(), "used together") { // else it is not about the value
					faults = append(faults, err.Error())
				} else {
					taken = true
				}
			}
		}
		if !taken {
			t.Errorf("%s: %q", v, faults)
		}
		switch flag {
		case "--default-policy":
			if _, err := policies.Load(value); err != nil {
				t.Errorf("%s: %v", v, err)
			}
		case "--policy":
			played = append(played, flag, value)
		}
	}
	if len(values) < 20 || len(played) < 2*(len(policies.Names())+1) {
		t.Errorf("the tables name %v", values)
	}
	file := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(file, []byte(`{"messages":[{"role":"user","content":"Hello."},{"role":"assistant","content":"Hi."}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), append([]string{"replay", file}, played...), &stdout, &stderr); code != exitOK {
		t.Errorf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
}
