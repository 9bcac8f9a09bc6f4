package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/move"
	"github.com/palimpsest-context/palimpsest/pkg/store/postgres"
)

// MigrateCommand is `sidecar migrate`.
type MigrateCommand struct {
	config.DatabaseFlags
}

// Run brings the tables of a Postgres store to this version.
func (c *MigrateCommand) Run(ctx context.Context, out *command.Output) error {
	dsn, err := c.DSN()
	if err != nil {
		return err
	}
	if dsn == "" {
		return command.Usage(errors.New("--store-dsn or --store-dsn-file is needed"))
	}
	from, to, err := postgres.Migrate(ctx, postgresOptions(&c.DatabaseFlags, dsn, Hooks{}))
	if err != nil {
		return err
	}
	if from == to {
		_, err = fmt.Fprintf(out.Stdout, "the schema is at version %d already\n", to)
	} else {
		_, err = fmt.Fprintf(out.Stdout, "the schema is at version %d now, and was at %d\n", to, from)
	}
	return err
}

// Place says which store a command reads or writes.
type Place string

// PlaceHelp says how a place is written.
const PlaceHelp = "a folder, postgres://..., redis://..., or @FILE, whose first line is a DSN"

// databases are the settings of stores that commands open beside their places.
type databases struct {
	FromPrefix      string `help:"Schema or key prefix in the store to read." placeholder:"NAME"`
	ToPrefix        string `help:"Schema or key prefix in the store to write." placeholder:"NAME"`
	StoreInsecure   bool   `help:"Reach databases on other machines without verified TLS." env:"PALIMPSEST_STORE_INSECURE"`
	StoreTextColumn bool   `help:"Write messages' texts into readable columns of Postgres too, for SQL." env:"PALIMPSEST_STORE_TEXT_COLUMN"`
	AcceptVolatile  bool   `help:"Write to a server that may lose what it has acknowledged." env:"PALIMPSEST_ACCEPT_VOLATILE"`
}

func (d *databases) source() *config.DatabaseFlags {
	return &config.DatabaseFlags{StorePrefix: d.FromPrefix, StoreInsecure: d.StoreInsecure, AcceptVolatile: true, MustExist: true}
}

func (d *databases) target() *config.DatabaseFlags {
	return &config.DatabaseFlags{StorePrefix: d.ToPrefix, StoreInsecure: d.StoreInsecure, StoreTextColumn: d.StoreTextColumn, AcceptVolatile: d.AcceptVolatile}
}

// address is the folder or the DSN, and which store it leads to. Errors do not repeat it: it may hold a password, and need not be spelled
// well for that.
func (p Place) address() (address, kind string, err error) {
	file, isFile := strings.CutPrefix(string(p), "@")
	if address = string(p); isFile {
		if address, err = config.ReadSecret(file); err != nil {
			return "", "", err
		}
	}
	scheme, _, isURL := strings.Cut(address, "://")
	switch {
	case scheme == "postgres" || scheme == "postgresql", !isURL && postgresWords.MatchString(address):
		return address, config.StorePostgres, nil
	case scheme == "redis" || scheme == "rediss" || scheme == "unix":
		return address, config.StoreRedis, nil
	case isURL || isFile || looksLikeDSN.MatchString(address):
		return "", "", command.Usage(fmt.Errorf("a store is %s", PlaceHelp))
	default:
		return address, config.StoreBolt, nil
	}
}

var (
	// postgresWords is the form of a DSN that is no URL.
	postgresWords = regexp.MustCompile(`(^|\s)(host|port|dbname|user|password|service)\s*=`)
	// looksLikeDSN is what nobody calls a folder, and an address becomes by a typo.
	looksLikeDSN = regexp.MustCompile(`^(postgres|redis|unix:)|[@=?]`)
)

