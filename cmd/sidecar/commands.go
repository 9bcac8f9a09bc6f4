package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/security"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/stores"
	"github.com/palimpsest-context/palimpsest/internal/demo"
	"github.com/palimpsest-context/palimpsest/internal/inspect"
	"github.com/palimpsest-context/palimpsest/internal/replay"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

// commands is the command line. The commands of other packages are clients of the API: parser gives them a sidecar to start.
type commands struct {
	Serve        serveCommand          `cmd:"" help:"Serve the API until SIGTERM or SIGINT."`
	Healthcheck  healthcheckCommand    `cmd:"" help:"Ask a running sidecar whether it serves: exits with 0 or 1. With an --address of http://host:port it asks /readyz there (--ops)."`
	Config       config.Command        `cmd:"" help:"Look at the configuration."`
	Token        security.TokenCommand `cmd:"" help:"Make a token for a namespace, and its entry for a file of credentials."`
	Version      versionCommand        `cmd:"" help:"Print the versions of the sidecar and of what it promises."`
	Migrate      stores.MigrateCommand `cmd:"" help:"Bring the tables of a Postgres store to this version. Serve makes tables in an empty database, and refuses those of another version."`
	MigrateStore stores.MoveCommand    `cmd:"" help:"Seal a store, copy it to another of any kind, and compare each conversation. If interrupted, run it again."`
	Backup       stores.BackupCommand  `cmd:"" help:"Copy a store into a folder."`
	Restore      stores.RestoreCommand `cmd:"" help:"Copy a backup into a store."`
	Unseal       stores.UnsealCommand  `cmd:"" help:"Let sidecars write again to a store that migrate-store has sealed."`
	Store        stores.FileCommands   `cmd:"" help:"Look after the file of a store that no sidecar has open."`
	Tools        toolsCommand          `cmd:"" help:"Print the tools by which a model reads what is shortened, cited or gone from its view. AnswerToolCall answers them."`
	Demo         demo.Command          `cmd:"" help:"Show an agent's conversation from its first message to a full window."`
	Replay       replay.Command        `cmd:"" help:"Play recorded conversations, and check what comes back."`

	inspect.Commands
}

// commandLine parses and runs commands.
type commandLine struct {
	*command.Output
	file *config.File
}

func newCommandLine(stdout, stderr io.Writer) *commandLine {
	return &commandLine{Output: &command.Output{Stdout: stdout, Stderr: stderr}, file: &config.File{}}
}

// exit is how kong's own flags (--help) end a parse.
type exit int

func (c *commandLine) run(ctx context.Context, args []string) (code int) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit:
			code = int(p)
		default:
			panic(p)
		}
	}()
	parser, err := c.parser(ctx)
	if err != nil {
		return c.failed(exitFailed, err)
	}
	parsed, err := parser.Parse(withHyphens(parser.Model, args))
	if err != nil {
		return c.failed(exitUsage, c.file.Explain(err))
	}
	if err := parsed.Run(); err != nil {
		return c.failed(codeOf(err), err)
	}
	return exitOK
}

func (c *commandLine) parser(ctx context.Context) (*kong.Kong, error) {
	o200k, err := bpe.New(bpe.O200k) // which loads when it first counts
	if err != nil {
		return nil, err
	}
	return kong.New(&commands{},
		kong.Name("sidecar"),
		kong.Description("Palimpsest owns an agent's conversation and says, before each model call, what the model should see."),
		kong.Writers(c.Stdout, c.Stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		config.Vars(),
		kong.Vars{"place_help": stores.PlaceHelp, "tool_formats": toolFormats(), "memory_namespace": agentcore.DefaultNamespace},
		kong.Resolvers(c.file),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c.Output, c.file,
			&demo.Env{Start: startPrivate, Stdout: c.Stdout},
			&replay.Env{Start: startPrivate, Counter: o200k, Stdout: c.Stdout, Stderr: c.Stderr},
			&inspect.Env{Stdin: os.Stdin, Stdout: c.Stdout, Stderr: c.Stderr}),
	)
}

func (c *commandLine) failed(code int, err error) int {
	_, _ = fmt.Fprintf(c.Stderr, "sidecar: %v\n", err)
	return code
}

func codeOf(err error) int {
	var usage command.UsageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}
