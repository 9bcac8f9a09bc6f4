package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// The stores, by the names of --store.
const (
	StoreBolt     = "bolt"
	StoreMemory   = "memory"
	StorePostgres = "postgres"
	StoreRedis    = "redis"
)

// secret is a setting that is never printed.
type secret string

// DatabaseFlags say how a database is reached that several sidecars share.
type DatabaseFlags struct {
	StoreDSN        secret `name:"store-dsn" help:"The database: postgres://USER:PASSWORD@HOST/DATABASE or redis://HOST:PORT (rediss for TLS, ?addr=HOST:PORT for more nodes of a cluster). Other processes can read a command line: prefer the environment or --store-dsn-file." env:"PALIMPSEST_STORE_DSN" placeholder:"DSN"`
	StoreDSNFile    string `name:"store-dsn-file" help:"File with the DSN, on a line of its own." env:"PALIMPSEST_STORE_DSN_FILE" type:"path" placeholder:"FILE"`
	StorePrefix     string `help:"Schema in Postgres (by default palimpsest), or what keys in Redis begin with (palimpsest:), so that several stores can share a database." env:"PALIMPSEST_STORE_PREFIX" placeholder:"NAME"`
	StorePoolSize   int    `help:"The most connections: by default 20 to Postgres, 64 to each node of Redis." env:"PALIMPSEST_STORE_POOL_SIZE" placeholder:"N"`
	StoreExecMode   string `help:"How Postgres gets statements: cache_statement prepares them, which a pooler must support (PgBouncer from 1.21 on, with max_prepared_statements); cache_describe, exec and simple work behind every pooler." env:"PALIMPSEST_STORE_EXEC_MODE" enum:"cache_statement,cache_describe,exec,simple" default:"cache_statement"`
	StoreNotify     bool   `help:"Learn of other sidecars' commits by LISTEN, over a connection of its own that no pooler may come between. Without it, watchers look ten times a second." env:"PALIMPSEST_STORE_NOTIFY"`
	StoreTextColumn bool   `help:"Write messages' texts into readable columns of Postgres too, for SQL." env:"PALIMPSEST_STORE_TEXT_COLUMN"`
	StoreInsecure   bool   `help:"Reach a database on another machine without verified TLS." env:"PALIMPSEST_STORE_INSECURE"`
	AcceptVolatile  bool   `help:"Accept a server that may lose what it has acknowledged: Redis without an append-only file, Postgres with fsync or synchronous_commit off." env:"PALIMPSEST_ACCEPT_VOLATILE"`

	MustExist bool `kong:"-"` // a store that is not there is not made
}

// DSN is the address of the database.
func (s *DatabaseFlags) DSN() (string, error) {
	if s.StoreDSNFile == "" {
		return string(s.StoreDSN), nil
	}
	dsn, err := ReadSecret(s.StoreDSNFile)
	if err != nil {
		return "", fmt.Errorf("--store-dsn-file: %w", err)
	}
	return dsn, nil
}

// ReadSecret reads the first line of a file.
func ReadSecret(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(content), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.New("the first line is empty")
	}
	return line, nil
}

func (s *Settings) checkStore() error {
	isShared := s.Store == StorePostgres || s.Store == StoreRedis
	switch {
	case s.Store == StoreBolt && s.DataDir == "":
		return errors.New("--data-dir is needed: there is no home directory to put it into")
	case s.StoreDSN != "" && s.StoreDSNFile != "":
		return errors.New("--store-dsn and --store-dsn-file exclude each other")
	case isShared && s.StoreDSN == "" && s.StoreDSNFile == "":
		return fmt.Errorf("--store %s needs --store-dsn or --store-dsn-file", s.Store)
	case !isShared && (s.StoreDSN != "" || s.StoreDSNFile != ""):
		return fmt.Errorf("--store %s is not reached by a DSN: set --store postgres or --store redis", s.Store)
	case s.StorePoolSize < 0:
		return errors.New("--store-pool-size must not be negative")
	default:
		return nil
	}
}
