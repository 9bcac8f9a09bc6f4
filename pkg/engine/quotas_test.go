package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// limited is a bench whose namespace has limits that a test may change.
type limited struct {
	*bench
	limits atomic.Pointer[engine.Quota]
}

func newLimited(s store.Store, q engine.Quota, change func(*engine.Options)) *limited {
	l := &limited{}
	l.limits.Store(&q)
	l.bench = lifeBench(s, func(o *engine.Options) {
		o.Quotas = func(namespace string) engine.Quota {
			if namespace != "default" {
				return engine.Quota{}
			}
			return *l.limits.Load()
		}
		if change != nil {
			change(o)
		}
	})
	return l
}

// onEachStore runs a test over memory and over a file.
func onEachStore(t *testing.T, test func(t *testing.T, s store.Store)) {
	t.Run("memory", func(t *testing.T) { t.Parallel(); test(t, memory.New(memory.Options{})) })
	t.Run("bolt", func(t *testing.T) {
		t.Parallel()
		s, err := bolt.Open(filepath.Join(t.TempDir(), "store"), bolt.Options{MapBytes: 1 << 26})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		test(t, s)
	})
}

// wantOver fails unless a limit refused the call. The error must name the limit, and a time to try again.
func wantOver(t testing.TB, err error, limit string) {
	t.Helper()
	expect(t, err, conversation.QuotaExceeded)
	var e *conversation.Error
	if !errors.As(err, &e) || e.Quota == nil || e.Quota.Limit != limit || e.Quota.RetryAfter <= 0 || e.Quota.RetryAfter > time.Second {
		t.Fatalf("%v tells of %+v", err, e.Quota)
	}
}

func (l *limited) say(id, words string) error {
	_, err := l.Append(ctx, engine.AppendRequest{Key: keyOf(id), Messages: []conversation.Message{user(words)}, Request: request("AppendMessage", words[:min(len(words), 20)], words)})
	return err
}

func (l *limited) create(id string) error {
	_, err := l.Create(ctx, engine.CreateRequest{Key: keyOf(id)})
	return err
}

func (l *limited) must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
}

// TestEngine_Quota_Conversations: at the limit, whatever would begin a conversation is refused and leaves nothing behind. Everything else
// works, and a deletion makes room at once.
func TestEngine_Quota_Conversations(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s store.Store) {
		l := newLimited(s, engine.Quota{Conversations: 2}, nil)
		l.must(t, l.create("a"))
		l.must(t, l.say("b", "hello"))
		records := l.export(t, "b")
		for name, begin := range map[string]func() error{
			"create":       func() error { return l.create("c") },
			"append":       func() error { return l.say("c", "x") },
			"large append": func() error { return l.say("c", long("x", 40_000)) },
			"store":        func() error { _, err := l.keep("c", "", "text", nil); return err },
			"import":       func() error { _, err := l.imports("c", records); return err },
		} {
			wantOver(t, begin(), "conversations")
			_, err := s.Read(ctx, keyOf("c"), store.Query{})
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: a refused call leaves something: %v", name, err)
			}
		}
		if tasks := l.due(t, 2*time.Hour); len(tasks) != 0 {
			t.Errorf("refused calls leave uploads: %+v", tasks)
		}
		l.must(t, l.say("a", "more"))
		l.must(t, l.say("b", "hello")) // a retry
		if err := l.tell("other", "c"); err != nil {
			t.Errorf("a namespace without limits is refused: %v", err)
		}
		l.turn(t, "b")
		if _, err := l.Delete(ctx, keyOf("a"), engine.Request{}); err != nil {
			t.Fatal(err)
		}
		l.must(t, l.create("c"))
		wantOver(t, l.create("d"), "conversations")
	})
}

// tell appends to a conversation of a namespace.
func (l *limited) tell(namespace, id string) error {
	_, err := l.Append(ctx, engine.AppendRequest{
		Key: engine.Key{Namespace: namespace, Conversation: id}, Messages: []conversation.Message{user("x")},
	})
	return err
}

