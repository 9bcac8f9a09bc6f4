package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/move"
	"github.com/palimpsest-context/palimpsest/pkg/store/postgres"
)

// migrateCommand is `sidecar migrate`.
type migrateCommand struct {
	sharedSettings
}

// Run brings the tables of a Postgres store to this version.
func (c *migrateCommand) Run(ctx context.Context, line *commandLine) error {
	dsn, err := c.dsn()
	if err != nil {
		return err
	}
	if dsn == "" {
		return usageError{errors.New("--store-dsn or --store-dsn-file is needed")}
	}
	from, to, err := postgres.Migrate(ctx, c.postgres(dsn, storeHooks{}))
	if err != nil {
		return err
	}
	if from == to {
		_, err = fmt.Fprintf(line.stdout, "the schema is at version %d already\n", to)
	} else {
		_, err = fmt.Fprintf(line.stdout, "the schema is at version %d now, and was at %d\n", to, from)
	}
	return err
}

// place says which store a command reads or writes.
type place string

const placeHelp = "a folder of an embedded store, postgres://..., redis://..., or @FILE for a file that holds one of them on its first line"

// databases are the settings of stores that commands open beside their places.
type databases struct {
	FromPrefix    string `help:"Schema or key prefix in the store to read." placeholder:"NAME"`
	ToPrefix      string `help:"Schema or key prefix in the store to write." placeholder:"NAME"`
	StoreInsecure bool   `help:"Reach a database on another machine without verified TLS." env:"PALIMPSEST_STORE_INSECURE"`
}

// open opens the store at a place. One that is only read must be there.
func (p place) open(ctx context.Context, s *sharedSettings, isSource bool) (store.Store, error) {
	address := string(p)
	if file, ok := strings.CutPrefix(address, "@"); ok {
		var err error
		if address, err = readSecret(file); err != nil {
			return nil, err
		}
	}
	s.StoreExecMode, s.AcceptVolatile = string(postgres.CacheDescribe), true // it works behind every pooler; what was read is compared
	switch scheme, _, _ := strings.Cut(address, "://"); scheme {
	case address:
		return openFolder(address, isSource)
	case "postgres", "postgresql":
		return s.openShared(ctx, storePostgres, address, storeHooks{}, zap.NewNop())
	case "redis", "rediss", "unix":
		return s.openShared(ctx, storeRedis, address, storeHooks{}, zap.NewNop())
	default:
		return nil, usageError{fmt.Errorf("a store is %s", placeHelp)}
	}
}

func openFolder(folder string, isSource bool) (store.Store, error) {
	file := filepath.Join(folder, storeFile)
	if _, err := os.Stat(file); isSource && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no store in %s", folder)
	}
	if err := makeDataDir("--to", folder); err != nil {
		return nil, err
	}
	kept, err := bolt.Open(file, bolt.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot open the store in %s: %w", folder, err)
	}
	return kept, nil
}

// migrateStoreCommand is `sidecar migrate-store`.
type migrateStoreCommand struct {
	databases

	From place `help:"The store to read: ${place_help}. It is sealed: no sidecar writes to it any more." required:"" placeholder:"STORE"`
	To   place `help:"The store to write, in the same words. It may hold part of the copy already." required:"" placeholder:"STORE"`
}

// Run moves everything to another store.
func (c *migrateStoreCommand) Run(ctx context.Context, line *commandLine) error {
	if err := line.copyStore(ctx, &c.databases, c.From, c.To, move.Options{}); err != nil {
		return err
	}
	_, err := fmt.Fprintln(line.stdout, "the old store is sealed; start sidecars on the new one")
	return err
}

// backupCommand is `sidecar backup`.
type backupCommand struct {
	databases

	From place  `help:"The store to read: ${place_help}. Databases may be in use; of an embedded one the sidecar must have stopped." required:"" placeholder:"STORE"`
	To   string `help:"Folder for the backup, which is an embedded store. It must hold none yet." required:"" type:"path" placeholder:"DIR"`
}

// Run copies a store into a file.
func (c *backupCommand) Run(ctx context.Context, line *commandLine) error {
	if _, err := os.Stat(filepath.Join(c.To, storeFile)); err == nil {
		return fmt.Errorf("there is a store in %s already; name another folder", c.To)
	}
	return line.copyStore(ctx, &c.databases, c.From, place(c.To), move.Options{Online: true})
}

// restoreCommand is `sidecar restore`.
type restoreCommand struct {
	databases

	From string `help:"Folder of the backup." required:"" type:"path" placeholder:"DIR"`
	To   place  `help:"The store to write: ${place_help}. What it holds beside stays." required:"" placeholder:"STORE"`
}

// Run copies a backup into a store.
func (c *restoreCommand) Run(ctx context.Context, line *commandLine) error {
	return line.copyStore(ctx, &c.databases, place(c.From), c.To, move.Options{Online: true})
}

// unsealCommand is `sidecar unseal`.
type unsealCommand struct {
	Store  place  `arg:"" help:"The store: ${place_help}." placeholder:"STORE"`
	Prefix string `help:"Schema or key prefix of the store." placeholder:"NAME"`

	StoreInsecure bool `help:"Reach a database on another machine without verified TLS." env:"PALIMPSEST_STORE_INSECURE"`
}

// Run lets sidecars write again to a store that was moved.
func (c *unsealCommand) Run(ctx context.Context, line *commandLine) error {
	kept, err := c.Store.open(ctx, &sharedSettings{StorePrefix: c.Prefix, StoreInsecure: c.StoreInsecure}, true)
	if err != nil {
		return err
	}
	if err := errors.Join(kept.Seal(ctx, false), closeStore(kept)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(line.stdout, "the store takes writes again")
	return err
}

// copyStore copies one store into another, and tells how far it is.
func (c *commandLine) copyStore(ctx context.Context, d *databases, from, to place, o move.Options) error {
	source, err := from.open(ctx, &sharedSettings{StorePrefix: d.FromPrefix, StoreInsecure: d.StoreInsecure}, true)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	target, err := to.open(ctx, &sharedSettings{StorePrefix: d.ToPrefix, StoreInsecure: d.StoreInsecure}, false)
	if err != nil {
		return errors.Join(fmt.Errorf("--to: %w", err), source.Close())
	}
	last, told := time.Now(), false
	o.Progress = func(r move.Report) {
		if time.Since(last) >= time.Second {
			last, told = time.Now(), true
			_, _ = fmt.Fprintf(c.stderr, "\r%s", counts(r))
		}
	}
	report, err := move.Copy(ctx, source, target, o)
	if told {
		_, _ = fmt.Fprintln(c.stderr)
	}
	if err := errors.Join(err, closeStore(source), closeStore(target)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "%s, all compared by SHA-256\n", counts(report))
	return err
}

func counts(r move.Report) string {
	out := fmt.Sprintf("%d conversations, %d messages, %d contents, %.1f MiB", r.Names, r.Messages, r.Contents, float64(r.Bytes)/(1<<20))
	if r.Present > 0 {
		out += fmt.Sprintf(" (%d were there)", r.Present)
	}
	return out
}
