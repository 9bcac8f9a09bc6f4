package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	driver "github.com/redis/go-redis/v9"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/redis"
)

// talk is one conversation that a test appends to.
type talk struct {
	key  store.Key
	head store.Head
}

func newTalk(n int) *talk {
	return &talk{
		key: store.Key{Namespace: "n", Conversation: fmt.Sprint("c", n)},
		head: store.Head{
			Incarnation: conversation.ID{byte(n + 1), byte(n >> 8), 15: 1}, Request: -1, Opening: -1,
		},
	}
}

// next is a change that appends a message of some bytes.
func (k *talk) next(size int) *store.Change {
	c := &store.Change{Expect: k.head.Version, Head: k.head}
	c.Head.Version++
	text := make([]byte, size)
	for i, x := 0, k.head.Version+1; i < size; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		text[i] = byte(x)
	}
	c.Messages = []conversation.Message{{
		ID: fmt.Sprint(c.Head.Version), Index: c.Head.Messages, Tokens: 7, Commit: c.Head.Version,
		Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: string(text)}}},
	}}
	c.Head.Messages++
	return c
}

func (k *talk) append(ctx context.Context, s store.Store) error {
	c := k.next(10)
	err := s.Commit(ctx, k.key, c)
	if err == nil {
		k.head = c.Head
	}
	return err
}

func wants(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, wanted %v", err, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func closing(t *testing.T, s *redis.Store) *redis.Store {
	t.Helper()
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// states are what a store said of itself.
type states struct {
	mu  sync.Mutex
	now error
	n   int
}

func (s *states) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.n = err, s.n+1
}

func (s *states) await(t *testing.T, down bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		now := s.now
		s.mu.Unlock()
		if (now != nil) == down {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("state %v, wanted down: %v", now, down)
		}
	}
}

func eventually(t *testing.T, run func() error) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := run()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

func TestStore_ServerKilled_IsUnavailableAndComesBack(t *testing.T) {
	t.Parallel()
	r, seen := dbtest.StartRedis(t, "--appendfsync", "always"), &states{}
	s := closing(t, open(t, redis.Options{URL: "redis://" + r.Address, OnState: seen.set, PulseInterval: 50 * time.Millisecond}))
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	before, err := s.Read(t.Context(), k.key, store.Query{})
	must(t, err)
	r.Kill()
	seen.await(t, true)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err = s.Read(ctx, k.key, store.Query{})
	wants(t, err, store.ErrUnavailable)
	wants(t, k.append(ctx, s), store.ErrUnavailable)
	_, err = s.Due(ctx, time.Now(), 10)
	wants(t, err, store.ErrUnavailable)
	must(t, ctx.Err())
	must(t, r.Start())
	seen.await(t, false)
	after, err := s.Read(t.Context(), k.key, store.Query{})
	must(t, err)
	if after.Head.Epoch == before.Head.Epoch || after.Head.Epoch == "" || after.Head.Version != 1 {
		t.Errorf("after a restart: version %d in epoch %q, before: %q", after.Head.Version, after.Head.Epoch, before.Head.Epoch)
	}
	k.head.Epoch = before.Head.Epoch
	wants(t, k.append(t.Context(), s), store.ErrConflict) // it builds on what may be gone
	k.head.Epoch = after.Head.Epoch
	must(t, k.append(t.Context(), s))
}

func TestStore_ServerStopped_EndsWithinTheDeadline(t *testing.T) {
	t.Parallel()
	r, seen := dbtest.StartRedis(t), &states{}
	s := closing(t, open(t, redis.Options{
		URL: "redis://" + r.Address, OnState: seen.set, PulseInterval: 20 * time.Millisecond, DialTimeout: 200 * time.Millisecond, CallTimeout: time.Second,
	}))
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	r.Signal(syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := s.Read(ctx, k.key, store.Query{})
	wants(t, err, store.ErrUnavailable)
	if took := time.Since(began); took > 600*time.Millisecond {
		t.Errorf("a read with 100 ms took %v", took)
	}
	_, err = s.Read(t.Context(), k.key, store.Query{}) // without a deadline: the own bound
	wants(t, err, store.ErrUnavailable)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("a read without a deadline took %v", took)
	}
	if err := k.append(t.Context(), s); !errors.Is(err, store.ErrOutcomeUnknown) && !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a commit ends with %v", err)
	}
	seen.await(t, true)
	r.Signal(syscall.SIGCONT)
	seen.await(t, false)
	eventually(t, func() error { _, err := s.Read(t.Context(), k.key, store.Query{}); return err })
}

