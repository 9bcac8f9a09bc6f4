package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// checkModel makes the same calls, drawn at random, on a back end and on the reference model, and compares all answers.
func checkModel(t *testing.T, open Factory, sequences int) {
	check := proptest.Check
	if sequences > 0 {
		check = func(t *testing.T, property func(*rapid.T)) { proptest.CheckN(t, sequences, property) }
	}
	check(t, func(rt *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		m := &machine{ctx: t.Context(), real: open(t, folder), model: memory.New(memory.Options{}), now: start()}
		defer func() { _, _ = m.real.Close(), m.model.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.compare,
			"append":  m.append,
			"create":  m.create,
			"bury":    m.bury,
			"stage":   m.stage,
			"upload":  m.upload,
			"release": m.release,
			"erase":   m.erase,
			"lease":   m.lease,
			"delete":  m.delete,
			"read":    m.read,
			"tick": func(rt *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(1, 50).Draw(rt, "minutes")) * time.Minute)
			},
			"again": func(rt *rapid.T) {
				if m.real.Durability() == store.DurabilityNone {
					return
				}
				if err := m.real.Close(); err != nil {
					rt.Fatal(err)
				}
				m.real = open(t, folder)
			},
		})
	})
}

// machine holds the two stores. Names and ids are few, so that calls meet.
type machine struct {
	ctx         context.Context
	real, model store.Store
	now         time.Time
}

func drawKey(rt *rapid.T) store.Key {
	return store.Key{
		Namespace:    rapid.SampledFrom([]string{"", "n", "n\x00"}).Draw(rt, "namespace"),
		Conversation: rapid.SampledFrom([]string{"", "a", "a\xff", "b"}).Draw(rt, "conversation"),
	}
}

func drawID(rt *rapid.T, label string) conversation.ID {
	return conversation.ID{byte(rapid.IntRange(1, 5).Draw(rt, label)), 15: 0xff}
}

func kindOf(err error) error {
	for _, known := range []error{store.ErrNotFound, store.ErrConflict, store.ErrInvalid, store.ErrCorrupt, store.ErrSealed, store.ErrClosed} {
		if errors.Is(err, known) {
			return known
		}
	}
	return err
}

// same fails unless both stores failed in the same way, or not at all.
func same(rt *rapid.T, call string, got, want error) {
	rt.Helper()
	if g, w := kindOf(got), kindOf(want); g != w { //nolint:errorlint // both are sentinels, or faults that must not be
		rt.Fatalf("%s: got error %v, wanted %v", call, got, want)
	}
}

func equal(rt *rapid.T, call string, got, want any) {
	rt.Helper()
	if reflect.DeepEqual(got, want) {
		return // the common case, and much faster
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("%s: wanted (-), got (+):\n%s", call, diff)
	}
}

// head is what the key leads to.
func (m *machine) head(key store.Key) store.Head {
	snap, err := m.model.Read(m.ctx, key, store.Query{})
	if err != nil {
		return store.Head{}
	}
	return snap.Head
}

func (m *machine) commit(rt *rapid.T, key store.Key, c *store.Change) {
	want := m.model.Commit(m.ctx, key, c)
	same(rt, fmt.Sprintf("commit %q %d", key, c.Expect), m.real.Commit(m.ctx, key, c), want)
}

// next is a change on top of what the key leads to, with a due time and slots.
func (m *machine) next(rt *rapid.T, key store.Key) *store.Change {
	c := &store.Change{Head: m.head(key)}
	if c.Head.Incarnation.IsZero() {
		c.Head.Incarnation = drawID(rt, "incarnation")
	}
	c.Expect = c.Head.Version
	c.Head.Version++
	c.Head.UpdateTime = m.now
	if rapid.Bool().Draw(rt, "due") {
		c.Head.NextDue = m.now.Add(time.Duration(rapid.IntRange(-60, 60).Draw(rt, "in")) * time.Minute)
	}
	if rapid.IntRange(0, 9).Draw(rt, "stale") == 0 {
		c.Expect, c.Head.Version = c.Expect+1, c.Head.Version+1
	}
	for range rapid.IntRange(0, 2).Draw(rt, "slots") {
		if c.Slots == nil {
			c.Slots = make(map[string][]byte)
		}
		name := rapid.SampledFrom([]string{"s", "s/1", "s/2", "t"}).Draw(rt, "slot")
		c.Slots[name] = rapid.SampledFrom([][]byte{nil, {}, []byte("v"), []byte("w")}).Draw(rt, "value")
	}
	return c
}

