package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestOpen_UnprivilegedRole_DoesEverything: a role that may make a schema and nothing else.
func TestOpen_UnprivilegedRole_DoesEverything(t *testing.T) {
	t.Parallel()
	dsn := dbtest.SharedPostgres(t).DSN
	run(t, dsn, "CREATE ROLE plain LOGIN", "GRANT CREATE ON DATABASE postgres TO plain")
	s := opened(t, Options{DSN: strings.Replace(dsn, "palimpsest@", "plain@", 1)})
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	must(t, k.append(t.Context(), s))
	must(t, s.Seal(t.Context(), true))
	if err := k.append(t.Context(), s); !errors.Is(err, store.ErrSealed) {
		t.Error(err)
	}
	if snap, err := s.Read(t.Context(), k.key, store.Query{}); err != nil || snap.Head.Epoch == "" {
		t.Error(snap, err)
	}
}

func TestOpen_OtherEncoding_IsRefused(t *testing.T) {
	t.Parallel()
	dsn := dbtest.SharedPostgres(t).DSN
	run(t, dsn, "CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0")
	if _, err := Open(t.Context(), Options{DSN: strings.Replace(dsn, "/postgres?", "/ascii?", 1)}); !errors.Is(err, errEncoding) {
		t.Error(err)
	}
}

// TestOpen_TablesOfAnother_CanBeUsed: who serves need not own the tables.
func TestOpen_TablesOfAnother_CanBeUsed(t *testing.T) {
	t.Parallel()
	o := Options{DSN: dbtest.SharedPostgres(t).DSN, Schema: schemaOf(t.Name())}
	must(t, opened(t, o).Close())
	run(t, o.DSN, "CREATE ROLE server LOGIN", "GRANT USAGE ON SCHEMA "+o.Schema+" TO server",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "+o.Schema+" TO server")
	o.DSN = strings.Replace(o.DSN, "palimpsest@", "server@", 1)
	s := opened(t, o)
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	must(t, k.append(t.Context(), s))
	if err := s.Seal(t.Context(), true); err == nil {
		t.Error("it may seal what it does not own")
	}
}

func TestOpen_OtherSchema_IsRefused(t *testing.T) {
	t.Parallel()
	o := Options{DSN: dbtest.SharedPostgres(t).DSN, Schema: schemaOf(t.Name())}
	must(t, opened(t, o).Close())
	for _, c := range []struct{ change, want string }{
		{"version = -1, least_writer = -1", "sidecar migrate"}, // the first version is 1: none is older yet
		{"version = 99, least_writer = 98", "newer program"},
	} {
		run(t, o.DSN, "UPDATE "+o.Schema+".schema SET "+c.change)
		_, err := Open(t.Context(), o)
		if !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %s: %v", c.change, err)
		}
	}
	run(t, o.DSN, "UPDATE "+o.Schema+".schema SET version = 99, least_writer = 1")
	s := opened(t, o) // the next version, which says that this one may still write
	must(t, newTalk(0).append(t.Context(), s))
}

