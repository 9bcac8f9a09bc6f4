package postgres

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestStore_RoundTrips is the bar: one for each call that a turn is made of. The first use of a statement by a connection prepares it.
func TestStore_RoundTrips(t *testing.T) {
	t.Parallel()
	p := dbtest.SharedPostgres(t)
	b := dbtest.StartBouncer(t, p)
	for name, o := range map[string]Options{
		"direct": {DSN: p.DSN}, "describe": {DSN: b.DSN, ExecMode: CacheDescribe}, "exec": {DSN: b.DSN, ExecMode: Exec},
		"simple": {DSN: b.DSN, ExecMode: Simple},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var trips atomic.Int64
			o.PoolSize, o.OnTrip, o.Schema = 1, func() { trips.Add(1) }, schemaOf(t.Name())
			s := opened(t, o)
			k := newTalk(0)
			must(t, k.append(t.Context(), s))
			for _, c := range tripCases(t, s, k) {
				for range 2 {
					must(t, c.call())
				}
				before := trips.Load()
				must(t, c.call())
				if n := trips.Load() - before; n != c.trips {
					t.Errorf("%s takes %d round trips, and may take %d", c.name, n, c.trips)
				}
			}
		})
	}
}

type tripCase struct {
	name  string
	trips int64
	call  func() error
}

func tripCases(t *testing.T, s *Store, k *talk) []tripCase {
	ctx, n, epoch := context.Background(), 0, epochOf(t, s)
	commit := func(spoil func(*store.Change)) func() error {
		return func() error {
			n++
			c := k.appending()
			spoil(c)
			return k.commit(ctx, s, c)
		}
	}
	read := func(q func() store.Query) func() error {
		return func() error {
			_, err := s.Read(ctx, k.key, q())
			return err
		}
	}
	window := conversation.Range{End: 1 << 20}
	return []tripCase{
		{"append", 1, commit(func(*store.Change) {})},
		{"append with a request id", 1, commit(func(c *store.Change) {
			c.Outcome = &store.Outcome{Key: store.RequestKey{RPC: "Append", ID: string(rune('a' + n))}, Time: testTime()}
		})},
		{"append in an epoch", 1, commit(func(c *store.Change) { c.Head.Epoch = epoch })},
		{"build", 1, commit(func(c *store.Change) {
			c.Head.ManifestSeq++
			c.Head.EditSeq++
			c.Manifest = &conversation.Manifest{Seq: c.Head.ManifestSeq}
			c.Edits = []conversation.Edit{{Seq: c.Head.EditSeq, Kind: conversation.EditRemove, Range: conversation.Range{End: 1}, Commit: c.Head.Version}}
			c.Slots, c.DropManifests = map[string][]byte{"draft": nil, "usage": {1}}, c.Head.ManifestSeq-1
		})},
		{"build that a slot guards", 1, commit(func(c *store.Change) { c.ExpectSlots = map[string][]byte{"usage": {1}, "none": nil} })},
		{"lease", 1, func() error {
			return s.Commit(ctx, k.key, &store.Change{Aside: true, Head: k.head, Slots: map[string][]byte{"lease": {1}}})
		}},
		{"head", 1, read(func() store.Query { return store.Query{} })},
		{"not newer", 1, read(func() store.Query {
			return store.Query{IfNewer: k.head.Version, Ranges: []store.MessageRange{{Range: window}}}
		})},
		{"window", 1, read(func() store.Query {
			return store.Query{
				Info: true, Ranges: []store.MessageRange{{Range: window, Reverse: true, MaxTokens: 100}}, Manifest: &store.ManifestRange{Limit: 1},
				Edits: &store.EditRange{Of: []conversation.Range{window}}, Since: &store.Since{Limit: 10}, SlotsOf: "u",
				Request: &store.RequestKey{RPC: "Append", ID: "a"}, Contents: []store.ContentRange{{ID: k.head.Incarnation, Length: -1}},
			}
		})},
		{"list", 1, func() error { _, err := s.List(ctx, "default", "", 10); return err }},
		{"due", 1, func() error { _, err := s.Due(ctx, testTime(), 10); return err }},
		{"names", 1, func() error { _, err := s.Names(ctx, nil, 10); return err }},
		{"stage", 2, func() error {
			return s.Stage(ctx, k.key, &store.Upload{Incarnation: k.head.Incarnation, ID: k.head.Incarnation, Time: testTime(), Data: []byte("x")})
		}},
	}
}
