package mem0_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0/mem0test"
)

const bees = "My sister Marguerite keeps eleven bees in Lisbon."

func anna() memory.Scope {
	return memory.Scope{Namespace: "space", Kind: memory.ScopeUser, ID: "anna"}
}

func batch(texts ...string) *memory.Batch {
	b := &memory.Batch{Scope: anna(), Conversation: "talk", Incarnation: conversation.ID{7}, Key: "key-1", Session: "1", Infer: true}
	for i, text := range texts {
		b.Messages = append(b.Messages, memory.Message{
			Index: int32(i), Role: conversation.RoleUser, Text: text, Time: time.Date(2026, 3, 2, 9, i, 0, 0, time.UTC),
		})
	}
	return b
}

// both runs a test with each kind of service.
func both(t *testing.T, run func(t *testing.T, f *fake, o mem0.Options)) {
	t.Helper()
	t.Run("platform", func(t *testing.T) {
		t.Parallel()
		p := newPlatform(t)
		run(t, p.fake, mem0.Options{Kind: mem0.Platform, BaseURL: p.url})
	})
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		s := newServer(t)
		run(t, s, mem0.Options{Kind: mem0.Server, BaseURL: s.url})
	})
}

// calls are all methods that ask the service, with whether they change something.
func calls(tg *mem0.Target) map[string]func(context.Context) error {
	s := anna()
	return map[string]func(context.Context) error{
		"Add": func(ctx context.Context) error { _, err := tg.Add(ctx, batch(bees)); return err },
		"Put": func(ctx context.Context) error {
			_, err := tg.Put(ctx, s, &memory.Note{Key: "key-2", Text: bees})
			return err
		},
		"Settle": func(ctx context.Context) error { _, err := tg.Settle(ctx, batch(bees)); return err },
		"Search": func(ctx context.Context) error {
			_, err := tg.Search(ctx, s, &memory.Query{Text: bees, Limit: 1})
			return err
		},
		"List": func(ctx context.Context) error { _, err := tg.List(ctx, s, &memory.Page{Limit: 1}); return err },
		"Retract": func(ctx context.Context) error {
			_, err := tg.Retract(ctx, s, &memory.Retraction{Conversation: "talk"})
			return err
		},
		"Forget": func(ctx context.Context) error { _, err := tg.Forget(ctx, s, time.Now()); return err },
		"Delete": func(ctx context.Context) error {
			_, err := tg.Delete(ctx, s, []string{"00000000-0000-0000-0000-000000000000"})
			return err
		},
	}
}

func TestTarget_StatusesBecomeErrorsOfTheContract(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		tg := target(t, o)
		for status, want := range map[int]error{
			400: memory.ErrRefused, 413: memory.ErrRefused, 422: memory.ErrRefused,
			401: memory.ErrDenied, 403: memory.ErrDenied, 405: memory.ErrDenied, 501: memory.ErrDenied, 301: memory.ErrDenied, 307: memory.ErrDenied,
			402: memory.ErrUnavailable, 408: memory.ErrUnavailable, 409: memory.ErrUnavailable, 429: memory.ErrUnavailable,
			500: memory.ErrUnavailable, 503: memory.ErrUnavailable,
		} {
			f.Break(func(*http.Request) mem0test.Fault {
				return mem0test.Fault{
					Status: status, Body: `{"detail":"` + bees + " " + secret + `"}`, Header: http.Header{"Location": {"/elsewhere"}, "Retry-After": {"7"}},
				}
			})
			for name, call := range calls(tg) {
				err := call(t.Context())
				if !errors.Is(err, want) {
					t.Errorf("%s answered %d: %v", name, status, err)
				}
				if err != nil && (strings.Contains(err.Error(), "bees") || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "anna")) {
					t.Errorf("%s quotes: %v", name, err)
				}
				var away *memory.UnavailableError
				if errors.As(err, &away) && away.After != 7*time.Second {
					t.Errorf("%s answered %d asks to wait %v", name, status, away.After)
				}
			}
		}
		if n := f.Asked(http.MethodGet, "/elsewhere") + f.Asked(http.MethodPost, "/elsewhere"); n > 0 {
			t.Errorf("%d requests followed a redirect", n)
		}
	})
}