func (m *machine) append(rt *rapid.T) {
	key := drawKey(rt)
	c := m.next(rt, key)
	for range rapid.IntRange(0, 3).Draw(rt, "messages") {
		say(c, int32(rapid.IntRange(0, 5).Draw(rt, "tokens")))
		adornMessage(rt, &c.Messages[len(c.Messages)-1])
	}
	for range rapid.IntRange(0, 3).Draw(rt, "edits") {
		first := int32(rapid.IntRange(0, 6).Draw(rt, "first"))
		kind := conversation.EditKind(rapid.IntRange(1, 8).Draw(rt, "kind"))
		edit(c, kind, first, first+int32(rapid.SampledFrom([]int{1, 1, 1, 0, 2, 4}).Draw(rt, "length")))
		adornEdit(rt, &c.Edits[len(c.Edits)-1])
	}
	if rapid.Bool().Draw(rt, "build") {
		build(c)
		c.Manifest.Window.Restored = int64(rapid.IntRange(0, 2).Draw(rt, "restored"))
		c.Head.SeenBefore, c.Head.Seen = c.Head.Seen, c.Head.Messages
		c.DropManifests = int64(rapid.IntRange(0, 3).Draw(rt, "keep"))
	}
	if rapid.Bool().Draw(rt, "request") {
		id := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(rt, "id")
		c.Outcome = &store.Outcome{Key: store.RequestKey{RPC: "r", ID: id}, Time: m.now, Revision: c.Head.Revision}
	}
	if rapid.IntRange(0, 4).Draw(rt, "sweep") == 0 {
		c.DropOutcomes = m.now.Add(-time.Hour)
	}
	m.commit(rt, key, c)
}

// create begins an incarnation: over nothing, over a tombstone, over the living; staged or not; known or not.
func (m *machine) create(rt *rapid.T) {
	key := drawKey(rt)
	c := m.next(rt, key)
	id := drawID(rt, "incarnation")
	c.Head = store.Head{Incarnation: id, Version: c.Head.Version, UpdateTime: m.now, NextDue: c.Head.NextDue}
	c.Head.Messages = int32(rapid.IntRange(0, 1).Draw(rt, "staged"))
	c.Info = &store.Info{Title: fmt.Sprint(m.now), Policy: drawPolicy(rt)}
	m.commit(rt, key, c)
}

func (m *machine) bury(rt *rapid.T) {
	key := drawKey(rt)
	c := m.next(rt, key)
	c.Head.State = store.Deleted
	m.commit(rt, key, c)
}

func (m *machine) stage(rt *rapid.T) {
	key, u := drawKey(rt), &store.Upload{Incarnation: drawID(rt, "incarnation"), Time: m.now}
	if rapid.Bool().Draw(rt, "current") {
		u.Incarnation = m.head(key).Incarnation
	}
	if rapid.Bool().Draw(rt, "content") {
		u.ID = drawID(rt, "content id")
		u.Data = []byte(rapid.SampledFrom([]string{"", "x", "yy"}).Draw(rt, "data"))
	}
	if rapid.Bool().Draw(rt, "records") {
		index := int32(rapid.IntRange(0, 2).Draw(rt, "index"))
		u.Messages = []conversation.Message{{Index: index, Tokens: 3}}
		adornMessage(rt, &u.Messages[0])
		u.Edits = []conversation.Edit{{Seq: int64(index) + 1, Kind: conversation.EditRemove, Range: conversation.Range{End: 1}}}
	}
	if rapid.Bool().Draw(rt, "moved") {
		u.Outcomes = []store.Outcome{{Key: store.RequestKey{RPC: "r", ID: rapid.SampledFrom([]string{"1", "4"}).Draw(rt, "id")}, Time: m.now}}
		u.Slots = map[string][]byte{"s/2": []byte("v")}
	}
	want := m.model.Stage(m.ctx, key, u)
	same(rt, "stage", m.real.Stage(m.ctx, key, u), want)
}

func (m *machine) upload(rt *rapid.T) {
	key := drawKey(rt)
	c := m.next(rt, key)
	c.Uploads = []conversation.ID{drawID(rt, "content id")}
	m.commit(rt, key, c)
}

func (m *machine) release(rt *rapid.T) {
	key := drawKey(rt)
	c := m.next(rt, key)
	c.Release = []conversation.ID{drawID(rt, "content id")}
	m.commit(rt, key, c)
}

func (m *machine) lease(rt *rapid.T) {
	key := drawKey(rt)
	values := [][]byte{nil, {}, []byte("v"), []byte("w")}
	c := &store.Change{
		Aside: true, Head: store.Head{Incarnation: m.head(key).Incarnation},
		Slots:       map[string][]byte{"s": rapid.SampledFrom(values).Draw(rt, "value")},
		ExpectSlots: map[string][]byte{"s": rapid.SampledFrom(values).Draw(rt, "expected")},
	}
	m.commit(rt, key, c)
}

// delete goes on until all is gone: how much one step takes is a back end's own matter.
func (m *machine) delete(rt *rapid.T) {
	key := drawKey(rt)
	d := store.Deletion{Incarnation: drawID(rt, "incarnation"), Limit: rapid.IntRange(0, 3).Draw(rt, "limit")}
	if rapid.Bool().Draw(rt, "one upload") {
		d.Upload = drawID(rt, "content id")
	}
	d.KeepHead = rapid.Bool().Draw(rt, "keep")
	snap, err := m.model.Read(m.ctx, key, store.Query{Incarnation: d.Incarnation})
	if err != nil && d.Upload.IsZero() && !m.dueAs(key, d.Incarnation) {
		return // the contract asks for the key that goes with the incarnation
	}
	if err == nil && snap.Head.Version == 0 {
		d.KeepHead = false
	}
	same(rt, "delete", drain(m.ctx, m.real, key, d), drain(m.ctx, m.model, key, d))
}

