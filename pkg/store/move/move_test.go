package move_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store/move"
)

var (
	ctx   = context.Background()
	start = time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func id(n int) (id conversation.ID) {
	binary.BigEndian.PutUint64(id[:], uint64(n)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

// filled is a store with conversations of all kinds: long, deleted, purged, begun anew, with contents, request ids, slots, odd names.
func filled(t testing.TB) *memory.Store {
	t.Helper()
	s := memory.New(memory.Options{})
	keys := []store.Key{{}, {Namespace: "n"}, {Namespace: "n", Conversation: "a"}, {Namespace: "n", Conversation: "\x00\xff"}, {Namespace: "\xff", Conversation: "b"}}
	for i := range 290 {
		keys = append(keys, store.Key{Namespace: "many", Conversation: fmt.Sprint(i)})
	}
	for i, key := range keys {
		converse(t, s, key, 1000*(i+1), []int{0, 3, 700, 20, 1}[min(i, 4)])
	}
	bury(t, s, keys[3], false)
	bury(t, s, keys[4], true)
	return s
}

// converse puts a conversation on record in commits of several messages.
func converse(t testing.TB, s store.Store, key store.Key, n, messages int) {
	t.Helper()
	draw := rand.New(rand.NewPCG(uint64(n), 1))
	head := store.Head{Incarnation: id(n), Request: -1, CreateTime: start, UpdateTime: start, NextDue: start.Add(time.Duration(n) * time.Hour)}
	for commit := 0; commit <= messages/100; commit++ {
		c := &store.Change{Expect: head.Version, Head: head}
		c.Head.Version++
		if commit == 0 {
			c.Info = &store.Info{Title: key.Conversation, Counter: "o200k", Metadata: `{"a":1}`}
		}
		for range min(messages-int(head.Messages), 100) {
			c.Messages = append(c.Messages, message(&c.Head, strings.Repeat("word ", draw.IntN(50))))
		}
		for range min(messages, 50) {
			c.Head.EditSeq++
			c.Edits = append(c.Edits, conversation.Edit{Seq: c.Head.EditSeq, Kind: conversation.EditRemove, Range: conversation.Range{First: 1, End: 2}, Commit: c.Head.Version, Time: start})
		}
		c.Head.ManifestSeq++
		c.Manifest = &conversation.Manifest{Seq: c.Head.ManifestSeq, Model: "m"}
		c.Outcome = &store.Outcome{Key: store.RequestKey{RPC: "r", ID: fmt.Sprint(commit)}, Time: start}
		c.Slots = map[string][]byte{"": {1}, fmt.Sprintf("s/%d", commit): {}, "t": []byte("value")}
		content, orphan := id(n+1+2*commit), id(n+2+2*commit)
		data := strings.Repeat("x", []int{0, 5, store.ChunkBytes, store.ChunkBytes + 1}[commit%4])
		stage(t, s, key, head.Incarnation, content, data)
		stage(t, s, key, head.Incarnation, orphan, "nobody refers to it")
		if head.Version > 0 {
			c.Uploads = []conversation.ID{content}
		}
		must(t, s.Commit(ctx, key, c))
		head = c.Head
	}
}

func message(head *store.Head, text string) conversation.Message {
	m := conversation.Message{
		ID: fmt.Sprint(head.Messages), Index: head.Messages, Role: conversation.RoleUser, Tokens: int32(len(text) / 4), CreateTime: start, Commit: head.Version,
		Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: text}}},
	}
	head.Messages++
	head.Tokens += int64(m.Tokens)
	return m
}

func stage(t testing.TB, s store.Store, key store.Key, incarnation, content conversation.ID, data string) {
	t.Helper()
	for chunk := int32(0); chunk == 0 || data != ""; chunk++ {
		piece := data[:min(len(data), store.ChunkBytes)]
		must(t, s.Stage(ctx, key, &store.Upload{Incarnation: incarnation, Time: start, ID: content, Chunk: chunk, Data: []byte(piece)}))
		data = data[len(piece):]
	}
}

