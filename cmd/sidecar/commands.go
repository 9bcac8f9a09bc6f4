package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/palimpsest-context/palimpsest/internal/demo"
	"github.com/palimpsest-context/palimpsest/internal/inspect"
	"github.com/palimpsest-context/palimpsest/internal/policies"
	"github.com/palimpsest-context/palimpsest/internal/replay"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory/agentcore"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

// commands is the command line. The commands of other packages are clients of the API: parser gives them a sidecar to start.
type commands struct {
	Serve        serveCommand        `cmd:"" help:"Serve the API until SIGTERM or SIGINT."`
	Healthcheck  healthcheckCommand  `cmd:"" help:"Ask a running sidecar whether it serves: exits with 0 or 1. An --address of http://host:port is an operations listener (--ops), whose /readyz is asked."`
	Config       configCommand       `cmd:"" help:"Look at the configuration."`
	Token        tokenCommand        `cmd:"" help:"Make a token for a namespace, and add what is kept of it to a file of credentials."`
	Version      versionCommand      `cmd:"" help:"Print the versions of the sidecar and of what it promises."`
	Migrate      migrateCommand      `cmd:"" help:"Bring the tables of a Postgres store to this version. Serve makes them in an empty database, and refuses others."`
	MigrateStore migrateStoreCommand `cmd:"" help:"Seal a store, copy everything in it to another of any kind, and compare each conversation. If it is interrupted, run it again."`
	Backup       backupCommand       `cmd:"" help:"Copy a store into a folder."`
	Restore      restoreCommand      `cmd:"" help:"Copy a backup into a store."`
	Unseal       unsealCommand       `cmd:"" help:"Let sidecars write again to a store that migrate-store has sealed."`
	Store        storeCommand        `cmd:"" help:"Look after the file of a store that no sidecar has open."`
	Tools        toolsCommand        `cmd:"" help:"Print the tools by which a model reads what it sees shortened, cited or no longer. AnswerToolCall answers its calls."`
	Demo         demo.Command        `cmd:"" help:"Show an agent's conversation from its first message to a full window."`
	Replay       replay.Command      `cmd:"" help:"Play recorded conversations, and check what comes back."`

	inspect.Commands
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
	o200k, err := bpe.New(bpe.O200k) // which loads when it first counts
	if err != nil {
		return nil, err
	}
	return kong.New(&commands{},
		kong.Name("sidecar"),
		kong.Description("Palimpsest owns an agent's conversation and says, before each model call, what the model should see."),
		kong.Writers(c.stdout, c.stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		defaults(stateDir()),
		kong.Resolvers(c.file),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c, c.file,
			&demo.Env{Start: startPrivate, Stdout: c.stdout},
			&replay.Env{Start: startPrivate, Counter: o200k, Stdout: c.stdout, Stderr: c.stderr},
			&inspect.Env{Stdin: os.Stdin, Stdout: c.stdout, Stderr: c.stderr}),
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

// defaults are the values of flags that are known elsewhere in the program.
func defaults(stateDir string) kong.Vars {
	return kong.Vars{
		"state_dir":    stateDir,
		"place_help":   placeHelp,
		"cache_size":   defaultCacheSize.String(),
		"tool_formats": toolFormats(),
		"target":       strconv.Itoa(conversation.DefaultTargetPercent),
		"policies":     strings.Join(policies.Names(), ", "),
		"result_share": strconv.Itoa(conversation.DefaultMaxResultPercent),

		"content_cache_bytes":             defaultContentCacheBytes.String(),
		"summary_deadline":                defaultSummaryDeadline.String(),
		"memory_namespace":                agentcore.DefaultNamespace,
		"summary_tokens_per_minute":       strconv.Itoa(defaultSummaryTokensPerMinute),
		"summary_tokens_per_conversation": strconv.Itoa(defaultSummaryTokensPerConversation),
	}
}