// TestEngine_Quota_Bytes: at the limit, whatever would add bytes is refused and changes nothing; other calls work. An erasure makes room.
func TestEngine_Quota_Bytes(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s store.Store) {
		l := newLimited(s, engine.Quota{Bytes: 100_000}, nil)
		l.append(t, "c", user("go"), call("k"), resultLiving("k", long("result", 60_000), erasing(compacted(0, 100))))
		held := l.export(t, "c")
		for name, add := range map[string]func() error{
			"append":  func() error { return l.say("c", long("x", 40_000)) },
			"new":     func() error { return l.say("d", long("x", 40_000)) },
			"store":   func() error { _, err := l.keep("c", "", prose(1, 300_000), nil); return err },
			"correct": func() error { _, err := l.Correct(ctx, correction("c", 0, 0, long("x", 40_000))); return err },
			"import":  func() error { _, err := l.imports("d", held); return err },
		} {
			before := l.head(t, "c").Version
			wantOver(t, add(), "bytes")
			if after := l.head(t, "c").Version; after != before {
				t.Errorf("%s: a refused call makes version %d of %d", name, after, before)
			}
		}
		l.must(t, l.say("c", "little"))
		if _, err := l.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(2)), ReturnOnly: true}); err != nil {
			t.Errorf("a reading is refused: %v", err)
		}
		l.turn(t, "c")
		l.append(t, "c", user("next"))
		l.turn(t, "c")
		if got := l.head(t, "c").Bytes; got > 1000 {
			t.Fatalf("nothing is erased: %d bytes", got)
		}
		l.must(t, l.say("c", long("x", 90_000)))
	})
}

// TestEngine_Quota_ManyAtOnce: in one process the limits are exact, no matter how many calls append at once while looks are in progress.
func TestEngine_Quota_ManyAtOnce(t *testing.T) {
	t.Parallel()
	const callers, each, size = 64, 6, 100
	for name, limits := range map[string]engine.Quota{"bytes": {Bytes: 200 * size}, "conversations": {Conversations: 40}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEachStore(t, func(t *testing.T, s store.Store) {
				l := newLimited(s, limits, func(o *engine.Options) {
					began, now := time.Now(), o.Clock()
					o.Clock = func() time.Time { return now.Add(1000 * time.Since(began)) } // so that looks grow old
				})
				var accepted atomic.Int64
				var all sync.WaitGroup
				for caller := range callers {
					all.Go(func() {
						for i := range each {
							err := l.say(fmt.Sprint("c", caller), fmt.Sprint(i)+strings.Repeat("x", size-1))
							if err == nil {
								accepted.Add(1)
							} else if conversation.KindOf(err) != conversation.QuotaExceeded {
								t.Error(err, causeOf(err))
							}
						}
					})
				}
				all.Wait()
				page, err := s.List(ctx, "default", "", 1000)
				if err != nil {
					t.Fatal(err)
				}
				bytes := int64(0)
				for _, e := range page {
					bytes += e.Head.Bytes
				}
				exact := bytes == limits.Bytes || len(page) == int(limits.Conversations) && bytes == limits.Conversations*each*size
				if !exact || accepted.Load()*size != bytes {
					t.Errorf("%d conversations of %d bytes, %d appends accepted", len(page), bytes, accepted.Load())
				}
			})
		})
	}
}

// TestEngine_Quota_SeveralProcesses: changes by another process are known at the next look. Before a refusal, that look is at most a second
// old.
func TestEngine_Quota_SeveralProcesses(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Options{})
	one, two := newLimited(s, engine.Quota{Conversations: 2}, nil), newLimited(s, engine.Quota{Conversations: 2}, nil)
	two.ids.Store(1 << 32)
	one.must(t, one.create("a"))
	two.must(t, two.create("b"))
	wantOver(t, two.create("c"), "conversations")
	if _, err := one.Delete(ctx, keyOf("a"), engine.Request{}); err != nil {
		t.Fatal(err)
	}
	wantOver(t, two.create("c"), "conversations") // it looked just now
	two.now = two.now.Add(time.Second)
	two.must(t, two.create("c"))
	one.now = one.now.Add(time.Second)
	wantOver(t, two.create("d"), "conversations")
}