// bury deletes a conversation, and purges it or begins it anew.
func bury(t testing.TB, s store.Store, key store.Key, anew bool) {
	t.Helper()
	snap, err := s.Read(ctx, key, store.Query{})
	must(t, err)
	head := snap.Head
	head.Version, head.State = head.Version+1, store.Deleted
	must(t, s.Commit(ctx, key, &store.Change{Expect: snap.Head.Version, Head: head}))
	if anew {
		begun := store.Head{Incarnation: id(7), Version: head.Version + 1, UpdateTime: start}
		must(t, s.Commit(ctx, key, &store.Change{Expect: head.Version, Head: begun}))
		return
	}
	for done := false; !done; {
		done, err = s.Delete(ctx, key, store.Deletion{Incarnation: head.Incarnation, KeepHead: true})
		must(t, err)
	}
}

// same compares all that can be read of two stores, in other words than the copy does.
func same(t testing.TB, got, want store.Store) {
	t.Helper()
	keys := names(t, want)
	if diff := cmp.Diff(keys, names(t, got)); diff != "" {
		t.Fatalf("names:\n%s", diff)
	}
	for _, key := range keys {
		w, g := whole(t, want, key), whole(t, got, key)
		w.Head.Epoch, g.Head.Epoch = "", ""
		if diff := differ(w, g); diff != "" {
			t.Fatalf("%q:\n%s", key, diff)
		}
	}
}

// differ says how two snapshots differ. Most do not: finding that out is most of what these tests do.
func differ(want, got *store.Snapshot) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

func names(t testing.TB, s store.Store) []store.Key {
	t.Helper()
	keys, err := s.Names(ctx, nil, 1<<20)
	must(t, err)
	slices.SortFunc(keys, func(a, b store.Key) int {
		return strings.Compare(a.Namespace+"\x01"+a.Conversation, b.Namespace+"\x01"+b.Conversation)
	})
	return keys
}

func whole(t testing.TB, s store.Store, key store.Key) *store.Snapshot {
	t.Helper()
	q := store.Query{
		Info: true, Ranges: []store.MessageRange{{Range: conversation.Range{End: 1 << 30}}}, Edits: &store.EditRange{}, AllSlots: true,
		Manifest: &store.ManifestRange{Limit: 1000}, Outcomes: &store.OutcomeRange{Limit: 1000}, Stored: &store.StoredRange{Limit: 1000},
	}
	snap, err := s.Read(ctx, key, q)
	must(t, err)
	for _, content := range snap.Stored {
		q.Contents = append(q.Contents, store.ContentRange{ID: content, Length: -1})
	}
	snap, err = s.Read(ctx, key, q)
	must(t, err)
	slices.SortFunc(snap.Outcomes, func(a, b store.Outcome) int { return strings.Compare(a.Key.ID, b.Key.ID) })
	return snap
}

func TestCopy_ThereAndBack_IsTheSame(t *testing.T) {
	t.Parallel()
	from := filled(t)
	file, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	must(t, err)
	defer file.Close()
	report, err := move.Copy(ctx, from, file, move.Options{})
	must(t, err)
	same(t, file, from)
	if report.Names != 295 || report.Present != 0 || report.Messages == 0 || report.Contents == 0 {
		t.Errorf("%+v", report)
	}
	if err := from.Commit(ctx, store.Key{Namespace: "n"}, &store.Change{Head: store.Head{Incarnation: id(9), Version: 1}}); !errors.Is(err, store.ErrSealed) {
		t.Errorf("the source takes commits: %v", err)
	}
	back := memory.New(memory.Options{})
	_, err = move.Copy(ctx, file, back, move.Options{})
	must(t, err)
	same(t, back, from)
	again, err := move.Copy(ctx, file, back, move.Options{})
	must(t, err)
	if again.Present != report.Names || again.Bytes != report.Bytes {
		t.Errorf("again: %+v after %+v", again, report)
	}
	must(t, from.Seal(ctx, false))
	dueOf := func(s store.Store) []store.Task {
		tasks, err := s.Due(ctx, start.AddDate(300, 0, 0), 1<<20)
		must(t, err)
		return slices.DeleteFunc(tasks, func(task store.Task) bool { return !task.Upload.IsZero() || task.Incarnation == id(5000) }) // what stays behind
	}
	if diff := cmp.Diff(dueOf(from), dueOf(back)); diff != "" {
		t.Errorf("due:\n%s", diff)
	}
}

