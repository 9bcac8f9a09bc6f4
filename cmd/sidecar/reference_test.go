package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const flagsHead = `# Configuration

Each setting of ` + "`sidecar serve`" + ` is a flag, an environment variable, and a key of the YAML file that ` + "`--config`" + ` names. A flag
wins over the environment, the environment over the file, the file over the default. The file's keys are the flags' names without the
dashes before them; a key that is unknown, or stands twice, is an error that names its line. ` + "`sidecar config print`" + ` takes the same
flags, and prints the values in force and where each comes from; what it prints is itself a configuration file.

Sizes are bytes, or have a unit: ` + "`512KiB`, `256MiB`, `10GiB`" + `. Durations are written ` + "`90s`, `15m`, `720h`" + `.

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

func flagsReference(t *testing.T) string {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "/~")
	parser, err := newCommandLine(io.Discard, io.Discard).parser(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(flagsHead)
	for _, command := range parser.Model.Leaves(true) {
		if command.Name != "print" {
			describe(t, &b, command)
		}
	}
	return b.String()
}

func describe(t *testing.T, b *strings.Builder, command *kong.Node) {
	t.Helper()
	fmt.Fprintf(b, "\n## sidecar %s\n\n%s\n", command.Path(), command.Help)
	for _, p := range command.Positional {
		fmt.Fprintf(b, "\n`%s`: %s\n", strings.ToUpper(p.Name), p.Help)
	}
	if len(command.Flags) == 0 {
		return
	}
	b.WriteString("\n| flag | environment | default | what it does |\n|---|---|---|---|\n")
	for _, f := range command.Flags {
		fmt.Fprintf(b, "| `--%s` | %s | %s | %s |\n", f.Name, code(strings.Join(f.Envs, " ")), code(shownDefault(f)), strings.ReplaceAll(f.Help, "|", "\\|"))
	}
}

func shownDefault(f *kong.Flag) string {
	switch {
	case f.Name == "data-dir":
		return strings.TrimPrefix(f.Default, "/")
	case f.IsBool() && !f.HasDefault:
		return "false"
	default:
		return f.Default
	}
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