// TestEngine_Quota_Reload: limits are read for every call.
func TestEngine_Quota_Reload(t *testing.T) {
	t.Parallel()
	l := newLimited(memory.New(memory.Options{}), engine.Quota{}, nil)
	for _, id := range []string{"a", "b", "c"} {
		l.must(t, l.create(id))
	}
	if got := l.QuotaUse(); len(got) != 0 {
		t.Errorf("without limits, use is %+v", got)
	}
	l.limits.Store(&engine.Quota{Conversations: 2, Bytes: 10})
	wantOver(t, l.create("d"), "conversations")
	l.must(t, l.say("a", "12345")) // over one limit, within the other
	wantOver(t, l.say("a", "123456"), "bytes")
	used := map[string]engine.QuotaUse{}
	for _, u := range l.QuotaUse() {
		used[u.Limit] = u
	}
	if want := (engine.QuotaUse{Namespace: "default", Limit: "conversations", Used: 3, Max: 2}); used["conversations"] != want {
		t.Errorf("use %+v, want %+v", used["conversations"], want)
	}
	if want := (engine.QuotaUse{Namespace: "default", Limit: "bytes", Used: 5, Max: 10}); used["bytes"] != want {
		t.Errorf("use %+v, want %+v", used["bytes"], want)
	}
	l.limits.Store(&engine.Quota{})
	l.must(t, l.create("d"))
	l.limits.Store(&engine.Quota{Conversations: 5})
	l.must(t, l.create("e"))
	wantOver(t, l.create("f"), "conversations")
}

// TestEngine_Quota_PastItsTTL_CountsNoMore: a conversation past its ttl counts as deleted, even if the sweeper has not come yet.
func TestEngine_Quota_PastItsTTL_CountsNoMore(t *testing.T) {
	t.Parallel()
	l := newLimited(memory.New(memory.Options{}), engine.Quota{Conversations: 1}, func(o *engine.Options) { o.Defaults.TTL = ptr(time.Minute) })
	l.must(t, l.create("a"))
	wantOver(t, l.create("b"), "conversations")
	l.now = l.now.Add(time.Minute)
	l.must(t, l.create("b"))
	l.sweep(t)
	wantOver(t, l.create("c"), "conversations")
}

// unlisted is a store whose conversations cannot be listed.
type unlisted struct{ store.Store }

func (unlisted) List(context.Context, string, string, int) ([]store.Entry, error) {
	return nil, fmt.Errorf("%w: a head", store.ErrCorrupt)
}

// TestEngine_Quota_DamagedHead_StopsNobody: if looks fail, what this process added still counts, and the failure is reported.
func TestEngine_Quota_DamagedHead_StopsNobody(t *testing.T) {
	t.Parallel()
	told := 0
	l := newLimited(unlisted{memory.New(memory.Options{})}, engine.Quota{Conversations: 1}, func(o *engine.Options) { o.OnError = func(error) { told++ } })
	l.must(t, l.create("a"))
	wantOver(t, l.create("b"), "conversations")
	if told != 1 {
		t.Errorf("%d failures are told", told)
	}
}

// TestEngine_Quota_OutcomeUnknown_Counts: a commit that may stand counts until the next look shows that it does not.
func TestEngine_Quota_OutcomeUnknown_Counts(t *testing.T) {
	t.Parallel()
	f := newFaulty()
	l := newLimited(f, engine.Quota{Conversations: 1}, nil)
	f.commit = func(store.Key, *store.Change) error { return store.ErrUnavailable }
	expect(t, l.create("a"), conversation.StoreUnavailable)
	f.commit = func(store.Key, *store.Change) error { return store.ErrOutcomeUnknown }
	expect(t, l.create("a"), conversation.OutcomeUnknown)
	f.commit = nil
	wantOver(t, l.create("b"), "conversations")
	l.now = l.now.Add(time.Second)
	l.must(t, l.create("b"))
}

// TestEngine_Quota_StorePanics_GivesTheRoomBack: the next look finds that the room of a commit that never ended is free.
func TestEngine_Quota_StorePanics_GivesTheRoomBack(t *testing.T) {
	t.Parallel()
	f := newFaulty()
	l := newLimited(f, engine.Quota{Conversations: 1}, nil)
	f.commit = func(store.Key, *store.Change) error { panic("a fault of the store's") }
	func() {
		defer func() { _ = recover() }()
		_ = l.create("a")
		t.Error("nothing panics")
	}()
	f.commit = nil
	l.now = l.now.Add(time.Second)
	l.must(t, l.create("b"))
}