// breaking is a target that fails now and then.
type breaking struct {
	store.Store
	left atomic.Int64
}

var errBroken = errors.New("broken")

func (b *breaking) Stage(ctx context.Context, key store.Key, u *store.Upload) error {
	if b.left.Add(-1) < 0 {
		return errBroken
	}
	return b.Store.Stage(ctx, key, u)
}

func (b *breaking) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	if b.left.Add(-1) < 0 {
		return errBroken
	}
	return b.Store.Commit(ctx, key, c)
}

func TestCopy_Interrupted_GoesOn(t *testing.T) {
	t.Parallel()
	from, to := filled(t), memory.New(memory.Options{})
	for tries := 0; ; tries++ {
		target := &breaking{Store: to}
		target.left.Store(97)
		_, err := move.Copy(ctx, from, target, move.Options{})
		if err == nil && tries > 10 {
			break
		}
		if !errors.Is(err, errBroken) || tries > 1000 {
			t.Fatalf("try %d: %v", tries, err)
		}
	}
	same(t, to, from)
}

// lying is a target that loses something.
type lying struct{ store.Store }

func (l *lying) Stage(ctx context.Context, key store.Key, u *store.Upload) error {
	if len(u.Edits) > 0 {
		return nil
	}
	return l.Store.Stage(ctx, key, u)
}

func TestCopy_TargetLosesSomething_IsNoticed(t *testing.T) {
	t.Parallel()
	_, err := move.Copy(ctx, filled(t), &lying{memory.New(memory.Options{})}, move.Options{})
	if !errors.Is(err, move.ErrDiffers) {
		t.Errorf("error is %v", err)
	}
}

func TestCopy_TargetHoldsAnother_IsRefused(t *testing.T) {
	t.Parallel()
	to := memory.New(memory.Options{})
	converse(t, to, store.Key{Namespace: "n", Conversation: "a"}, 77, 1)
	_, err := move.Copy(ctx, filled(t), to, move.Options{})
	if !errors.Is(err, move.ErrDiffers) || strings.Contains(err.Error(), `"a"`) {
		t.Errorf("error is %v", err)
	}
}

// busy is a source that is written to between two reads.
type busy struct {
	store.Store
	t     testing.TB
	every int
	mu    sync.Mutex
	reads int
}

func (b *busy) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reads++; b.reads%b.every == 0 {
		snap, err := b.Store.Read(ctx, key, store.Query{})
		must(b.t, err)
		if snap.Head.State == store.Live {
			c := &store.Change{Expect: snap.Head.Version, Head: snap.Head, Slots: map[string][]byte{"t": nil}, DropManifests: snap.Head.ManifestSeq}
			c.Head.Version++
			c.Messages = append(c.Messages, message(&c.Head, "more"))
			must(b.t, b.Store.Commit(ctx, key, c))
		}
	}
	return b.Store.Read(ctx, key, q)
}

func TestCopy_Online_EachAsItWasAtOneMoment(t *testing.T) {
	t.Parallel()
	from, to := filled(t), memory.New(memory.Options{})
	_, err := move.Copy(ctx, &busy{Store: from, t: t, every: 41}, to, move.Options{Online: true})
	must(t, err)
	for _, key := range names(t, to) {
		snap := whole(t, to, key)
		if snap.Head.State == store.Live && len(snap.Messages) != int(snap.Head.Messages) {
			t.Errorf("%q: %d messages of %d", key, len(snap.Messages), snap.Head.Messages)
		}
		if q, err := from.Read(ctx, key, store.Query{IfNewer: snap.Head.Version}); err == nil && q.Head.Version == snap.Head.Version {
			if diff := differ(whole(t, from, key), snap); diff != "" {
				t.Errorf("%q:\n%s", key, diff)
			}
		}
	}
}

// hook does something before reads of a store and commits to it.
type hook struct {
	store.Store
	read   func(key store.Key, q store.Query)
	commit func(key store.Key, c *store.Change)
}

