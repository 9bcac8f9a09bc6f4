package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const flagsHead = `# Configuration

Each setting of ` + "`sidecar serve`" + ` is a flag, an environment variable (` + "`PALIMPSEST_MAX_STORE_SIZE` for `--max-store-size`" + `), and a key of the YAML
file that ` + "`--config`" + ` names, without the dashes. Of other commands' flags, those marked *env* have a variable too. A flag wins over
the environment, the environment over the file, the file over the default. A key that is unknown, or stands twice, is an error that names its line. ` + "`sidecar config print`" + ` prints the values in force and where each
comes from, as a file that ` + "`--config`" + ` takes.

Defaults stand in parentheses. Sizes are bytes, or have a unit: ` + "`512KiB`, `256MiB`, `10GiB`" + `. Durations are written ` + "`90s`, `15m`, `720h`" + `.

A value may begin with a hyphen, as tokens of pages do; an argument that does stands behind ` + "`--`" + `.

Exit codes: 0 for success, 1 if what was asked for did not work, 2 if the command line, the environment or the file is wrong.
`

// TestFlagsReference_IsWhatTheProgramTakes holds docs/reference/flags.md to the command line.
func TestFlagsReference_IsWhatTheProgramTakes(t *testing.T) {
	const path = "../../docs/reference/flags.md"
	got := flagsReference(t)
	if os.Getenv("PALIMPSEST_REWRITE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != got {
		t.Errorf("%s has drifted from the flags (%v): run the test with PALIMPSEST_REWRITE=1", path, err)
	}
}

// Where so many commands have a line, it is said of all of them at once.
const manyCommands = 2

func flagsReference(t *testing.T) string {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "/~")
	parser, err := newCommandLine(io.Discard, io.Discard).parser(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	commands := slices.DeleteFunc(parser.Model.Leaves(true), func(c *kong.Node) bool { return c.Name == "print" })
	times, serves := map[string]int{}, map[string]bool{}
	for _, command := range commands {
		for _, row := range slices.Concat(arguments(command), flagRows(command)) {
			times[row.line]++
			serves[row.line] = serves[row.line] || command.Name == "serve"
		}
	}
	var b strings.Builder
	b.WriteString(flagsHead)
	for _, command := range commands {
		if command.Name == "serve" {
			describe(&b, command, map[string]int{}, nil)
			describeShared(&b, commands, times, serves)
		}
	}
	for _, command := range commands {
		if command.Name != "serve" {
			describe(&b, command, times, serves)
		}
	}
	return b.String()
}

// row is a line about a flag or an argument; inServe is how serve says the same of a flag of this name.
type row struct{ name, line, inServe string }

func arguments(command *kong.Node) (rows []row) {
	for _, p := range command.Positional {
		name := code(strings.ToUpper(p.Name))
		rows = append(rows, row{name: name, line: fmt.Sprintf("%s: %s\n", name, p.Help)})
	}
	return rows
}

// flagRows are the flags of a command. All of serve's have a variable; of others it is said of those that do.
func flagRows(command *kong.Node) (rows []row) {
	for _, f := range command.Flags {
		name, notes := code("--"+f.Name), ""
		if d := shownDefault(f); d != "" {
			notes = " (" + code(d) + ")"
		}
		r := row{name: name, line: fmt.Sprintf("- %s%s: %s\n", name, notes, f.Help)}
		if len(f.Envs) > 0 && command.Name != "serve" {
			r.inServe, r.line = r.line, strings.TrimSuffix(r.line, "\n")+" *env*\n"
		}
		rows = append(rows, r)
	}
	return rows
}

// describe says what a command takes: what many take, or serve takes too, by its name alone.
func describe(b *strings.Builder, command *kong.Node, times map[string]int, serves map[string]bool) {
	fmt.Fprintf(b, "\n## sidecar %s\n\n%s\n", command.Path(), command.Help)
	var shared, ofServe []string
	own := func(rows []row) (own string) {
		for _, r := range rows {
			if serves[r.inServe] {
				ofServe = append(ofServe, r.name)
				continue
			}
			if times[r.line] >= manyCommands && serves != nil {
				shared = append(shared, r.name)
				continue
			}
			own += r.line
		}
		return own
	}
	for line := range strings.Lines(own(arguments(command))) {
		b.WriteString("\n" + line)
	}
	flags := own(flagRows(command))
	if len(ofServe) > 0 {
		fmt.Fprintf(b, "\nAlso [of serve](#sidecar-serve): %s.\n", strings.Join(ofServe, ", "))
	}
	if isClient(shared) {
		shared = slices.DeleteFunc(shared, func(f string) bool { return slices.Contains(clientFlags, f) })
	}
	if len(shared) > 0 {
		place := "[shared](#shared-flags)"
		if slices.Contains(clientFlags, shared[0]) {
			place = "[of clients](#client-flags)"
		}
		fmt.Fprintf(b, "\nAlso %s: %s.\n", place, strings.Join(shared, ", "))
	}
	if flags != "" {
		b.WriteString("\n" + flags)
	}
}

// Flags that commands take together, which one line names where a command takes all of them.
var clientFlags = []string{
	"`--address`", "`--token-file`", "`--tls`", "`--tls-ca`", "`--client-cert`", "`--client-key`", "`--timeout`", "`--json`", "`--ascii`",
}

func isClient(shared []string) bool {
	return !slices.ContainsFunc(clientFlags, func(f string) bool { return !slices.Contains(shared, f) })
}

// notClients are the commands of a page that do not take the flags of clients.
func notClients(commands []*kong.Node) (names []string) {
	for _, command := range commands {
		var flags []string
		for _, r := range flagRows(command) {
			flags = append(flags, r.name)
		}
		if !isClient(flags) && command.Name != "serve" {
			names = append(names, code(command.Path()))
		}
	}
	return names
}

// describeShared says once what many commands take.
func describeShared(b *strings.Builder, commands []*kong.Node, times map[string]int, serves map[string]bool) {
	var client, flags string
	said := map[string]bool{}
	add := func(rows []row) {
		for _, r := range rows {
			if times[r.line] < manyCommands || said[r.line] || serves[r.inServe] {
				continue
			}
			said[r.line] = true
			if slices.Contains(clientFlags, r.name) {
				client += r.line
			} else {
				flags += "- " + strings.TrimPrefix(r.line, "- ")
			}
		}
	}
	for _, command := range commands {
		add(slices.Concat(arguments(command), flagRows(command)))
	}
	fmt.Fprintf(b, "\n## Client flags\n\nOf all commands but `serve`, %s.\n\n%s\n## Shared flags\n\n%s",
		strings.Join(notClients(commands), ", "), client, flags)
}

func shownDefault(f *kong.Flag) string {
	if f.Name == "data-dir" {
		return strings.TrimPrefix(f.Default, "/")
	}
	return f.Default
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// TestSettings_EnvironmentVariables_AreTheFlagsNames: whoever knows a flag knows its variable.
func TestSettings_EnvironmentVariables_AreTheFlagsNames(t *testing.T) {
	parser, err := newCommandLine(io.Discard, io.Discard).parser(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(true) {
		if command.Name != "serve" {
			continue
		}
		for _, f := range command.Flags {
			want := "PALIMPSEST_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
			if len(f.Envs) != 1 || f.Envs[0] != want {
				t.Errorf("--%s reads %v, want %s", f.Name, f.Envs, want)
			}
		}
	}
}