func TestStore_Commit_AnswerLost_IsUnknownAndSentOnce(t *testing.T) {
	t.Parallel()
	p := startProxy(t, dbtest.SharedRedis(t).Address)
	s := closing(t, open(t, redis.Options{URL: "redis://" + p.address, Prefix: prefixOf(t.Name())}))
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	sent := p.scripts.Load()
	p.cut.Store(true)
	wants(t, k.append(t.Context(), s), store.ErrOutcomeUnknown)
	if n := p.scripts.Load() - sent; n != 1 {
		t.Errorf("the script was sent %d times", n)
	}
	eventually(t, func() error {
		snap, err := s.Read(t.Context(), k.key, store.Query{})
		if err == nil && snap.Head.Version != 2 {
			err = fmt.Errorf("version %d", snap.Head.Version)
		}
		return err
	})
}

func TestStore_Commit_Begun_IsNotCutByItsCaller(t *testing.T) {
	t.Parallel()
	p := startProxy(t, dbtest.SharedRedis(t).Address)
	s := closing(t, open(t, redis.Options{URL: "redis://" + p.address, Prefix: prefixOf(t.Name())}))
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	p.late.Store(int64(300 * time.Millisecond))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	must(t, k.append(ctx, s))
	wants(t, ctx.Err(), context.DeadlineExceeded)
}

func TestStore_PoolExhausted_WaitsAndIsUnavailable(t *testing.T) {
	t.Parallel()
	p := startProxy(t, dbtest.SharedRedis(t).Address)
	seen := &states{}
	s := closing(t, open(t, redis.Options{
		URL: "redis://" + p.address, Prefix: prefixOf(t.Name()), PoolSize: 2, PoolTimeout: 100 * time.Millisecond, OnState: seen.set,
		PulseInterval: time.Hour, CallTimeout: 2 * time.Second,
	}))
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	p.late.Store(int64(time.Second))
	var busy sync.WaitGroup
	for range 2 {
		busy.Go(func() { _, _ = s.Read(t.Context(), k.key, store.Query{}) })
	}
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	wants(t, k.append(t.Context(), s), store.ErrUnavailable)
	if took := time.Since(began); took > 700*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	p.late.Store(0)
	busy.Wait()
	must(t, k.append(t.Context(), s))
	if seen.n != 0 {
		t.Errorf("a busy pool was told as a store that does not write")
	}
}

func TestStore_MemoryFull_RefusesWholeAndErases(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t, "--maxmemory", "6mb")
	s := closing(t, open(t, redis.Options{URL: "redis://" + r.Address}))
	k := newTalk(0)
	var err error
	for err == nil {
		c := k.next(64 << 10)
		if err = s.Commit(t.Context(), k.key, c); err == nil {
			k.head = c.Head
		}
	}
	wants(t, err, store.ErrFull)
	q := store.Query{Ranges: []store.MessageRange{{Range: conversation.Range{End: 1 << 30}}}}
	snap, err := s.Read(t.Context(), k.key, q)
	must(t, err)
	if snap.Head.Version != k.head.Version || len(snap.Messages) != int(k.head.Messages) {
		t.Fatalf("version %d with %d messages; acknowledged: %d", snap.Head.Version, len(snap.Messages), k.head.Version)
	}
	bury := &store.Change{Expect: k.head.Version, Head: k.head}
	bury.Head.Version, bury.Head.State = k.head.Version+1, store.Deleted
	must(t, s.Commit(t.Context(), k.key, bury))
	for done := false; !done; {
		done, err = s.Delete(t.Context(), k.key, store.Deletion{Incarnation: k.head.Incarnation})
		must(t, err)
	}
	eventually(t, func() error { return newTalk(1).append(t.Context(), s) })
}