func (h *hook) Read(ctx context.Context, key store.Key, q store.Query) (*store.Snapshot, error) {
	if h.read != nil {
		h.read(key, q)
	}
	return h.Store.Read(ctx, key, q)
}

func (h *hook) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	if h.commit != nil {
		h.commit(key, c)
	}
	return h.Store.Commit(ctx, key, c)
}

var talk = store.Key{Namespace: "n", Conversation: "c"}

func purge(t testing.TB, s store.Store, key store.Key, incarnation conversation.ID) {
	t.Helper()
	for done := false; !done; {
		var err error
		done, err = s.Delete(ctx, key, store.Deletion{Incarnation: incarnation})
		must(t, err)
	}
}

// TestCopy_Online_BegunAnew_IsThere: an incarnation that goes while it is copied is no reason to leave out the one that follows.
func TestCopy_Online_BegunAnew_IsThere(t *testing.T) {
	t.Parallel()
	from, to := memory.New(memory.Options{}), memory.New(memory.Options{})
	converse(t, from, talk, 1000, 20)
	once := false
	_, err := move.Copy(ctx, &hook{Store: from, read: func(_ store.Key, q store.Query) {
		if q.Ranges == nil || once {
			return
		}
		once = true
		snap, err := from.Read(ctx, talk, store.Query{})
		must(t, err)
		bury(t, from, talk, true)
		purge(t, from, talk, snap.Head.Incarnation)
	}}, to, move.Options{Online: true})
	must(t, err)
	same(t, to, from)
}

// TestCopy_SweptInTheTarget_BeginsAgain: what was staged may be taken away before the head comes.
func TestCopy_SweptInTheTarget_BeginsAgain(t *testing.T) {
	t.Parallel()
	from, to := memory.New(memory.Options{}), memory.New(memory.Options{})
	converse(t, from, talk, 1000, 20)
	once := false
	_, err := move.Copy(ctx, from, &hook{Store: to, commit: func(key store.Key, c *store.Change) {
		if !once {
			once = true
			purge(t, to, key, c.Head.Incarnation)
		}
	}}, move.Options{Online: true})
	must(t, err)
	same(t, to, from)
}

// TestCopy_WrongTarget_SealsNothing: the source goes on where the target is itself, or takes no writes.
func TestCopy_WrongTarget_SealsNothing(t *testing.T) {
	t.Parallel()
	from, sealed := memory.New(memory.Options{}), memory.New(memory.Options{})
	converse(t, from, talk, 1000, 20)
	must(t, sealed.Seal(ctx, true))
	for want, to := range map[error]store.Store{move.ErrSame: from, store.ErrSealed: sealed} {
		if _, err := move.Copy(ctx, from, to, move.Options{}); !errors.Is(err, want) {
			t.Errorf("error is %v, want %v", err, want)
		}
	}
	converse(t, from, store.Key{Namespace: "n", Conversation: "d"}, 5000, 1)
	if tasks, err := from.Due(ctx, start.AddDate(300, 0, 0), 100); err != nil || slices.ContainsFunc(tasks, func(task store.Task) bool { return task.Staged }) {
		t.Errorf("something was left behind: %v %v", tasks, err)
	}
}

// TestCopy_Online_BusyConversation_IsToldLast: one that never rests keeps no other from being copied.
func TestCopy_Online_BusyConversation_IsToldLast(t *testing.T) {
	t.Parallel()
	from, to := filled(t), memory.New(memory.Options{})
	hot := store.Key{Namespace: "n", Conversation: "a"}
	var mu sync.Mutex
	report, err := move.Copy(ctx, &hook{Store: from, read: func(key store.Key, q store.Query) {
		if key != hot || q.Ranges == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		snap, err := from.Read(ctx, hot, store.Query{})
		must(t, err)
		c := &store.Change{Expect: snap.Head.Version, Head: snap.Head}
		c.Head.Version++
		must(t, from.Commit(ctx, hot, c))
	}}, to, move.Options{Online: true})
	if !errors.Is(err, move.ErrBusy) || report.Names != 294 {
		t.Errorf("%+v %v", report, err)
	}
}
