package postgres

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ExecMode says how statements are sent to the server.
type ExecMode string

// The modes.
const (
	// CacheStatement prepares each statement once per connection. It is the fastest mode. A pooler must keep prepared statements apart
	// (PgBouncer from 1.21 on, with max_prepared_statements).
	CacheStatement ExecMode = "cache_statement"
	// CacheDescribe works behind every pooler. Statements are planned each time.
	CacheDescribe ExecMode = "cache_describe"
	// Exec works behind every pooler. It describes nothing, and sends values as text.
	Exec ExecMode = "exec"
	// Simple uses the simple protocol, with values in the statement's text, for servers or poolers that support nothing else.
	Simple ExecMode = "simple"
)

// DefaultSchema is the schema of the tables if none is given.
const DefaultSchema = "palimpsest"

// Options are the settings of a store. Only DSN is required.
type Options struct {
	// DSN says how to connect to the database: a URL or keywords, as in libpq.
	DSN string
	// Schema is the schema of the tables: a letter, then letters, digits and underscores, at most 63 characters in all. Empty means
	// DefaultSchema.
	Schema string
	// ExecMode says how statements are sent; empty means CacheStatement.
	ExecMode ExecMode
	// PoolSize is the largest number of connections; 0 means 20.
	PoolSize int
	// Notify opens one more connection and listens on it for commits of other processes. The DSN must lead directly to the server: a pooler
	// accepts LISTEN, but passes nothing on.
	Notify bool
	// AcceptVolatile accepts a server that loses acknowledged commits when it crashes (fsync or synchronous_commit off).
	AcceptVolatile bool
	// Insecure accepts a connection to another machine without verified TLS.
	Insecure bool
	// MustExist makes Open return ErrNoStore if there are no tables, instead of creating them. Migrate creates them nevertheless.
	MustExist bool
	// TextColumn also writes the words of messages into a readable column. It must not be used where stored values are encrypted.
	TextColumn bool
	// OnState, if set, is called with the reason when the store can no longer write, and with nil when it can again. It must not call the
	// store.
	OnState func(reason error)
	// OnCommit, if set, is called after each commit, with 1 and with the time since the commit had its turn in the conversation's queue. It
	// must not block.
	OnCommit func(changes int, took time.Duration)
	// OnTrip, if set, is called for each round trip to the server, on any connection.
	OnTrip func()

	// AcquireTimeout bounds the wait for a connection of the pool; 0 means three seconds. ReadTimeout bounds a read; 0 means ten seconds.
	// CommitTimeout bounds a write once it has begun; 0 means ten seconds. PollInterval is how often the poller asks; 0 means 100 ms.
	AcquireTimeout, ReadTimeout, CommitTimeout, PollInterval time.Duration
}

func (o Options) withDefaults() Options {
	o.Schema = cmp.Or(o.Schema, DefaultSchema)
	o.ExecMode = cmp.Or(o.ExecMode, CacheStatement)
	o.PoolSize = cmp.Or(o.PoolSize, 20)
	o.AcquireTimeout = cmp.Or(o.AcquireTimeout, 3*time.Second)
	o.ReadTimeout = cmp.Or(o.ReadTimeout, 10*time.Second)
	o.CommitTimeout = cmp.Or(o.CommitTimeout, 10*time.Second)
	o.PollInterval = cmp.Or(o.PollInterval, 100*time.Millisecond)
	if o.OnState == nil {
		o.OnState = func(error) {}
	}
	if o.OnCommit == nil {
		o.OnCommit = func(int, time.Duration) {}
	}
	return o
}

// config is the configuration of the pool. Its errors hold nothing of the DSN.
func (o Options) config() (*pgxpool.Config, error) {
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`).MatchString(o.Schema) {
		return nil, errors.New("postgres: the schema's name is no letter followed by at most 62 letters, digits and underscores")
	}
	if o.PoolSize < 1 {
		return nil, errors.New("postgres: the pool needs a connection")
	}
	c, err := pgxpool.ParseConfig(o.DSN)
	if err != nil {
		return nil, errors.New("postgres: the DSN cannot be read: it is a URL (postgres://user@host/database) or words (host=... user=...)")
	}
	mode, known := modes[o.ExecMode]
	if !known {
		return nil, fmt.Errorf("postgres: the mode is none of %s, %s, %s, %s", CacheStatement, CacheDescribe, Exec, Simple)
	}
	if err := o.checkTLS(c.ConnConfig); err != nil {
		return nil, err
	}
	c.ConnConfig.DefaultQueryExecMode = mode
	c.ConnConfig.ConnectTimeout = cmp.Or(c.ConnConfig.ConnectTimeout, o.AcquireTimeout)
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "palimpsest"
	}
	if c.ConnConfig.ValidateConnect == nil { // of several servers, and after a failover, use the one that can be written to
		c.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	c.MaxConns, c.MinConns = int32(o.PoolSize), 1
	if o.OnTrip != nil {
		c.ConnConfig.DialFunc = counted(c.ConnConfig.DialFunc, o.OnTrip)
	}
	return c, nil
}

// modes are the driver's names of the modes.
var modes = map[ExecMode]pgx.QueryExecMode{
	CacheStatement: pgx.QueryExecModeCacheStatement, CacheDescribe: pgx.QueryExecModeCacheDescribe,
	Exec: pgx.QueryExecModeExec, Simple: pgx.QueryExecModeSimpleProtocol,
}

// checkTLS refuses a connection to another machine that may be unencrypted, or whose server is not verified.
func (o Options) checkTLS(c *pgx.ConnConfig) error {
	if o.Insecure {
		return nil
	}
	ok := isLocal(c.Host) || verifies(c.TLSConfig)
	for _, f := range c.Fallbacks {
		ok = ok && (isLocal(f.Host) || verifies(f.TLSConfig))
	}
	if !ok {
		return errors.New("postgres: the server is on another machine, and its certificate would not be verified: " +
			"set sslmode=verify-full in the DSN, or accept it with --store-insecure")
	}
	return nil
}

func isLocal(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// verifies reports whether the server is verified: for verify-ca, pgx turns Go's own check off and sets another one.
func verifies(c *tls.Config) bool {
	return c != nil && (!c.InsecureSkipVerify || c.VerifyPeerCertificate != nil)
}