// TestOpen_MustExist_MakesNothing: neither the schema, nor tables in one that is empty.
func TestOpen_MustExist_MakesNothing(t *testing.T) {
	t.Parallel()
	o := Options{DSN: dbtest.SharedPostgres(t).DSN, Schema: schemaOf(t.Name()), MustExist: true}
	conn, err := pgx.Connect(t.Context(), o.DSN)
	must(t, err)
	defer conn.Close(context.Background())
	for _, made := range []string{"", "CREATE SCHEMA " + o.Schema} {
		_, err := conn.Exec(t.Context(), made)
		must(t, err)
		if _, err := Open(t.Context(), o); !errors.Is(err, ErrNoStore) || !strings.Contains(err.Error(), "in the schema "+o.Schema) {
			t.Error(err)
		}
		var schemas, tables int
		must(t, conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = $1),
 (SELECT count(*) FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1))`, o.Schema).Scan(&schemas, &tables))
		if want := len(made) > 0; (schemas > 0) != want || tables > 0 {
			t.Errorf("%d schemas, %d things in it", schemas, tables)
		}
	}
	_, _, err = Migrate(t.Context(), o)
	must(t, err)
	must(t, newTalk(0).append(t.Context(), opened(t, o)))
}

func TestMigrate_TwoAtOnce_MakeTheTablesOnce(t *testing.T) {
	t.Parallel()
	o := Options{DSN: dbtest.SharedPostgres(t).DSN, Schema: schemaOf(t.Name())}
	type step struct {
		from int
		err  error
	}
	steps := make(chan step)
	for range 2 {
		go func() {
			from, _, err := Migrate(context.Background(), o)
			steps <- step{from, err}
		}()
	}
	first, second := <-steps, <-steps
	if first.err != nil || second.err != nil || first.from+second.from != SchemaVersion {
		t.Errorf("%+v, %+v", first, second)
	}
	if from, to, err := Migrate(t.Context(), o); from != SchemaVersion || to != SchemaVersion || err != nil {
		t.Error(from, to, err)
	}
}

func TestOpen_VolatileServer_IsRefused(t *testing.T) {
	t.Parallel()
	p := dbtest.StartPostgres(t, "fsync=off")
	if _, err := Open(t.Context(), Options{DSN: p.DSN}); err == nil || !strings.Contains(err.Error(), "--accept-volatile") {
		t.Error(err)
	}
	s := opened(t, Options{DSN: p.DSN, AcceptVolatile: true})
	if s.Durability() != store.DurabilityNone {
		t.Error(s.Durability())
	}
	before := epochOf(t, s)
	p.Immediate()
	must(t, p.Start())
	if after := epochOf(t, s); after == before {
		t.Error("what was lost with the crash nobody is told")
	}
	relaxed := strings.Replace(dbtest.SharedPostgres(t).DSN, "?", "?options=-csynchronous_commit%3Doff&", 1)
	if _, err := Open(t.Context(), Options{DSN: relaxed, Schema: schemaOf(t.Name())}); err == nil {
		t.Error("synchronous_commit=off of the role or the DSN is taken")
	}
}

func epochOf(t *testing.T, s *Store) string {
	t.Helper()
	key := store.Key{Namespace: "epoch"}
	if _, err := s.Read(t.Context(), key, store.Query{}); errors.Is(err, store.ErrNotFound) {
		k := newTalk(99)
		k.key = key
		must(t, k.commit(t.Context(), s, k.change()))
	}
	snap, err := s.Read(t.Context(), key, store.Query{})
	must(t, err)
	if snap.Head.Epoch == "" {
		t.Fatal("a head without an epoch")
	}
	return snap.Head.Epoch
}

func TestOpen_UnverifiedTLS_IsRefusedBeyondLoopback(t *testing.T) {
	t.Parallel()
	for dsn, ok := range map[string]bool{
		"postgres://u:secret@db.example/d":                                           false,
		"postgres://u:secret@db.example/d?sslmode=disable":                           false,
		"postgres://u:secret@db.example/d?sslmode=prefer":                            false,
		"postgres://u:secret@db.example/d?sslmode=require":                           false,
		"postgres://u:secret@db.example/d?sslmode=verify-ca":                         true,
		"postgres://u:secret@db.example/d?sslmode=verify-full":                       true,
		"postgres://u:secret@127.0.0.1/d":                                            true,
		"postgres://u:secret@[::1]/d?sslmode=disable":                                true,
		"postgres://u:secret@localhost,db.example/d?sslmode=disable":                 false,
		"postgres://u:secret@localhost,db.example/d?sslmode=verify-full":             true,
		"host=/run/postgresql user=u dbname=d":                                       true,
		"host=127.0.0.2 sslmode=disable":                                             true,
		"host=192.0.2.1 sslmode=disable user=u password=secret application_name=sec": false,
	} {
		_, err := Options{DSN: dsn}.withDefaults().config()
		if (err == nil) != ok {
			t.Errorf("%s: %v", dsn, err)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "db.example")) {
			t.Errorf("the error tells of the DSN: %v", err)
		}
		if _, err := (Options{DSN: dsn, Insecure: true}).withDefaults().config(); err != nil {
			t.Errorf("%s, insecure: %v", dsn, err)
		}
	}
}

// TestOpen_Errors_TellNothing: not of the address, the role, the password or the database.
func TestOpen_Errors_TellNothing(t *testing.T) {
	t.Parallel()
	shared := dbtest.SharedPostgres(t).DSN
	for _, o := range []Options{
		{DSN: "postgres://someone:secret@127.0.0.1:1/private"},
		{DSN: strings.Replace(shared, "palimpsest@", "someone:secret@", 1)},
		{DSN: strings.Replace(shared, "/postgres?", "/private?", 1)},
		{DSN: "postgres://someone:secret@127.0.0.1:port/private"},
		{DSN: shared, Schema: `private"; DROP`},
		{DSN: shared, ExecMode: "private"},
	} {
		_, err := Open(t.Context(), o)
		if err == nil {
			t.Errorf("%+v is taken", o)
			continue
		}
		for _, word := range []string{"secret", "someone", "private", "127.0.0.1"} {
			if strings.Contains(err.Error(), word) {
				t.Errorf("%v", err)
			}
		}
	}
}
