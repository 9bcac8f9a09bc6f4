// Package stores opens the stores that flags name, and has the commands that move, copy and check them.
package stores

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store/postgres"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// File is the name of an embedded store's file in its folder.
const File = "palimpsest.db"

// Hooks are told of what a store does.
type Hooks struct {
	State      func(reason error)
	Commit     func(changes int, took time.Duration)
	Statistics bool
}

// Open opens the store that settings name.
func Open(ctx context.Context, s *config.Settings, h Hooks, log *zap.Logger) (store.Store, error) {
	switch s.Store {
	case config.StoreMemory:
		return memory.New(memory.Options{}), nil
	case config.StoreBolt:
		return openBolt(s, bolt.Options{OnState: h.State, OnCommit: h.Commit, Statistics: h.Statistics})
	default:
		dsn, err := s.DSN()
		if err != nil {
			return nil, err
		}
		return openShared(ctx, &s.DatabaseFlags, s.Store, dsn, h, log)
	}
}

// openShared opens a database, and makes what it needs in one that is empty.
func openShared(ctx context.Context, s *config.DatabaseFlags, kind, dsn string, h Hooks, log *zap.Logger) (store.Store, error) {
	if kind == config.StorePostgres {
		kept, err := postgres.Open(ctx, postgresOptions(s, dsn, h))
		if err != nil {
			return nil, fmt.Errorf("cannot open the store: %w", err)
		}
		return kept, nil
	}
	kept, err := redis.Open(ctx, redis.Options{
		URL: dsn, Prefix: s.StorePrefix, Insecure: s.StoreInsecure, AcceptVolatile: s.AcceptVolatile, PoolSize: s.StorePoolSize, MustExist: s.MustExist,
		OnState: h.State, OnCommit: h.Commit,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot open the store: %w", err)
	}
	for _, warning := range kept.Warnings() {
		log.Warn("the store", zap.String("warning", warning))
	}
	return kept, nil
}

func postgresOptions(s *config.DatabaseFlags, dsn string, h Hooks) postgres.Options {
	return postgres.Options{
		DSN: dsn, Schema: s.StorePrefix, ExecMode: postgres.ExecMode(s.StoreExecMode), PoolSize: s.StorePoolSize, Notify: s.StoreNotify,
		AcceptVolatile: s.AcceptVolatile, Insecure: s.StoreInsecure, TextColumn: s.StoreTextColumn, MustExist: s.MustExist,
		OnState: h.State, OnCommit: h.Commit,
	}
}

func openBolt(s *config.Settings, o bolt.Options) (store.Store, error) {
	if err := makeDataDir(dataDirFlag, s.DataDir); err != nil {
		return nil, err
	}
	o.MaxSize = int64(s.MaxStoreSize)
	kept, err := bolt.Open(filepath.Join(s.DataDir, File), o)
	if err != nil {
		return nil, fmt.Errorf("cannot open the store in %s: %w; %s", s.DataDir, err, elsewhere(dataDirFlag))
	}
	return kept, nil
}

// Close closes a store.
func Close(kept store.Store) error {
	if err := kept.Close(); err != nil {
		return fmt.Errorf("closing the store: %w", err)
	}
	return nil
}
