// Package redis keeps conversations in Redis or Valkey: one server, or a cluster. Any number of processes may serve one store.
//
// # Layout
//
// Conversations are spread over 256 partitions by a hash of their names. Every key has the tag of its partition, {0} to {255}, so that what
// one commit touches lies on one node, indexes too (keys.go). A commit is one script, which checks all and then writes, because nothing rolls
// back (lua/commit.lua); head and messages are one hash, so that most need nothing else (lua/append.lua). A read is one MULTI on the
// incarnation that the name led to last, and one more if it leads to another; of head and messages alone it is one command.
//
// # What survives
//
// The server's own mode says that. With appendfsync always, what was acknowledged survives the restart of one master; with everysec, all but
// about the last second. When a server has restarted, or another has taken its place, the epoch of its partitions changes, and nobody goes on
// from what may be gone.
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
	// URL is redis://[user[:password]@]host:port[/database], rediss:// for TLS, unix:// for a socket; more nodes of a cluster follow as
	// ?addr=host:port&addr=... . Whether it is a cluster is found out. With ?ca_file=path the server's certificate is held to the authorities
	// in that file, in PEM, instead of the system's.
	URL string
	// Prefix is what all keys begin with; empty: "palimpsest:". It must not hold braces.
	Prefix string
	// MustExist has Open fail with ErrNoStore, and write nothing, where no store was ever opened under the prefix.
	MustExist bool
	// Insecure allows connections without TLS beyond loopback.
	Insecure bool
	// AcceptVolatile allows a server without an append-only file: Durability is none then.
	AcceptVolatile bool
	// PoolSize bounds the connections to each node; 0: 64.
	PoolSize int
	// PoolTimeout is how long a call waits for a connection; 0: two seconds.
	PoolTimeout time.Duration
	// DialTimeout is how long a connection may take; 0: two seconds.
	DialTimeout time.Duration
	// CallTimeout bounds every call, whatever its context says; 0: ten seconds.
	CallTimeout time.Duration
	// PollInterval is how often the versions that Wait waits for are looked at; 0: 250 milliseconds.
	PollInterval time.Duration
	// PulseInterval is how often servers are asked whether they write; 0: a second.
	PulseInterval time.Duration
	// OnState, if set, is called with the reason when the store cannot write any more, and with nil when it can again. It must not call
	// the store.
	OnState func(reason error)
	// OnCommit, if set, is called after each script that wrote, with how many changes it made and how long it took: it must not wait.
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
	admitted atomic.Bool // what the database holds is known, and ours

	gate   store.Gate
	stop   context.CancelFunc // ends what runs beside the calls
	beside sync.WaitGroup
}

var _ store.Store = (*Store)(nil)

// Open connects to the server, and makes an empty database one of this layout, unless a store must exist.
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

// Warnings are what an operator should know of how the servers are set.
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

// check is what a call checks that asks for nothing.
func (s *Store) check(ctx context.Context) error {
	if err := s.gate.Enter(ctx); err != nil {
		return err
	}
	s.gate.Leave()
	return nil
}