func TestOpen_ServerThatForgets_IsRefused(t *testing.T) {
	t.Parallel()
	evicting := dbtest.StartRedis(t, "--maxmemory-policy", "allkeys-lru")
	if s, err := redis.Open(t.Context(), redis.Options{URL: "redis://" + evicting.Address}); err == nil {
		closing(t, s)
		t.Error("a server that evicts is taken")
	}
	volatile := dbtest.StartRedis(t, "--appendonly", "no")
	if s, err := redis.Open(t.Context(), redis.Options{URL: "redis://" + volatile.Address}); err == nil {
		closing(t, s)
		t.Error("a server without a file is taken")
	}
	s := closing(t, open(t, redis.Options{URL: "redis://" + volatile.Address, AcceptVolatile: true}))
	if s.Durability() != store.DurabilityNone || len(s.Warnings()) == 0 {
		t.Errorf("durability %q, warnings %q", s.Durability(), s.Warnings())
	}
	hidden := dbtest.StartRedis(t, "--rename-command", "CONFIG", "")
	s = closing(t, open(t, redis.Options{URL: "redis://" + hidden.Address}))
	if s.Durability() != store.DurabilityServer || len(s.Warnings()) != 1 {
		t.Errorf("durability %q, warnings %q", s.Durability(), s.Warnings())
	}
}

