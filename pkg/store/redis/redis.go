// Package redis keeps conversations in Redis or Valkey: one server, or a cluster. Any number of processes may use one store.
//
// # Layout
//
// Conversations are spread over 256 partitions by a hash of their names. Every key has the tag of its partition, {0} to {255}, so that
// everything a commit touches is on one node, including indexes (keys.go). A commit is one script, which checks everything before it
// writes, because there is no rollback (lua/commit.lua). Head and messages are in one hash, so that most commits need nothing else
// (lua/append.lua). A read is one MULTI for the incarnation that the name led to last, and another one if the name leads to a different
// one. A read of head and messages only is a single command.
//
// # What survives
//
// This depends on the server's own mode. With appendfsync always, what was acknowledged survives the restart of one master; with everysec,
// all but about the last second does. When a server has restarted, or another has taken its place, the epoch of its partitions changes, so
// that nobody continues from something that may be lost.
package redis

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Options are the settings of a store.
type Options struct {
	// URL is redis://[user[:password]@]host:port[/database], rediss:// for TLS, or unix:// for a socket. More nodes of a cluster follow as
	// ?addr=host:port&addr=... . The store finds out whether it is a cluster. With ?ca_file=path, the server's certificate must be issued
	// by an authority in that PEM file, instead of one of the system's.
	URL string
	// Prefix is the beginning of all keys; empty means "palimpsest:". It must not contain braces.
	Prefix string
	// MustExist makes Open return ErrNoStore, and write nothing, if no store was ever opened under the prefix.
	MustExist bool
	// Insecure allows connections without TLS to other machines.
	Insecure bool
	// AcceptVolatile allows a server without an append-only file. Durability is none then.
	AcceptVolatile bool
	// PoolSize is the largest number of connections to each node; 0 means 64.
	PoolSize int
	// PoolTimeout is how long a call waits for a connection; 0 means two seconds.
	PoolTimeout time.Duration
	// DialTimeout is how long connecting may take; 0 means two seconds.
	DialTimeout time.Duration
	// CallTimeout bounds every call, regardless of its context; 0 means ten seconds.
	CallTimeout time.Duration
	// PollInterval is how often the versions that Wait waits for are checked; 0 means 250 milliseconds.
	PollInterval time.Duration
	// PulseInterval is how often servers are asked whether they can write; 0 means one second.
	PulseInterval time.Duration
	// OnState, if set, is called with the reason when the store can no longer write, and with nil when it can again. It must not call the
	// store.
	OnState func(reason error)
	// OnCommit, if set, is called after each script that wrote, with the number of its changes and the time it took. It must not block.
	OnCommit func(changes int, took time.Duration)
	// OnTrip, if set, is called for each round trip of a call.
	OnTrip func()
}

const defaultPrefix = "palimpsest:"

func (o Options) withDefaults() Options {
	o.Prefix = cmp.Or(o.Prefix, defaultPrefix)
	o.PoolSize = cmp.Or(o.PoolSize, 64)
	o.PoolTimeout = cmp.Or(o.PoolTimeout, 2*time.Second)
	o.DialTimeout = cmp.Or(o.DialTimeout, 2*time.Second)
	o.CallTimeout = cmp.Or(o.CallTimeout, 10*time.Second)
	o.PollInterval = cmp.Or(o.PollInterval, 250*time.Millisecond)
	o.PulseInterval = cmp.Or(o.PulseInterval, time.Second)
	if o.OnState == nil {
		o.OnState = func(error) {}
	}
	if o.OnCommit == nil {
		o.OnCommit = func(int, time.Duration) {}
	}
	return o
}

// Store is a store on a server or a cluster.
type Store struct {
	options  Options
	space    space
	codec    *record.Codec
	scripts  *scripts
	single   *redis.Client
	cluster  *redis.ClusterClient
	volatile bool
	warnings []string

	wakes  store.Wakes
	waits  store.Waits
	seen   seen
	health health
	lines  lines

	epochs   epochs
	admitted atomic.Bool // the layout of the database is known, and is this program's

	gate   store.Gate
	stop   context.CancelFunc // ends the background work
	beside sync.WaitGroup
}

var _ store.Store = (*Store)(nil)

// Open connects to the server. It makes an empty database a store, unless a store must exist.
func Open(ctx context.Context, o Options) (*Store, error) {
	o = o.withDefaults()
	s := &Store{options: o, space: newSpace(o.Prefix), codec: record.New()}
	s.health.changed = o.OnState
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	if err := s.admit(ctx); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	beside, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.beside.Go(func() { s.pulse(beside) })
	s.beside.Go(func() { s.poll(beside) })
	s.beside.Go(func() { s.listen(beside) })
	return s, nil
}

// Durability implements store.Store.
func (s *Store) Durability() store.Durability {
	if s.volatile {
		return store.DurabilityNone
	}
	return store.DurabilityServer
}

// Warnings returns what an operator should know about the servers' settings.
func (s *Store) Warnings() []string { return s.warnings }

// Close implements store.Store.
func (s *Store) Close() error {
	if !s.gate.Close() {
		return nil
	}
	s.wakes.Close()
	s.gate.Wait()
	s.stop()
	err := s.disconnect()
	s.beside.Wait()
	return err
}

func (s *Store) disconnect() error {
	if s.cluster != nil {
		return s.cluster.Close()
	}
	return s.single.Close()
}

// check does the checks of a call that asks for nothing.
func (s *Store) check(ctx context.Context) error {
	if err := s.gate.Enter(ctx); err != nil {
		return err
	}
	s.gate.Leave()
	return nil
}