// TestEngine_Quota_Models: if a namespace has used up its calls or its spend for the minute, its results are shown in full, with a decision
// that a limit refused the summary, and as extracts in the end. Other namespaces are not affected.
func TestEngine_Quota_Models(t *testing.T) {
	prices := conversation.ModelProfile{Model: "x", InputPrice: ptr(1.0), OutputPrice: ptr(100.0)}
	for name, c := range map[string]struct {
		limits engine.Quota
		used   string
		models map[string]conversation.ModelProfile
		want   int // summaries at first
		// extract: the minute does not end before one is due in place of the summary that was refused.
		extract bool
	}{
		"calls":                 {limits: engine.Quota{ModelCalls: 1}, used: "model_calls_per_minute", want: 1},
		"spend":                 {limits: engine.Quota{ModelSpend: 0.2}, used: "model_spend_per_minute", models: map[string]conversation.ModelProfile{"x": prices}, want: 1},
		"spend without a price": {limits: engine.Quota{ModelSpend: 0.03}, used: "model_spend_per_minute", want: 2},
		"spend, below one call": {limits: engine.Quota{ModelSpend: 0.000_001}, used: "model_spend_per_minute", models: map[string]conversation.ModelProfile{"x": prices}, want: 1, extract: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := summarize.New(summarize.Options{
					Providers: map[string]summarize.Model{"m": writes(gist, 10*time.Millisecond)}, Models: []string{"m/x"}, Parallel: 1,
				})
				t.Cleanup(service.Close)
				l := newLimited(memory.New(memory.Options{}), c.limits, func(o *engine.Options) {
					o.Summaries, o.Clock, o.Models = service, time.Now, c.models
				})
				texts := l.dueAtOnce(t, 2, summarized(0, 300))
				refused := []conversation.Reason{conversation.ReasonSummaryRefused}
				if n := summaries(t, l.turn(t, "c"), texts, refused[:min(1, 2-c.want)]...); n != c.want {
					t.Fatalf("%d summaries, want %d", n, c.want)
				}
				if c.want == 2 {
					return
				}
				if failures := service.Usage().Failures; failures[summarize.Quota] == 0 {
					t.Errorf("failures %v", failures)
				}
				if c.extract {
					for range 2 {
						l.turn(t, "c")
					}
					last := l.turn(t, "c")
					if one, other := decision(last, 2), decision(last, 3); one.Reason != conversation.ReasonExpiredExtract && other.Reason != conversation.ReasonExpiredExtract {
						t.Errorf("in the end the decisions are %+v and %+v", one, other)
					}
					return
				}
				if u := l.QuotaUse(); len(u) != 1 || u[0].Limit != c.used || u[0].Used <= 0 || u[0].Used > u[0].Max {
					t.Errorf("use %+v", u)
				}
				time.Sleep(time.Minute)
				if n := summaries(t, l.turn(t, "c"), texts); n != 2 {
					t.Errorf("%d summaries once the minute is over", n)
				}
			})
		})
	}
}

// TestEngine_Quota_LargeCalls_EndEarly: a call that will be refused is not staged to its end, so a caller over the limit cannot fill the
// disk.
func TestEngine_Quota_LargeCalls_EndEarly(t *testing.T) {
	t.Parallel()
	from := newEager()
	for range 8 {
		from.append(t, "c", user(long("x", 50_000)))
	}
	records, staged := from.export(t, "c"), 0
	f := newFaulty()
	f.stage = func(u *store.Upload) error { staged += len(u.Data); return nil }
	l := newLimited(f, engine.Quota{Bytes: 100_000}, nil)
	_, err := l.imports("c", records)
	wantOver(t, err, "bytes")
	if staged == 0 || staged > 150_000 {
		t.Errorf("an import stages %d bytes", staged)
	}
	staged = 0
	_, err = l.keep("c", "", prose(1, 3<<20), nil)
	wantOver(t, err, "bytes")
	wantOver(t, l.say("c", long("x", 200_000)), "bytes")
	if staged > 0 {
		t.Errorf("refused contents stage %d bytes", staged)
	}
	l.must(t, l.say("c", "x"))
	again := func(r *engine.StoreContentRequest) { r.Request = request("StoreContent", "r", "header") }
	if _, err := l.keep("c", "", prose(1, 60_000), again); err != nil {
		t.Fatal(err)
	}
	if r, err := l.keep("c", "", prose(1, 60_000), again); err != nil || !r.Duplicate {
		t.Errorf("a retry at the limit answers %+v (%v)", r, err)
	}
}
