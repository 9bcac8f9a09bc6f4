package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// admit checks the servers' settings and the layout of the stored keys.
func (s *Store) admit(ctx context.Context) error {
	var found server
	err := s.masters(ctx, func(ctx context.Context, c *redis.Client) error {
		info, err := c.Info(ctx).Result()
		if err != nil {
			return failure(ctx, err, false)
		}
		// Many hosts forbid CONFIG, and nothing else tells how often the file is synced.
		fsync, err := c.ConfigGet(ctx, "appendfsync").Result()
		if err != nil {
			fsync = nil
		}
		return found.add(infoOf(info), fsync["appendfsync"], s.options.AcceptVolatile)
	})
	if err != nil {
		return err
	}
	s.volatile, s.warnings = found.volatile, found.warnings()
	if err := s.admitLayout(ctx); err != nil {
		return err
	}
	s.admitted.Store(true)
	return s.masters(ctx, func(ctx context.Context, c *redis.Client) error {
		if err := s.greet(ctx, c.Options().Addr, c); err != nil {
			return failure(ctx, err, false)
		}
		return nil
	})
}

// server is what the masters report about themselves, combined.
type server struct {
	mu       sync.Mutex
	volatile bool
	fsync    map[string]bool
}

const leastMajor = 7

// add adds a server. It refuses one that may lose what it acknowledged.
func (f *server) add(info map[string]string, fsync string, acceptVolatile bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	major, _, _ := strings.Cut(info["redis_version"], ".")
	if n, err := strconv.Atoi(major); err != nil || n < leastMajor {
		return fmt.Errorf("the server is older than Redis %d", leastMajor)
	}
	if policy := info["maxmemory_policy"]; policy != "noeviction" {
		return fmt.Errorf("the server's maxmemory-policy is %s, and must be noeviction: it would delete conversations when memory is short", policy)
	}
	if info["aof_enabled"] != "1" {
		if !acceptVolatile {
			return errors.New("the server has no append-only file (appendonly no): a restart would lose conversations")
		}
		f.volatile = true
		return nil
	}
	if f.fsync == nil {
		f.fsync = make(map[string]bool)
	}
	f.fsync[fsync] = true
	return nil
}

func (f *server) warnings() (out []string) {
	if f.volatile {
		out = append(out, "the server has no append-only file: a restart loses conversations")
	}
	if f.fsync[""] {
		out = append(out, "the server does not say how often its append-only file is synced: unless it is always, a crash of its machine may lose "+
			"the last second")
	}
	if f.fsync["everysec"] {
		out = append(out, "appendfsync is everysec: a crash of the server's machine may lose the last second")
	}
	if f.fsync["no"] {
		out = append(out, "appendfsync is no: a crash of the server's machine may lose the last half minute")
	}
	return out
}

// ErrNoStore is returned by Open if a store must exist and none does.
var ErrNoStore = errors.New("there is no store under the prefix of keys")

// admitLayout writes the layout into an empty database, and refuses another layout.
func (s *Store) admitLayout(ctx context.Context) error {
	var client redis.UniversalClient = s.single
	if s.cluster != nil {
		c, err := s.cluster.MasterForKey(ctx, s.space.metaKey())
		if err != nil {
			return failure(ctx, err, false)
		}
		client = c
	}
	have, err := client.HGetAll(ctx, s.space.metaKey()).Result()
	if err != nil {
		return failure(ctx, err, false)
	}
	if len(have) == 0 && s.options.MustExist {
		return ErrNoStore
	}
	for _, want := range []struct{ field, value string }{
		{"layout", strconv.Itoa(layout)}, {"partitions", strconv.Itoa(partitions)},
	} {
		value := have[want.field]
		if value == "" {
			if value, err = s.layOut(ctx, client, want.field, want.value); err != nil {
				return failure(ctx, err, false)
			}
		}
		if value != want.value {
			return fmt.Errorf("the database is laid out for another version (%s %q): %w", want.field, value, store.ErrInvalid)
		}
	}
	return nil
}

// layOut writes a field of the layout unless it exists, and returns its value.
func (s *Store) layOut(ctx context.Context, client redis.UniversalClient, field, value string) (string, error) {
	key := s.space.metaKey()
	if err := s.mark(ctx, client, key, "HSETNX", field, value).Err(); err != nil {
		return "", err
	}
	return client.HGet(ctx, key, field).Result()
}

// infoOf parses an answer to INFO.
func infoOf(text string) map[string]string {
	out := make(map[string]string)
	for line := range strings.Lines(text) {
		if field, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out[field] = value
		}
	}
	return out
}
