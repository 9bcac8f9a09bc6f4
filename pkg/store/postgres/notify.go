package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

const (
	// gather is how long commits are gathered before other processes are told about them.
	gather = 5 * time.Millisecond
	// tellMost is how many numbers fit into one payload of 8000 bytes.
	tellMost   = 400
	tellWithin = 2 * time.Second
	redial     = time.Second
)

// teller tells other processes about commits, and listens for theirs. It sends numbers, which are hashes of names. A nil teller does
// nothing.
type teller struct {
	s       *Store
	config  *pgx.ConnConfig
	channel string
	kick    chan struct{}

	mu      sync.Mutex
	pending map[int64]bool
}

func newTeller(s *Store, config *pgx.ConnConfig) *teller {
	return &teller{
		s: s, config: config, channel: "palimpsest_" + strconv.FormatUint(uint64(lockOf("channel", s.options.Schema)), 36),
		kick: make(chan struct{}, 1), pending: make(map[int64]bool),
	}
}

func told(key store.Key) int64 { return lockOf("told", key.Namespace, key.Conversation) }

// tell tells other processes about a commit, soon.
func (t *teller) tell(key store.Key) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending[told(key)] = true
	t.again()
}

// again makes run look once more. It never blocks, because its caller may hold what run needs.
func (t *teller) again() {
	select {
	case t.kick <- struct{}{}:
	default:
	}
}

func (t *teller) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for n := range t.pending {
		if len(out) == tellMost {
			t.again()
			break
		}
		out = append(out, strconv.FormatUint(uint64(n), 16))
		delete(t.pending, n)
	}
	return out
}

// run tells about commits after they were made. A process that misses a message finds the commit by polling.
func (t *teller) run(run context.Context) {
	for {
		select {
		case <-run.Done():
			return
		case <-t.kick:
		}
		_ = store.Pause(run, gather)
		if numbers := t.take(); len(numbers) > 0 {
			_ = t.notify(run, strings.Join(numbers, " "))
		}
	}
}

// notify sends a payload without waiting for a disk: the commits are durable already.
func (t *teller) notify(run context.Context, payload string) error {
	ctx, cancel := context.WithTimeout(run, tellWithin)
	defer cancel()
	b := &pgx.Batch{}
	b.Queue("BEGIN")
	b.Queue("SET LOCAL synchronous_commit = off")
	b.Queue("SELECT pg_notify($1::text, $2::text)", t.channel, payload)
	b.Queue("COMMIT")
	return t.s.ask(ctx, b)
}

// listen receives what other processes tell, and reconnects when the connection breaks.
func (t *teller) listen(run context.Context) {
	for run.Err() == nil {
		_ = t.hear(run)
		t.s.poller.listening.Store(false)
		_ = store.Pause(run, redial)
	}
}

func (t *teller) hear(run context.Context) error {
	conn, err := pgx.ConnectConfig(run, t.config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(run)) }()
	if _, err := conn.Exec(run, fmt.Sprintf("LISTEN %s", pgx.Identifier{t.channel}.Sanitize())); err != nil {
		return err
	}
	t.s.poller.listening.Store(true)
	for {
		n, err := conn.WaitForNotification(run)
		if err != nil {
			return err
		}
		t.s.poller.heard(strings.Fields(n.Payload))
	}
}

// heard wakes callers who wait for conversations that another process told about.
func (p *poller) heard(numbers []string) {
	heard := make(map[int64]bool, len(numbers))
	for _, text := range numbers {
		if n, err := strconv.ParseUint(text, 16, 64); err == nil {
			heard[int64(n)] = true
		}
	}
	waited, _ := p.waits.Keys()
	for key := range waited {
		if heard[told(key)] {
			p.s.wakes.Wake(key)
		}
	}
}
