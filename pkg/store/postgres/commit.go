package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// attempts is how often a transaction is tried that the server undoes because of another one, or that never reached the server.
const attempts = 4

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	if err := s.gate.Enter(ctx, key); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := c.Check(); err != nil {
		return err
	}
	if tooLarge(c) {
		return fmt.Errorf("%w: a version above 2^63", store.ErrInvalid)
	}
	p := s.encode(key, c)
	done, err := s.turn(ctx, key)
	if err != nil {
		return err
	}
	defer done()
	start := time.Now()
	if err := s.retried(func() error { return s.commit(ctx, p) }); err != nil {
		return err
	}
	s.options.OnCommit(1, time.Since(start))
	s.wakes.Wake(key)
	s.teller.tell(key)
	return nil
}

// turn waits for earlier writers to the conversation.
func (s *Store) turn(ctx context.Context, key store.Key) (done func(), err error) {
	if done, ok := s.turns.Try(key); ok {
		return done, nil
	}
	waiting, cancel := within(ctx, s.options.CommitTimeout)
	defer cancel()
	done, err = s.turns.Wait(waiting, key)
	switch {
	case err == nil:
		return done, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	default:
		return nil, fmt.Errorf("%w: what writes to the conversation before it takes too long", store.ErrUnavailable)
	}
}

func (s *Store) retried(try func() error) error {
	var err error
	for range attempts {
		if err = try(); !errors.Is(err, errAgain) {
			break
		}
	}
	return err
}

func (s *Store) commit(ctx context.Context, p *change) error {
	return s.onConnection(ctx, s.options.CommitTimeout, func(ctx context.Context, conn *pgx.Conn) error {
		if p.follows() {
			if made, err := s.followOn(ctx, conn, p); made || err != nil {
				return s.fault(err, true)
			}
		}
		return s.decide(ctx, conn, p)
	})
}

// followOn tries to make the change in one round trip. made is false if that is not possible.
func (s *Store) followOn(ctx context.Context, conn *pgx.Conn, p *change) (made bool, err error) {
	w := p.follow(false)
	if !p.locks() {
		tag, err := conn.Exec(ctx, s.text(w), w.values()...)
		return tag.RowsAffected() > 0, unlessTaken(err)
	}
	b := &pgx.Batch{}
	b.Queue(s.sql(touchSQL))
	b.Queue(s.sql(lockRowSQL), []byte(p.key.Namespace), []byte(p.key.Conversation))
	b.Queue(s.text(w), w.values()...).Exec(func(tag pgconn.CommandTag) error {
		made = tag.RowsAffected() > 0
		return nil
	})
	return made, unlessTaken(conn.SendBatch(ctx, b).Close())
}

// unlessTaken ignores a unique violation: staged rows lie there, and decide overwrites them.
func unlessTaken(err error) error {
	if e := answer(err); e != nil && e.Code == codeUnique {
		return nil
	}
	return err
}

// decide makes the change by the rules of package store, in a transaction that holds the name.
func (s *Store) decide(ctx context.Context, conn *pgx.Conn, p *change) error {
	t := s.hold(ctx, conn, p.key)
	defer t.end() //nolint:contextcheck // it outlives the deadline of what it undoes
	var found found
	found.look(t, p)
	if err := t.send(); err != nil {
		return s.fault(err, false)
	}
	w, err := found.rule(p)
	if err != nil {
		return err
	}
	if want := p.c.Head.Epoch; want != "" {
		if epoch, err := s.askEpoch(ctx, conn, found.started); err != nil || epoch != want {
			return cmp.Or(s.fault(err, false), fmt.Errorf("%w: the server is of another epoch", store.ErrConflict))
		}
	}
	t.write(w)
	return s.fault(t.commit(), true)
}

// found is what a change is checked against.
type found struct {
	started time.Time   // start time of the server
	head    *store.Head // head that the name leads to; nil if it leads nowhere
	used    bool        // the incarnation has a head, under this name or another one
	staged  *place
	first   bool // message 0 of the incarnation exists
	uploads int
	slots   map[string][]byte
}

// place is an incarnation that no name leads to.
type place struct {
	key           store.Key
	staged, dying bool
	due           int64
}

func (f *found) look(t *tx, p *change) {
	id := p.c.Head.Incarnation[:]
	t.head(p.key, &f.head)
	t.place(id, &f.staged)
	t.ask(`SELECT pg_postmaster_start_time(), EXISTS (SELECT FROM {s}.conversations WHERE incarnation = $1::bytea),
 EXISTS (SELECT FROM {s}.messages WHERE incarnation = $1::bytea AND index = 0),
 (SELECT count(*) FROM {s}.contents WHERE incarnation = $1::bytea AND content = ANY($2::bytea[]) AND NOT dying)`,
		func(row pgx.Row) error { return row.Scan(&f.started, &f.used, &f.first, &f.uploads) }, id, idBytes(p.c.Uploads))
	if len(p.c.ExpectSlots) == 0 {
		return
	}
	f.slots = make(map[string][]byte)
	names := make([][]byte, 0, len(p.c.ExpectSlots))
	for name := range p.c.ExpectSlots {
		names = append(names, []byte(name))
	}
	t.each(`SELECT name, payload FROM {s}.slots WHERE incarnation = $1::bytea AND name = ANY($2::bytea[])`, func(rows pgx.Rows) error {
		var name, payload []byte
		if err := rows.Scan(&name, &payload); err != nil {
			return err
		}
		value, err := t.s.codec.DecodeSlot(payload)
		f.slots[string(name)] = value
		return err
	}, id, names)
}

// rule returns the statement that makes the change, or an error if it may not be made.
func (f *found) rule(p *change) (*statement, error) {
	begins, err := p.c.Against(f.head)
	if err != nil {
		return nil, err
	}
	if begins {
		if err := f.fresh(p); err != nil {
			return nil, err
		}
	}
	if f.uploads < len(idBytes(p.c.Uploads)) {
		return nil, fmt.Errorf("%w: an upload is gone", store.ErrNotFound)
	}
	if err := p.c.AgainstSlots(func(name string) ([]byte, error) { return f.slots[name], nil }); err != nil {
		return nil, err
	}
	if begins {
		return p.begin(f.head), nil
	}
	return p.withoutConditions(), nil
}

// fresh checks an incarnation that a change begins.
func (f *found) fresh(p *change) error {
	switch {
	case f.used, f.staged != nil && (!f.staged.staged || f.staged.key != p.key):
		return fmt.Errorf("%w: the incarnation was used before", store.ErrConflict)
	case f.staged != nil && f.staged.dying, p.c.Staged() && !f.first:
		return fmt.Errorf("%w: what was staged is gone", store.ErrNotFound)
	default:
		return nil
	}
}