func TestTarget_AddressWithoutTheService_IsDenied(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		o.BaseURL += "/nowhere"
		tg := target(t, o)
		for name, call := range calls(tg) {
			if err := call(t.Context()); name != "Delete" && !errors.Is(err, memory.ErrDenied) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestTarget_WrongSecret_IsDenied(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		var wrong atomic.Bool
		o.APIKey = func() string {
			if wrong.Load() {
				return "wrong\n" + secret
			}
			return secret
		}
		tg := target(t, o)
		if _, err := tg.Search(t.Context(), anna(), &memory.Query{Text: bees, Limit: 1}); err != nil {
			t.Fatal(err)
		}
		wrong.Store(true) // it is read at each call
		for name, call := range calls(tg) {
			if err := call(t.Context()); !errors.Is(err, memory.ErrDenied) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", name, err)
			}
		}
		o.APIKey = func() string { return "another-key" }
		for name, call := range calls(target(t, o)) {
			if err := call(t.Context()); !errors.Is(err, memory.ErrDenied) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// What a gateway says of a change tells nothing of the service behind it.
func TestTarget_GatewayGaveUp_OutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		tg := target(t, o)
		for _, fault := range []mem0test.Fault{
			{Status: 504}, {Status: 502, Body: "<html>"}, {Cut: true}, {Status: 200, Cut: true}, {Body: "no JSON"}, {Body: `{"results":"\xff"}`},
			{Body: `{"results":[` + strings.Repeat(" ", 5<<20) + `]}`},
		} {
			f.Break(func(*http.Request) mem0test.Fault { return fault })
			for name, call := range calls(tg) {
				want := memory.ErrUnavailable
				if name == "Add" {
					want = memory.ErrOutcomeUnknown
				}
				if err := call(t.Context()); !errors.Is(err, want) {
					t.Errorf("%s with %d %.10q: %v", name, fault.Status, fault.Body, err)
				}
			}
		}
	})
}

func TestTarget_ServersModelFails_SaysWhetherAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	tg := target(t, mem0.Options{Kind: mem0.Server, BaseURL: s.url})
	for code, want := range map[string]error{
		"provider_bad_request": memory.ErrRefused, "provider_auth_failed": memory.ErrDenied, "provider_rate_limited": memory.ErrUnavailable,
		"provider_unavailable": memory.ErrUnavailable, "vector_store_unavailable": memory.ErrUnavailable, "unknown": memory.ErrUnavailable,
	} {
		s.BreakNext(1, mem0test.Fault{Status: 502, Body: `{"detail":"x","code":"` + code + `","request_id":"1"}`}, http.MethodPost, "/memories")
		if _, err := tg.Add(t.Context(), batch(bees)); !errors.Is(err, want) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestTarget_NobodyListens_IsUnavailable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []mem0.Kind{mem0.Platform, mem0.Server} {
		for name, call := range calls(target(t, mem0.Options{Kind: kind, BaseURL: address})) {
			err := call(t.Context())
			if !errors.Is(err, memory.ErrUnavailable) || strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestTarget_SlowService_CallsEnd(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, f *fake, o mem0.Options) {
		f.Break(func(*http.Request) mem0test.Fault { return mem0test.Fault{Delay: time.Minute} })
		slow := target(t, o)
		const read, add = 30 * time.Millisecond, 500 * time.Millisecond // the add must have been sent by then
		o.ReadTime, o.ChangeTime = read, add
		own := target(t, o) // has deadlines of its own
		for name := range calls(slow) {
			for i, call := range []func(context.Context) error{calls(slow)[name], calls(own)[name]} {
				want, limit := memory.ErrUnavailable, read
				if name == "Add" {
					want, limit = memory.ErrOutcomeUnknown, add
				}
				ctx := t.Context()
				if i == 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, limit)
					defer cancel()
				}
				begin := time.Now()
				if err := call(ctx); !errors.Is(err, want) {
					t.Errorf("%s: %v", name, err)
				}
				if took := time.Since(begin); took > 10*time.Second {
					t.Errorf("%s took %v", name, took)
				}
			}
		}
	})
}

func TestNew_RefusesWhatIsUnsafe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    mem0.Options
		fine bool
	}{
		{mem0.Options{}, false},
		{mem0.Options{Kind: mem0.Platform}, true},
		{mem0.Options{Kind: mem0.Server}, false},
		{mem0.Options{Kind: mem0.Server, BaseURL: "https://mem0.example/base"}, true},
		{mem0.Options{Kind: mem0.Server, BaseURL: "http://mem0.example"}, false},
		{mem0.Options{Kind: mem0.Server, BaseURL: "http://mem0.example", AllowInsecure: true}, true},
		{mem0.Options{Kind: mem0.Server, BaseURL: "http://127.0.0.1:8888"}, true},
		{mem0.Options{Kind: mem0.Server, BaseURL: "http://localhost:8888"}, true},
		{mem0.Options{Kind: mem0.Server, BaseURL: "https://user:pass@mem0.example"}, false},
		{mem0.Options{Kind: mem0.Server, BaseURL: "ftp://mem0.example"}, false},
		{mem0.Options{Kind: mem0.Server, BaseURL: "mem0.example"}, false},
		{mem0.Options{Kind: mem0.Server, BaseURL: "https://mem0.example/#x"}, false},
	} {
		if _, err := mem0.New(c.o); (err == nil) != c.fine || err != nil && strings.Contains(err.Error(), "pass@") {
			t.Errorf("%s: %v", c.o.BaseURL, err)
		}
	}
}