func TestOpen_Address_IsSafeOrRefused(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, url := range []string{
		"redis://:" + secret + "@192.0.2.1:6379", "redis://:" + secret + "@127.0.0.1:1?addr=192.0.2.1:6379", "http://:" + secret + "@localhost",
		"rediss://:" + secret + "@127.0.0.1:1?skip_verify=true", "unix:///nowhere?addr=192.0.2.1:6379", "redis://:" + secret + "@%zz", "redis://:" + secret + "@127.0.0.1:1", "",
	} {
		_, err := redis.Open(t.Context(), redis.Options{URL: url})
		if err == nil || containsAny(err.Error(), secret, "192.0.2.1", "127.0.0.1") {
			t.Errorf("%q: %v", url, err)
		}
	}
	if _, err := redis.Open(t.Context(), redis.Options{URL: "redis://127.0.0.1:1", Prefix: "{a}"}); err == nil {
		t.Error("a prefix with braces is taken")
	}
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

func TestOpen_OtherLayout_IsRefused(t *testing.T) {
	t.Parallel()
	address, prefix := dbtest.SharedRedis(t).Address, prefixOf(t.Name())
	c := driver.NewClient(&driver.Options{Addr: address})
	t.Cleanup(func() { must(t, c.Close()) })
	must(t, c.HSet(t.Context(), prefix+"meta", "layout", "3").Err())
	_, err := redis.Open(t.Context(), redis.Options{URL: "redis://" + address, Prefix: prefix})
	wants(t, err, store.ErrInvalid)
}

func TestStore_RoundTrips_AreFew(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	trips := 0
	s := closing(t, open(t, redis.Options{
		URL: "redis://" + dbtest.SharedRedis(t).Address, Prefix: prefixOf(t.Name()), PulseInterval: time.Hour, OnTrip: func() { mu.Lock(); trips++; mu.Unlock() },
	}))
	count := func(run func() error) int {
		t.Helper()
		mu.Lock()
		trips = 0
		mu.Unlock()
		must(t, run())
		mu.Lock()
		defer mu.Unlock()
		return trips
	}
	k := newTalk(0)
	whole := store.Query{
		Info: true, Ranges: []store.MessageRange{{Range: conversation.Range{End: 100}}}, Edits: &store.EditRange{Of: []conversation.Range{{End: 9}}},
		SlotsOf: "s", Request: &store.RequestKey{RPC: "r"}, Since: &store.Since{Limit: 10},
	}
	read := func() error { _, err := s.Read(t.Context(), k.key, whole); return err }
	must(t, k.append(t.Context(), s))
	must(t, read()) // scripts are loaded
	for _, c := range []struct {
		what string
		run  func() error
		most int
	}{
		{"append", func() error { return k.append(t.Context(), s) }, 1},
		{"warm read", read, 1},
		{"head", func() error { _, err := s.Read(t.Context(), k.key, store.Query{}); return err }, 1},
		{"list", func() error { _, err := s.List(t.Context(), "n", "", 10); return err }, 2},
		{"due", func() error { _, err := s.Due(t.Context(), time.Now(), 10); return err }, 2},
		{"creation", func() error { return newTalk(1).append(t.Context(), s) }, 2},
	} {
		if n := count(c.run); n > c.most || n == 0 {
			t.Errorf("%s: %d round trips, at most %d", c.what, n, c.most)
		}
	}
	cold := closing(t, open(t, redis.Options{
		URL: "redis://" + dbtest.SharedRedis(t).Address, Prefix: prefixOf(t.Name()), PulseInterval: time.Hour, OnTrip: func() { mu.Lock(); trips++; mu.Unlock() },
	}))
	_, err := cold.Read(t.Context(), newTalk(1).key, store.Query{}) // it has a connection
	must(t, err)
	if n := count(func() error { _, err := cold.Read(t.Context(), k.key, whole); return err }); n != 2 {
		t.Errorf("a cold read takes %d round trips", n)
	}
}

func ignoring(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

// TestOpen_UserOfTheDocuments_Suffices holds docs/redis.md to what it says of rights.
func TestOpen_UserOfTheDocuments_Suffices(t *testing.T) {
	t.Parallel()
	r := dbtest.StartRedis(t)
	c := driver.NewClient(&driver.Options{Addr: r.Address})
	t.Cleanup(func() { must(t, c.Close()) })
	must(t, c.Do(t.Context(), "acl", "setuser", "sidecar", "on", ">secret", "~palimpsest:*", "&palimpsest:*", "+@all", "-@dangerous", "+info").Err())
	s := closing(t, open(t, redis.Options{URL: "redis://sidecar:secret@" + r.Address}))
	k := newTalk(0)
	must(t, k.append(t.Context(), s))
	must(t, s.Stage(t.Context(), k.key, &store.Upload{Incarnation: k.head.Incarnation, ID: conversation.ID{1}, Data: []byte("x")}))
	must(t, k.append(t.Context(), s))
	_, err := s.List(t.Context(), "n", "", 10)
	must(t, err)
	must(t, s.Seal(t.Context(), true))
}

func TestStore_Delete_OneAtATime_ComesToAnEnd(t *testing.T) {
	t.Parallel()
	s := closing(t, open(t, redis.Options{URL: "redis://" + dbtest.SharedRedis(t).Address, Prefix: prefixOf(t.Name())}))
	k := newTalk(0)
	for i := range int32(3) {
		must(t, s.Stage(t.Context(), k.key, &store.Upload{Incarnation: k.head.Incarnation, ID: conversation.ID{1}, Chunk: i, Data: []byte("x")}))
	}
	for step := 0; ; step++ {
		done, err := s.Delete(t.Context(), k.key, store.Deletion{Incarnation: k.head.Incarnation, Limit: 1})
		must(t, err)
		if done {
			return
		}
		if step > 10 {
			t.Fatal("no end")
		}
	}
}

// TestStore_Read_BegunAnewElsewhere_FindsTheNewOne: what this process saw last is gone.
func TestStore_Read_BegunAnewElsewhere_FindsTheNewOne(t *testing.T) {
	t.Parallel()
	o := redis.Options{URL: "redis://" + dbtest.SharedRedis(t).Address, Prefix: prefixOf(t.Name())}
	a, b := closing(t, open(t, o)), closing(t, open(t, o))
	k := newTalk(0)
	must(t, k.append(t.Context(), a))
	q := store.Query{Ranges: []store.MessageRange{{Range: conversation.Range{End: 10}}}}
	_, err := b.Read(t.Context(), k.key, q)
	must(t, err)
	bury := &store.Change{Expect: 1, Head: k.head}
	bury.Head.Version, bury.Head.State = 2, store.Deleted
	must(t, a.Commit(t.Context(), k.key, bury))
	anew := &talk{key: k.key, head: store.Head{Incarnation: conversation.ID{9, 9}, Version: 2, Request: -1, Opening: -1}}
	must(t, anew.append(t.Context(), a))
	must(t, anew.append(t.Context(), a))
	snap, err := b.Read(t.Context(), k.key, q)
	must(t, err)
	if len(snap.Messages) != 2 || snap.Messages[0].ID != "3" {
		t.Errorf("%d messages", len(snap.Messages))
	}
}
