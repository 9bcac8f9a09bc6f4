package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Stage implements store.Store.
func (s *Store) Stage(ctx context.Context, key store.Key, u *store.Upload) error {
	if err := s.gate.Enter(ctx, key); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := u.Check(); err != nil {
		return err
	}
	p := &piece{s: s, key: key, u: u}
	p.encode()
	return s.held(ctx, key, func(t *tx) error { return s.stage(t, p) })
}

// held runs a transaction that holds a name, once it is this call's turn: a transaction that waits for a name in the server
// occupies a connection.
func (s *Store) held(ctx context.Context, key store.Key, run func(*tx) error) error {
	done, err := s.turn(ctx, key)
	if err != nil {
		return err
	}
	defer done()
	return s.retried(func() error { return s.holding(ctx, key, run) })
}

func (s *Store) holding(ctx context.Context, key store.Key, run func(*tx) error) error {
	return s.onConnection(ctx, s.options.CommitTimeout, func(ctx context.Context, conn *pgx.Conn) error {
		t := s.hold(ctx, conn, key)
		defer t.end() //nolint:contextcheck // it outlives the deadline of what it undoes
		return run(t)
	})
}

// piece is a piece of an upload that was encoded before it waits for anything.
type piece struct {
	s       *Store
	key     store.Key
	u       *store.Upload
	chunk   []byte
	records statement
}

func (p *piece) encode() {
	s, u := p.s, p.u
	p.records.putMessages(s.rowsOf(u.Messages), true)
	s.putEdits(&p.records, u.Edits)
	s.putManifests(&p.records, u.Manifests)
	s.putOutcomes(&p.records, u.Outcomes)
	s.putSlots(&p.records, u.Slots)
	if !u.ID.IsZero() {
		p.chunk = s.codec.EncodeChunk(u.Data)
	}
}

func (s *Store) stage(t *tx, p *piece) error {
	var f stageable
	f.look(t, p)
	if err := t.send(); err != nil {
		return s.fault(err, false)
	}
	if err := f.rule(p); err != nil {
		return err
	}
	t.write(p.statement(f.named != nil))
	return s.fault(t.commit(), true)
}

// stageable is what a piece is checked against.
type stageable struct {
	head    *store.Head // head that the name leads to
	named   *store.Key  // name that leads to the incarnation
	staged  *place
	content *content
}

type content struct{ referred, dying bool }

func (f *stageable) look(t *tx, p *piece) {
	id := p.u.Incarnation[:]
	t.head(p.key, &f.head)
	t.place(id, &f.staged)
	t.named(id, &f.named)
	t.content(id, p.u.ID[:], &f.content)
}

// named asks for the name that leads to an incarnation.
func (t *tx) named(id []byte, into **store.Key) {
	t.each(`SELECT namespace, conversation FROM {s}.conversations WHERE incarnation = $1::bytea`, func(rows pgx.Rows) error {
		key, err := scanKey(rows)
		*into = &key
		return err
	}, id)
}

func (t *tx) content(id, upload []byte, into **content) {
	t.each(`SELECT due IS NULL, dying FROM {s}.contents WHERE incarnation = $1::bytea AND content = $2::bytea`, func(rows pgx.Rows) error {
		*into = &content{}
		return rows.Scan(&(*into).referred, &(*into).dying)
	}, id, upload)
}

func (f *stageable) rule(p *piece) error {
	switch {
	case f.staged != nil && f.staged.dying:
		return fmt.Errorf("%w: the incarnation is being deleted", store.ErrNotFound)
	case f.staged != nil && !f.staged.staged, f.named != nil && *f.named != p.key:
		return fmt.Errorf("%w: the key does not lead to the incarnation", store.ErrNotFound)
	case f.staged != nil && f.staged.key != p.key:
		return fmt.Errorf("%w: the incarnation is another conversation's", store.ErrConflict)
	case f.named != nil && f.head.State == store.Deleted:
		return fmt.Errorf("%w: the incarnation is deleted", store.ErrNotFound)
	case f.named != nil && p.u.Records():
		return fmt.Errorf("%w: the incarnation has a head", store.ErrConflict)
	case f.content != nil && f.content.dying:
		return fmt.Errorf("%w: the upload is being deleted", store.ErrNotFound)
	case f.named != nil && f.content != nil && f.content.referred:
		return fmt.Errorf("%w: a commit refers to the upload", store.ErrConflict)
	default:
		return nil
	}
}

// statement writes the piece: to an incarnation that a name leads to, or to one that is staged as a whole.
func (p *piece) statement(named bool) *statement {
	w, u := &statement{}, p.u
	due := nanos(u.Time.Add(store.UploadGrace))
	namespace, name := []byte(p.key.Namespace), []byte(p.key.Conversation)
	var waits *int64 // when the content by itself is due
	if named {
		w.add(knownSQL, u.Incarnation[:])
		waits = &due
	} else {
		w.add(stagedSQL, u.Incarnation[:], namespace, name, due)
	}
	if p.chunk != nil {
		w.add(contentSQL, u.ID[:], namespace, name, waits)
		w.add(chunkSQL, u.ID[:], u.Chunk, p.chunk)
	}
	w.join(&p.records)
	return w
}
