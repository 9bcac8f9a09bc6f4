package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/alecthomas/kong"
)

// commands is the command line. Commands of other packages (replay, demo) are fields here too, and are given what they need by
// newCommandLine.
type commands struct {
	Serve       serveCommand       `cmd:"" help:"Serve the API until SIGTERM or SIGINT."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask a running sidecar whether it serves: exits with 0 or 1."`
	Config      configCommand      `cmd:"" help:"Look at the configuration."`
	Version     versionCommand     `cmd:"" help:"Print the versions of the sidecar and of what it promises."`
}

// commandLine parses and runs commands.
type commandLine struct {
	stdout, stderr io.Writer
	file           *configFile
}

func newCommandLine(stdout, stderr io.Writer) *commandLine {
	return &commandLine{stdout: stdout, stderr: stderr, file: &configFile{}}
}

// exit is how kong's own flags (--help) end a parse.
type exit int

func (c *commandLine) run(ctx context.Context, args []string) (code int) {
	defer func() {
		if early, ok := recover().(exit); ok {
			code = int(early)
		}
	}()
	parser, err := c.parser(ctx)
	if err != nil {
		return c.failed(exitFailed, err)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return c.failed(exitUsage, c.file.explain(err))
	}
	if err := parsed.Run(); err != nil {
		return c.failed(codeOf(err), err)
	}
	return exitOK
}

func (c *commandLine) parser(ctx context.Context) (*kong.Kong, error) {
	return kong.New(&commands{},
		kong.Name("sidecar"),
		kong.Description("Palimpsest owns an agent's conversation and says, before each model call, what the model should see."),
		kong.Writers(c.stdout, c.stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.Vars{"state_dir": stateDir()},
		kong.Resolvers(c.file),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c, c.file),
	)
}

// usageError is an error in what the operator wrote.
type usageError struct{ error }

func (c *commandLine) failed(code int, err error) int {
	_, _ = fmt.Fprintf(c.stderr, "sidecar: %v\n", err)
	return code
}

func codeOf(err error) int {
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// stateDir is where data lies by default: where the XDG rules put what a user's programs keep.
func stateDir() string {
	if dir := lookup("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "palimpsest")
	}
	if home := homeDir(); home != "" {
		return filepath.Join(home, ".local", "state", "palimpsest")
	}
	return ""
}