// open opens the store at a place, which is called so on the command line.
func (p Place) open(ctx context.Context, flag string, s *config.DatabaseFlags, out *command.Output) (store.Store, error) {
	address, kind, err := p.address()
	if err == nil && kind == config.StoreBolt {
		return openFolder(flag, address, s.MustExist)
	}
	var kept store.Store
	if err == nil {
		s.StoreExecMode = string(postgres.CacheDescribe) // it works behind every pooler
		kept, err = openShared(ctx, s, kind, address, Hooks{}, warnings(out))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return kept, nil
}

func openFolder(flag, folder string, mustExist bool) (store.Store, error) {
	file := filepath.Join(folder, File)
	if _, err := os.Stat(file); mustExist && err != nil {
		return nil, fmt.Errorf("%s: there is no store in %s", flag, folder)
	}
	if err := makeDataDir(flag, folder); err != nil {
		return nil, err
	}
	kept, err := bolt.Open(file, bolt.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: cannot open the store in %s: %w", flag, folder, err)
	}
	return kept, nil
}

// MoveCommand is `sidecar migrate-store`.
type MoveCommand struct {
	databases

	From Place `help:"The store to read: ${place_help}. No sidecar can write to it any more." required:"" placeholder:"STORE"`
	To   Place `help:"The store to write, in the same form. It may hold part of the copy already." required:"" placeholder:"STORE"`
}

// Run moves everything to another store.
func (c *MoveCommand) Run(ctx context.Context, out *command.Output) error {
	err := c.copy(ctx, out, c.From, c.To, move.Options{})
	var begun *copyError
	if errors.As(err, &begun) {
		return fmt.Errorf("%w; if the old store is sealed, run this again, or go back with `sidecar unseal`", err)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out.Stdout, "the old store is sealed; start sidecars on the new one")
	return err
}

// BackupCommand is `sidecar backup`.
type BackupCommand struct {
	databases

	From Place  `help:"The store to read: ${place_help}. A database may be in use; the sidecar of an embedded store must have stopped." required:"" placeholder:"STORE"`
	To   string `help:"Folder for the backup, which is an embedded store. It must hold none yet." required:"" type:"path" placeholder:"DIR"`
}

// Run copies a store into a file.
func (c *BackupCommand) Run(ctx context.Context, out *command.Output) error {
	if _, err := os.Stat(filepath.Join(c.To, File)); err == nil {
		return fmt.Errorf("there is a store in %s already; name another folder", c.To)
	}
	return c.copy(ctx, out, c.From, Place(c.To), move.Options{Online: true})
}

// RestoreCommand is `sidecar restore`.
type RestoreCommand struct {
	databases

	From string `help:"Folder of the backup." required:"" type:"path" placeholder:"DIR"`
	To   Place  `help:"The store to write: ${place_help}. What else it holds stays." required:"" placeholder:"STORE"`
}

// Run copies a backup into a store.
func (c *RestoreCommand) Run(ctx context.Context, out *command.Output) error {
	return c.copy(ctx, out, Place(c.From), c.To, move.Options{Online: true})
}

// UnsealCommand is `sidecar unseal`.
type UnsealCommand struct {
	Store  Place  `arg:"" help:"The store: ${place_help}." placeholder:"STORE"`
	Prefix string `help:"Schema or key prefix of the store." placeholder:"NAME"`

	StoreInsecure bool `help:"Reach a database on another machine without verified TLS." env:"PALIMPSEST_STORE_INSECURE"`
}

// Run lets sidecars write again to a store that was moved.
func (c *UnsealCommand) Run(ctx context.Context, out *command.Output) error {
	s := &config.DatabaseFlags{StorePrefix: c.Prefix, StoreInsecure: c.StoreInsecure, AcceptVolatile: true, MustExist: true}
	kept, err := c.Store.open(ctx, "the store", s, out)
	if err != nil {
		return err
	}
	if err := errors.Join(kept.Seal(ctx, false), Close(kept)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out.Stdout, "the store takes writes again")
	return err
}

// copyError is a copy that failed after it had begun.
type copyError struct{ error }

// Unwrap returns the cause.
func (e *copyError) Unwrap() error { return e.error }

// copy copies one store into another, and tells how far it is.
func (d *databases) copy(ctx context.Context, out *command.Output, from, to Place, o move.Options) error {
	source, err := from.open(ctx, "--from", d.source(), out)
	if err != nil {
		return err
	}
	target, err := to.open(ctx, "--to", d.target(), out)
	if err != nil {
		return errors.Join(err, source.Close())
	}
	shown := newProgressLine(out)
	o.Progress = func(r move.Report) { shown.show("%s", counts(r)) }
	report, err := move.Copy(ctx, source, target, o)
	shown.end()
	if err != nil {
		return errors.Join(&copyError{err}, source.Close(), target.Close())
	}
	if err := errors.Join(Close(source), Close(target)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out.Stdout, "%s, all compared by SHA-256\n", counts(report))
	return err
}

// warnings is a log of what an operator should hear of a store.
func warnings(out *command.Output) *zap.Logger {
	encoder := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{MessageKey: "message"})
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(out.Stderr), zap.WarnLevel))
}

func counts(r move.Report) string {
	out := fmt.Sprintf("%d conversations, %d messages, %d contents, %.1f MiB", r.Names, r.Messages, r.Contents, float64(r.Bytes)/(1<<20))
	if r.Present > 0 {
		out += fmt.Sprintf(" (%d were there)", r.Present)
	}
	return out
}