func (m *machine) dueAs(key store.Key, id conversation.ID) bool {
	tasks, _ := m.model.Due(m.ctx, m.now.AddDate(1, 0, 0), 1000)
	return slices.ContainsFunc(tasks, func(t store.Task) bool { return t.Key == key && t.Incarnation == id })
}

func drain(ctx context.Context, s store.Store, key store.Key, d store.Deletion) error {
	for range 1000 {
		if done, err := s.Delete(ctx, key, d); done || err != nil {
			return err
		}
	}
	return errors.New("no end")
}

func (m *machine) read(rt *rapid.T) {
	small := func(label string) int { return rapid.IntRange(0, 6).Draw(rt, label) }
	first := int32(small("first"))
	q := store.Query{
		Info: rapid.Bool().Draw(rt, "info"), IfNewer: uint64(small("newer")),
		Ranges: []store.MessageRange{{
			Range: conversation.Range{First: first, End: first + int32(small("length"))}, Limit: small("limit"),
			Reverse: rapid.Bool().Draw(rt, "reverse"), MaxTokens: int64(small("tokens")),
		}},
		Edits: &store.EditRange{After: int64(small("after")), Upto: int64(small("upto"))},
		Since: &store.Since{Version: uint64(small("version")), Limit: small("since")},
	}
	if rapid.Bool().Draw(rt, "of") {
		q.Edits.Of = []conversation.Range{{First: first, End: first + 2}}
	}
	if rapid.Bool().Draw(rt, "demand") {
		q.Incarnation = drawID(rt, "incarnation")
		q.Since = nil // staged records come in any order
	}
	key := drawKey(rt)
	if !m.ordered(key) {
		q.Since = nil
	}
	m.ask(rt, key, q)
}

// ordered says whether the logs are as Since may expect them: what is staged at random has holes, and commits that fall.
func (m *machine) ordered(key store.Key) bool {
	snap, err := m.model.Read(m.ctx, key, everything())
	if err != nil {
		return true
	}
	for i := range snap.Messages {
		if snap.Messages[i].Index != int32(i) || i > 0 && snap.Messages[i].Commit < snap.Messages[i-1].Commit {
			return false
		}
	}
	for i := range snap.Edits {
		if snap.Edits[i].Seq != int64(i)+1 || i > 0 && snap.Edits[i].Commit < snap.Edits[i-1].Commit {
			return false
		}
	}
	return true
}

func (m *machine) ask(rt *rapid.T, key store.Key, q store.Query) {
	want, wantErr := m.model.Read(m.ctx, key, q)
	got, err := m.real.Read(m.ctx, key, q)
	same(rt, fmt.Sprintf("read %q", key), err, wantErr)
	for _, snap := range []*store.Snapshot{want, got} {
		if snap != nil { // a back end has an order and an epoch of its own
			snap.Head.Epoch = ""
			slices.SortFunc(snap.Outcomes, func(a, b store.Outcome) int { return strings.Compare(a.Key.ID, b.Key.ID) })
		}
	}
	equal(rt, fmt.Sprintf("read %q", key), got, want)
	if want == nil {
		return
	}
	for i := range want.Contents {
		if (got.Contents[i] == nil) != (want.Contents[i] == nil) {
			rt.Fatalf("content %d is nil: %v, wanted %v", i, got.Contents[i] == nil, want.Contents[i] == nil)
		}
	}
}

// compare looks at everything there is.
func (m *machine) compare(rt *rapid.T) {
	q := everything()
	q.Request, q.SlotsOf = &store.RequestKey{RPC: "r", ID: "1"}, "s"
	q.Outcomes, q.Stored = &store.OutcomeRange{Limit: 10}, &store.StoredRange{Limit: 10}
	for i := range 5 {
		q.Contents = append(q.Contents, store.ContentRange{ID: conversation.ID{byte(i + 1), 15: 0xff}, Length: -1})
	}
	for _, namespace := range []string{"", "n", "n\x00"} {
		want, wantErr := m.model.List(m.ctx, namespace, "", 10)
		got, err := m.real.List(m.ctx, namespace, "", 10)
		same(rt, "list", err, wantErr)
		equal(rt, "list", got, want)
		for _, id := range []string{"", "a", "a\xff", "b"} {
			m.ask(rt, store.Key{Namespace: namespace, Conversation: id}, q)
		}
	}
	m.compareNames(rt)
	want, wantErr := m.model.Due(m.ctx, m.now, 1000)
	got, err := m.real.Due(m.ctx, m.now, 1000)
	same(rt, "due", err, wantErr)
	slices.SortStableFunc(got, store.Task.Compare)
	slices.SortStableFunc(want, store.Task.Compare)
	equal(rt, "due", got, want)
}

func (m *machine) compareNames(rt *rapid.T) {
	want, wantErr := m.model.Names(m.ctx, nil, 100)
	got, err := m.real.Names(m.ctx, nil, 100)
	same(rt, "names", err, wantErr)
	equal(rt, "names", sortKeys(got), sortKeys(want))
}