// A client of somebody's own follows no redirect either.
func TestNew_OwnClient_FollowsNoRedirect(t *testing.T) {
	t.Parallel()
	var followed atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	t.Cleanup(elsewhere.Close)
	f := newServer(t)
	f.Break(func(*http.Request) mem0test.Fault {
		return mem0test.Fault{Status: 307, Header: http.Header{"Location": {elsewhere.URL}}}
	})
	tg := target(t, mem0.Options{Kind: mem0.Server, BaseURL: f.url, HTTPClient: http.DefaultClient})
	for name, call := range calls(tg) {
		if err := call(t.Context()); !errors.Is(err, memory.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if followed.Load() {
		t.Error("the secret went elsewhere")
	}
}

// A batch whose answer was lost while the platform works on it is waited for, not sent again.
func TestTarget_PlatformLostAdd_IsPendingByItsEvent(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.lag = time.Hour
	tg := target(t, mem0.Options{Kind: mem0.Platform, BaseURL: p.url})
	p.LoseAdd()
	if _, err := tg.Add(t.Context(), batch(bees)); !errors.Is(err, memory.ErrOutcomeUnknown) {
		t.Fatal(err)
	}
	settle := func() (memory.Receipt, error) { return tg.Settle(t.Context(), batch(bees)) }
	if r, err := settle(); err != nil || !r.Pending {
		t.Fatalf("%+v, %v", r, err)
	}
	set := func(change func(e *fakeEvent)) {
		p.mu.Lock()
		defer p.mu.Unlock()
		change(p.events[p.order[0]])
	}
	set(func(e *fakeEvent) { e.failed = true })
	if _, err := settle(); !errors.Is(err, memory.ErrNotFound) {
		t.Fatalf("a failed event: %v", err)
	}
	// It is through and drew nothing: that is all there will be.
	set(func(e *fakeEvent) { e.failed, e.ready = false, time.Now() })
	if r, err := settle(); err != nil || r.Pending || len(r.IDs) > 0 {
		t.Fatalf("an empty event: %+v, %v", r, err)
	}
	set(func(e *fakeEvent) { e.results[0].ready = time.Now() })
	if r, err := settle(); err != nil || len(r.IDs) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// A secret that may not read the log of events settles by what is there.
func TestTarget_PlatformWithoutEvents_SettlesByKey(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.lag = 0
	o := mem0.Options{Kind: mem0.Platform, BaseURL: p.url}
	p.Break(func(r *http.Request) mem0test.Fault {
		if r.URL.Path == "/v1/events/" {
			return mem0test.Fault{Status: 403, Body: `{"detail":"no"}`}
		}
		return mem0test.Fault{}
	})
	if _, err := target(t, o).Settle(t.Context(), batch(bees)); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("nothing was sent: %v", err)
	}
	if _, err := target(t, o).Add(t.Context(), batch(bees)); err != nil {
		t.Fatal(err)
	}
	// Another process knows no event.
	if r, err := target(t, o).Settle(t.Context(), batch(bees)); err != nil || len(r.IDs) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A deletion that is queued takes what comes meanwhile: it is asked for once, and waited for.
func TestTarget_PlatformForget_IsAskedForOnce(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	tg := target(t, mem0.Options{Kind: mem0.Platform, BaseURL: p.url})
	if _, err := tg.Put(t.Context(), anna(), &memory.Note{Key: "k", Text: bees}); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	p.lag = time.Hour
	p.mu.Unlock()
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		f, err := tg.Forget(ctx, anna(), time.Now())
		cancel()
		if err == nil && !f.More || err != nil && !errors.Is(err, memory.ErrUnavailable) {
			t.Fatalf("%+v, %v", f, err)
		}
	}
	if n := p.Asked(http.MethodDelete, "/v2/entities/user/space:anna/"); n != 1 {
		t.Errorf("it was asked for %d times", n)
	}
}

func TestTarget_ServerWithoutAdministrator_ForgetsOneByOne(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	tg := target(t, mem0.Options{Kind: mem0.Server, BaseURL: s.url})
	for i := range 3 {
		if _, err := tg.Put(t.Context(), anna(), &memory.Note{Key: fmt.Sprint("k", i), Text: bees}); err != nil {
			t.Fatal(err)
		}
	}
	s.Break(func(r *http.Request) mem0test.Fault {
		if r.Method == http.MethodDelete && r.URL.Path == "/memories" {
			return mem0test.Fault{Status: 403, Body: `{"detail":"Admin role required."}`}
		}
		return mem0test.Fault{}
	})
	f, err := tg.Forget(t.Context(), anna(), time.Now())
	if err != nil || f.More || f.Deleted != 3 || len(f.Residue) == 0 || len(s.rows) > 0 {
		t.Errorf("%+v, %v, %d left", f, err, len(s.rows))
	}
}
