package dbtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PostgresVariable names a server that tests use instead of one that they start.
const PostgresVariable = "PALIMPSEST_TEST_POSTGRES"

const postgresServer = "the Postgres server (Debian's postgresql)"

// Postgres is a server of Postgres.
type Postgres struct {
	*server
	port int
	// DSN leads to it over TCP, SocketDSN over its Unix socket; the same if the server was given.
	DSN, SocketDSN string
}

var sharedPostgres = shared(func() (*Postgres, error) { //nolint:gochecknoglobals // a process has one
	if dsn := os.Getenv(PostgresVariable); dsn != "" {
		return &Postgres{DSN: dsn, SocketDSN: dsn}, nil
	}
	return newPostgres()
})

// SharedPostgres is the server that all tests of a package share. It writes as a server in use does.
func SharedPostgres(t testing.TB) *Postgres {
	t.Helper()
	p, err := sharedPostgres()
	return required(t, p, err, postgresServer)
}

// StartPostgres starts a server for one test, which may stop and kill it. Settings are such as "max_connections=20".
func StartPostgres(t testing.TB, settings ...string) *Postgres {
	t.Helper()
	p, err := newPostgres(settings...)
	return forTest(t, p, err, postgresServer)
}

// newPostgres starts a server; it is nil without the program.
func newPostgres(settings ...string) (*Postgres, error) {
	path := program("postgres", "/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin")
	if path == "" {
		return nil, nil
	}
	s, err := newServer("postgres", path)
	if err != nil {
		return nil, err
	}
	p := &Postgres{server: s}
	if p.port, err = freePort(); err != nil {
		return p, err
	}
	data := filepath.Join(s.folder, "d")
	cmd, err := s.command(filepath.Join(filepath.Dir(path), "initdb"), "-D", data, "-U", "palimpsest", "-A", "trust", "-E", "UTF8",
		"--locale=C", "--no-sync", "--no-instructions")
	if err != nil {
		return p, err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("initdb: %w: %s", err, out)
	}
	s.args = []string{"-D", data, "-p", strconv.Itoa(p.port), "-h", "127.0.0.1", "-k", s.folder}
	for _, setting := range append([]string{"shared_buffers=64MB", "max_connections=200", "dynamic_shared_memory_type=mmap"}, settings...) {
		s.args = append(s.args, "-c", setting)
	}
	p.DSN = fmt.Sprintf("postgres://palimpsest@127.0.0.1:%d/postgres?sslmode=disable", p.port)
	p.SocketDSN = fmt.Sprintf("postgres://palimpsest@/postgres?host=%s&port=%d", s.folder, p.port)
	return p, p.Start()
}

// Start starts the server again after Stop or Kill.
func (p *Postgres) Start() error {
	return p.start(func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, p.SocketDSN)
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
}

// Immediate stops the server as `pg_ctl stop -m immediate` does: it ends without a checkpoint and recovers at the next start.
func (p *Postgres) Immediate() { p.end(syscall.SIGQUIT) }

// Fast stops the server as `pg_ctl stop -m fast` does.
func (p *Postgres) Fast() { p.end(syscall.SIGINT) }

// SignalAll sends a signal to the server and to every process that it has started.
func (p *Postgres) SignalAll(t testing.TB, sig syscall.Signal) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	parent := p.cmd.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	if err != nil {
		t.Skip("who the server's children are is not known: ", err)
	}
	for _, child := range append(strings.Fields(string(children)), strconv.Itoa(parent)) {
		pid, err := strconv.Atoi(child)
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(pid, sig)
	}
}

// Stop ends the server for good.
func (p *Postgres) Stop() {
	if p.server == nil {
		return
	}
	p.Immediate()
	p.remove()
}

// Bouncer is a pooler in front of a server of Postgres, in transaction mode.
type Bouncer struct {
	*server
	// DSN leads to the server through the pooler.
	DSN string
}

// StartBouncer puts PgBouncer in front of a server that the test started, with more settings such as "max_prepared_statements = 100".
func StartBouncer(t testing.TB, p *Postgres, settings ...string) *Bouncer {
	t.Helper()
	path := program("pgbouncer", "/usr/sbin")
	if path == "" {
		Missing(t, "the pooler (Debian's pgbouncer)")
	}
	if p.server == nil {
		t.Skip("a server that was given has no pooler of ours")
	}
	b, err := newBouncer(path, p, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	return b
}

func newBouncer(path string, p *Postgres, settings []string) (*Bouncer, error) {
	s, err := newServer("bouncer", path)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	config := fmt.Sprintf("[databases]\n* = host=%s port=%d dbname=postgres user=palimpsest\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\n"+
		"unix_socket_dir =\nauth_type = any\npool_mode = transaction\nmax_client_conn = 300\ndefault_pool_size = 20\n", p.folder, p.port, port)
	for _, setting := range settings {
		config += setting + "\n"
	}
	file := filepath.Join(s.folder, "ini")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil { //nolint:gosec // nobody reads it
		return nil, err
	}
	s.args = []string{file}
	b := &Bouncer{server: s, DSN: fmt.Sprintf("postgres://palimpsest@127.0.0.1:%d/postgres?sslmode=disable", port)}
	return b, s.start(func(ctx context.Context) error {
		config, err := pgx.ParseConfig(b.DSN)
		if err != nil {
			return err
		}
		config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
}

// Stop ends the pooler.
func (b *Bouncer) Stop() {
	b.end(syscall.SIGKILL)
	b.remove()
}
