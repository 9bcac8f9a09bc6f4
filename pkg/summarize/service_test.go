package summarize

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a Model that does what a test wants, and counts.
type fake struct {
	calls   atomic.Int64
	respond func(ctx context.Context, call Call, n int64) (Answer, error)
}

func (f *fake) Complete(ctx context.Context, call Call) (Answer, error) {
	return f.respond(ctx, call, f.calls.Add(1))
}

func answering(text string) *fake {
	return &fake{respond: func(context.Context, Call, int64) (Answer, error) { return said(text), nil }}
}

func failing(err error) *fake {
	return &fake{respond: func(context.Context, Call, int64) (Answer, error) { return Answer{}, err }}
}

func hanging() *fake {
	return &fake{respond: func(ctx context.Context, _ Call, _ int64) (Answer, error) {
		<-ctx.Done()
		return Answer{}, ctx.Err()
	}}
}

func said(summary string) Answer {
	text, _ := json.Marshal(map[string]string{"summary": summary})
	return Answer{Text: string(text)}
}

func request(content string) *Request {
	return &Request{
		Scope: Scope{"n", "c"}, Content: content, Hash: sha256.Sum256([]byte(content)), Chars: countChars(content), Target: 100,
	}
}

func longText(name string) string { return name + " " + strings.Repeat("word ", 200) }

// service returns a service whose model is m/x, and m/y too; the test closes it.
func service(t *testing.T, m Model, with func(*Options)) *Service {
	t.Helper()
	o := Options{Providers: map[string]Model{"m": m}, Models: []string{"m/x"}}
	if with != nil {
		with(&o)
	}
	d := New(o)
	t.Cleanup(d.Close)
	return d
}

// result starts a request and waits for its end.
func result(t *testing.T, d *Service, r *Request) Result {
	t.Helper()
	d.Start(r)
	d.Wait(t.Context(), []*Request{r})
	got, ok := d.Result(r)
	if !ok {
		t.Fatal("the request has not ended")
	}
	return got
}

func wantReason(t *testing.T, got Result, want Reason) {
	t.Helper()
	if ReasonOf(got.Err) != want {
		t.Errorf("ended with %q, %v; want %s", got.Text, got.Err, want)
	}
}

// bubble runs a test in which time passes only when everybody waits for it.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func TestService_WithoutModels_EndsAtOnce(t *testing.T) {
	unknown := request("text")
	unknown.Prompt.Models = []string{"other/x", "nothing", "m/"}
	withModel := New(Options{Providers: map[string]Model{"m": hanging()}, Models: []string{"m/x"}})
	defer withModel.Close()
	for name, test := range map[string]struct {
		service *Service
		request *Request
	}{
		"zero": {new(Service), request("text")}, "no options": {New(Options{}), request("text")}, "unknown providers": {withModel, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := test.service.Result(test.request)
			if !ok {
				t.Fatal("has not ended")
			}
			wantReason(t, got, NoModel)
			test.service.Start(test.request)
			test.service.Wait(t.Context(), []*Request{test.request})
			test.service.Forget(test.request.Scope, test.request.Hash)
			if got := test.service.Usage(); got.Calls != 0 {
				t.Errorf("%d calls", got.Calls)
			}
			test.service.Close()
		})
	}
}

func TestService_Extract_FirstCharactersWithoutAnExtractor(t *testing.T) {
	for target, want := range map[int]string{-1: "", 0: "", 2: "aß", 9: "aßc"} {
		if got := new(Service).Extract("aßc", target); got != want {
			t.Errorf("%d: %q, want %q", target, got, want)
		}
	}
	d := New(Options{Extract: func(text string, target int) string { return fmt.Sprint(text, target) }})
	if got := d.Extract("a", 7); got != "a7" {
		t.Errorf("%q", got)
	}
}

func TestService_Answer_IsKeptForWhoeverAsksAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := answering("short")
		d := service(t, m, nil)
		r := request(longText("a"))
		if _, ok := d.Result(r); ok {
			t.Error("ended before it began")
		}
		for range 3 {
			if got := result(t, d, r); got != (Result{Text: "short", Model: "m/x"}) {
				t.Errorf("%+v", got)
			}
		}
		if n := m.calls.Load(); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

func TestService_Start_SameContentAtOnce_OneCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		m := &fake{respond: func(context.Context, Call, int64) (Answer, error) { <-release; return said("short"), nil }}
		d := service(t, m, nil)
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				if got := result(t, d, request(longText("a"))); got.Text != "short" {
					t.Errorf("%+v", got)
				}
			})
		}
		synctest.Wait()
		close(release)
		all.Wait()
		if n := m.calls.Load(); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestService_Start_AreWorkedOnInOrder: who waits for the last that was started finds the others done.
func TestService_Start_AreWorkedOnInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := service(t, &fake{respond: func(_ context.Context, _ Call, n int64) (Answer, error) {
			time.Sleep(time.Second + time.Duration(n))
			return said("short"), nil
		}}, func(o *Options) { o.Parallel = 3 })
		var all []*Request
		for i := range 60 {
			r := request(longText(strconv.Itoa(i)))
			all = append(all, r)
			d.Start(r)
		}
		for i, r := range all { // three are asked for at a time, in whatever order
			d.Wait(t.Context(), []*Request{r})
			for _, behind := range all[min(i+3, len(all)):] {
				if _, ended := d.Result(behind); ended {
					t.Fatal("a later one has ended before")
				}
			}
		}
	})
}

func TestService_Key_WhatTheResultDependsOn(t *testing.T) {
	other := map[string]func(*Request){
		"namespace":    func(r *Request) { r.Scope.Namespace = "n2" },
		"conversation": func(r *Request) { r.Scope.Conversation = "c2" },
		"hash":         func(r *Request) { r.Hash[0]++ },
		"target":       func(r *Request) { r.Target++ },
		"id":           func(r *Request) { r.Prompt.ID = "p" },
		"version":      func(r *Request) { r.Prompt.Version++ },
		"template":     func(r *Request) { r.Prompt.Template = "Shorten: {{content}}" },
		"models":       func(r *Request) { r.Prompt.Models = []string{"m/y"} },
		"max output":   func(r *Request) { r.Prompt.MaxOutput = 7 },
	}
	m := answering("short")
	d := service(t, m, nil)
	result(t, d, request(longText("a")))
	for name, change := range other {
		before := m.calls.Load()
		r := request(longText("a"))
		change(r)
		result(t, d, r)
		if m.calls.Load() != before+1 {
			t.Errorf("another %s gets the same result", name)
		}
	}
}

func TestService_Models_AreAskedInOrderUntilOneAnswersWell(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := service(t, answering("short"), func(o *Options) {
			o.Providers["bad"] = answering(strings.Repeat("long ", 500))
			o.Providers["gone"] = failing(&Failure{Reason: Status, Status: 404})
		})
		r := request(longText("a"))
		r.Prompt.Models = []string{"unknown/a", "bad/b", "gone/c", "m/x", "m/y"}
		if got := result(t, d, r); got.Text != "short" || got.Model != "m/x" || got.Err != nil {
			t.Errorf("%+v", got)
		}
		r.Prompt.Models = r.Prompt.Models[:3]
		got := result(t, d, r)
		const want = `"unknown/a": no_model; "bad/b": too_long; "gone/c": status (HTTP 404)`
		var failure *Failure
		if !errors.As(got.Err, &failure) || failure.Error() != want || len(failure.Earlier) != 2 || failure.Status != 404 {
			t.Errorf("%v, want %s", got.Err, want)
		}
	})
}

func TestService_Deadline_IsOneForAllModels(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := service(t, hanging(), func(o *Options) { o.Models = []string{"m/x", "m/y", "m/z"} })
		began := time.Now()
		wantReason(t, result(t, d, request(longText("a"))), Timeout)
		if took := time.Since(began); took != DefaultDeadline {
			t.Errorf("took %v", took)
		}
	})
}

func TestService_SilentModel_LeavesTheNextItsTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := service(t, hanging(), func(o *Options) {
			o.Providers["good"] = answering("short")
			o.Models = []string{"m/x", "good/y"}
		})
		began := time.Now()
		if got := result(t, d, request(longText("a"))); got.Model != "good/y" {
			t.Errorf("%+v", got)
		}
		if took := time.Since(began); took != DefaultDeadline/2 {
			t.Errorf("took %v", took)
		}
	})
}

func TestService_Failures_ThatMayPassAreTriedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		failure Failure
		calls   int64
	}{
		"500":          {Failure{Reason: Status, Status: 500}, 3},
		"529":          {Failure{Reason: Status, Status: 529}, 3},
		"408":          {Failure{Reason: Status, Status: 408}, 3},
		"429":          {Failure{Reason: RateLimited, Status: 429}, 3},
		"unreachable":  {Failure{Reason: Unreachable}, 3},
		"400":          {Failure{Reason: Status, Status: 400}, 1},
		"401":          {Failure{Reason: Status, Status: 401}, 1},
		"redirect":     {Failure{Reason: Status, Status: 302}, 1},
		"bad answer":   {Failure{Reason: BadAnswer}, 1},
		"slow headers": {Failure{Reason: Timeout}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				m := failing(&test.failure)
				wantReason(t, result(t, service(t, m, nil), request(longText("a"))), test.failure.Reason)
				if n := m.calls.Load(); n != test.calls {
					t.Errorf("%d calls, want %d", n, test.calls)
				}
			})
		})
	}
}

func TestService_RetryAfter_IsHonoured(t *testing.T) {
	bubble(t, func(t *testing.T) {
		began, again := time.Now(), time.Duration(0)
		m := &fake{respond: func(_ context.Context, _ Call, n int64) (Answer, error) {
			if n == 1 {
				return Answer{}, &Failure{Reason: RateLimited, Status: 429, RetryAfter: 7 * time.Second}
			}
			again = time.Since(began)
			return said("short"), nil
		}}
		if got := result(t, service(t, m, nil), request(longText("a"))); got.Text != "short" {
			t.Errorf("%+v", got)
		}
		if again != 7*time.Second {
			t.Errorf("asked again after %v", again)
		}
	})
}

func TestService_RetryAfterBeyondTheDeadline_FailsAtOnceAndHoldsForAllContents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		began := time.Now()
		m := failing(&Failure{Reason: RateLimited, Status: 429, RetryAfter: time.Hour})
		d := service(t, m, nil)
		wantReason(t, result(t, d, request(longText("a"))), RateLimited)
		wantReason(t, result(t, d, request(longText("b"))), RateLimited)
		if time.Since(began) != 0 || m.calls.Load() != 1 {
			t.Errorf("%d calls in %v", m.calls.Load(), time.Since(began))
		}
		time.Sleep(time.Hour)
		wantReason(t, result(t, d, request(longText("a"))), RateLimited)
		if m.calls.Load() != 2 {
			t.Errorf("%d calls after the hour", m.calls.Load())
		}
	})
}

func TestService_Breaker_OpensAfterFiveFailuresInARowAndTriesOnceAfterAMinute(t *testing.T) {
	bubble(t, func(t *testing.T) {
		broken := atomic.Bool{}
		broken.Store(true)
		m := &fake{respond: func(context.Context, Call, int64) (Answer, error) {
			if broken.Load() {
				return Answer{}, &Failure{Reason: Status, Status: 503}
			}
			return said("short"), nil
		}}
		d := service(t, m, nil)
		wantReason(t, result(t, d, request(longText("a"))), Status) // 3 calls
		wantReason(t, result(t, d, request(longText("b"))), BreakerOpen)
		wantReason(t, result(t, d, request(longText("c"))), BreakerOpen)
		if n := m.calls.Load(); n != 5 {
			t.Fatalf("%d calls", n)
		}
		other := request(longText("c"))
		other.Prompt.Models = []string{"m/other"}
		broken.Store(false)
		if got := result(t, d, other); got.Text != "short" {
			t.Errorf("another model rests too: %v", got.Err)
		}
		time.Sleep(breakerTimeout + time.Second)
		for _, name := range []string{"d", "e"} {
			if got := result(t, d, request(longText(name))); got.Text != "short" {
				t.Errorf("%+v", got)
			}
		}
	})
}

func TestService_Breaker_WhatIsTheContentsFaultDoesNotOpenIt(t *testing.T) {
	for name, respond := range map[string]Model{
		"refused request": failing(&Failure{Reason: Status, Status: 400}),
		"refused answer":  answering(" "),
	} {
		t.Run(name, func(t *testing.T) {
			d := service(t, respond, nil)
			for i := range 8 {
				if got := result(t, d, request(longText(fmt.Sprint(i)))); ReasonOf(got.Err) == BreakerOpen {
					t.Fatal(got.Err)
				}
			}
		})
	}
}

func TestService_Breaker_ACallThatWaitedForItsPlaceIsNotTheModelsFault(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := &fake{respond: func(ctx context.Context, _ Call, _ int64) (Answer, error) {
			select {
			case <-time.After(20 * time.Second):
				return said("short"), nil
			case <-ctx.Done():
				return Answer{}, ctx.Err()
			}
		}}
		d := service(t, m, func(o *Options) { o.Parallel = breakerThreshold })
		var all []*Request
		for i := range 2 * breakerThreshold {
			all = append(all, request(longText(fmt.Sprint(i))))
			d.Start(all[i])
		}
		d.Wait(t.Context(), all)
		if got := result(t, d, request(longText("next"))); got.Text != "short" {
			t.Errorf("%v", got.Err)
		}
	})
}

func TestService_SpendLimit_PerMinuteForAll(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := &fake{respond: func(context.Context, Call, int64) (Answer, error) {
			a := said("short")
			a.InputTokens, a.OutputTokens = 2_900, 100
			return a, nil
		}}
		d := service(t, m, func(o *Options) { o.TokensPerMinute = 6_000 })
		ended := map[Reason]int{}
		for i := range 4 {
			r := request(longText(fmt.Sprint(i)))
			r.Scope.Conversation = fmt.Sprint(i)
			ended[ReasonOf(result(t, d, r).Err)]++
		}
		if ended[""] != 2 || ended[SpendLimit] != 2 || m.calls.Load() != 2 {
			t.Errorf("ended %v, %d calls", ended, m.calls.Load())
		}
		time.Sleep(31 * time.Second)
		if got := result(t, d, request(longText("later"))); got.Text == "" {
			t.Errorf("half a minute later: %v", got.Err)
		}
		if got := d.Usage(); got.Calls != 3 || got.Tokens.Input != 3*2_900 || got.Tokens.Output != 300 || got.Failures[SpendLimit] != 2 {
			t.Errorf("%+v", got)
		}
	})
}

func TestService_SpendLimit_PerConversation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := service(t, answering("short"), func(o *Options) { o.TokensPerConversation = 4_000 }) // about 1,900 a call
		for i, want := range []Reason{"", "", SpendLimit} {
			wantReason(t, result(t, d, request(longText(fmt.Sprint(i)))), want)
		}
		d.ForgetConversation(Scope{"n", "c"})
		time.Sleep(time.Hour)
		wantReason(t, result(t, d, request(longText("3"))), SpendLimit)
		other := request(longText("1"))
		other.Scope.Conversation = "other"
		wantReason(t, result(t, d, other), "")
	})
}

func TestService_SpendLimit_HoldsForCallsAtTheSameTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := hanging()
		d := service(t, m, func(o *Options) { o.TokensPerMinute, o.Parallel = 5_000, 32 })
		for i := range 32 {
			d.Start(request(longText(fmt.Sprint(i))))
		}
		synctest.Wait()
		if n := m.calls.Load(); n != 2 {
			t.Errorf("%d calls at once", n)
		}
	})
}

func TestService_Spend_CallsThatWereTurnedAwayAreFree(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := service(t, failing(&Failure{Reason: Status, Status: 400}), func(o *Options) { o.TokensPerConversation = 4_000 })
		for i := range 5 {
			wantReason(t, result(t, d, request(longText(fmt.Sprint(i)))), Status)
		}
		if got := d.Usage(); got.Tokens.Input != 0 || got.Tokens.Output != 0 || got.Calls != 5 {
			t.Errorf("%+v", got)
		}
	})
}

func TestService_Spend_AReportBeyondReasonIsNotBelieved(t *testing.T) {
	m := &fake{respond: func(context.Context, Call, int64) (Answer, error) {
		a := said("short")
		a.InputTokens, a.OutputTokens = 1<<60, -5
		return a, nil
	}}
	d := service(t, m, nil)
	result(t, d, request(longText("a")))
	if got := d.Usage(); got.Tokens.Input > 10_000 || got.Tokens.Output != 0 {
		t.Errorf("%+v", got)
	}
}

func TestService_Failure_IsRememberedForAMinute(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := failing(&Failure{Reason: Status, Status: 400})
		d := service(t, m, nil)
		r := request(longText("a"))
		for range 3 {
			wantReason(t, result(t, d, r), Status)
		}
		if m.calls.Load() != 1 {
			t.Errorf("%d calls", m.calls.Load())
		}
		time.Sleep(failureTTL)
		if _, ok := d.Result(r); ok {
			t.Error("still known after a minute")
		}
		wantReason(t, result(t, d, r), Status)
		if m.calls.Load() != 2 {
			t.Errorf("%d calls", m.calls.Load())
		}
	})
}

func TestService_Cache_IsBoundedByBytes(t *testing.T) {
	text := strings.Repeat("x", 300)
	d := service(t, answering(text), func(o *Options) { o.CacheBytes = 10 * (resultOverhead + 305) })
	var all []*Request
	for i := range 30 {
		all = append(all, request(longText(fmt.Sprint(i))))
		result(t, d, all[i])
	}
	known := 0
	for _, r := range all {
		if _, ok := d.Result(r); ok {
			known++
		}
	}
	if _, ok := d.Result(all[29]); !ok || known != 10 {
		t.Errorf("%d results are known, the last: %v", known, ok)
	}
	if n := d.results.kept.Stats().Bytes; n != 10*int64(resultOverhead+300+len("m/x")+2) {
		t.Errorf("%d bytes", n)
	}
	d.ForgetConversation(Scope{"n", "c"})
	if n := d.results.kept.Stats().Bytes; n != 0 {
		t.Errorf("%d bytes of nothing", n)
	}
}

func TestService_Forget_WhatIsKnown(t *testing.T) {
	d := service(t, answering("short"), nil)
	a, b, elsewhere := request(longText("a")), request(longText("b")), request(longText("a"))
	elsewhere.Scope.Conversation = "other"
	otherPrompt := request(longText("a"))
	otherPrompt.Prompt.ID = "other"
	all := []*Request{a, otherPrompt, b, elsewhere}
	for _, r := range all {
		result(t, d, r)
	}
	d.Forget(a.Scope, a.Hash)
	for i, want := range []bool{false, false, true, true} {
		if _, ok := d.Result(all[i]); ok != want {
			t.Errorf("%d is known: %v", i, ok)
		}
	}
	d.ForgetConversation(a.Scope)
	if _, ok := d.Result(b); ok {
		t.Error("known after its conversation was forgotten")
	}
}

func TestService_Forget_AnAnswerThatStillComesIsThrownAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		m := &fake{respond: func(ctx context.Context, _ Call, n int64) (Answer, error) {
			if n == 1 {
				<-ctx.Done() // and answers all the same
				<-release
				return said("first"), nil
			}
			return said("second"), nil
		}}
		d := service(t, m, nil)
		r := request(longText("a"))
		d.Start(r)
		synctest.Wait()
		began := time.Now()
		d.Forget(r.Scope, r.Hash)
		close(release)
		d.running.Wait()
		if took := time.Since(began); took != 0 {
			t.Errorf("it went on for %v", took)
		}
		if got, ok := d.Result(r); ok {
			t.Errorf("known: %+v", got)
		}
		if got := result(t, d, r); got.Text != "second" {
			t.Errorf("%+v", got)
		}
	})
}

func TestService_Forget_DoesNotTouchWhatWasStartedAfterIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		m := &fake{respond: func(_ context.Context, _ Call, n int64) (Answer, error) {
			<-release
			return said(fmt.Sprint("answer ", n)), nil
		}}
		d := service(t, m, nil)
		r := request(longText("a"))
		d.Start(r)
		synctest.Wait()
		d.Forget(r.Scope, r.Hash)
		d.Start(r)
		synctest.Wait()
		close(release)
		if got := result(t, d, r); got.Text != "answer 2" {
			t.Errorf("%+v", got)
		}
	})
}

func TestService_Close_CancelsAndWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ended := atomic.Bool{}
		m := &fake{respond: func(ctx context.Context, _ Call, _ int64) (Answer, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended.Store(true)
			return Answer{}, ctx.Err()
		}}
		var told []*Failure
		d := New(Options{Providers: map[string]Model{"m": m}, Models: []string{"m/x"}, OnFailure: func(f *Failure) { told = append(told, f) }})
		r, next := request(longText("a")), request(longText("b"))
		d.Start(r)
		synctest.Wait()
		began := time.Now()
		d.Close()
		if !ended.Load() || time.Since(began) != time.Second {
			t.Errorf("ended %v, after %v", ended.Load(), time.Since(began))
		}
		d.Start(next)
		if len(d.jobs) > 0 {
			t.Error("begins after it was closed")
		}
		d.Wait(t.Context(), []*Request{r, next})
		for _, r := range []*Request{r, next} {
			got, ok := d.Result(r)
			if wantReason(t, got, Closed); !ok {
				t.Error("has not ended")
			}
		}
		if d.Close(); len(told) > 0 {
			t.Errorf("told of %v", told)
		}
	})
}

func TestService_Wait_EndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := service(t, hanging(), nil)
		r := request(longText("a"))
		d.Start(r)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		d.Wait(ctx, []*Request{r, r})
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %v", took)
		}
		if _, ok := d.Result(r); ok {
			t.Error("has ended")
		}
	})
}

func TestService_Panic_EndsTheRequestAlone(t *testing.T) {
	m := &fake{respond: func(context.Context, Call, int64) (Answer, error) { panic("secret content") }}
	d := service(t, m, func(o *Options) { o.Parallel = 1 })
	for i := range 2 { // the place was given back
		got := result(t, d, request(longText(fmt.Sprint(i))))
		if wantReason(t, got, Internal); strings.Contains(got.Err.Error(), "secret") {
			t.Error(got.Err)
		}
	}
}

func TestService_Parallel_BoundsCallsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := hanging()
		d := service(t, m, nil)
		for i := range 20 {
			d.Start(request(longText(fmt.Sprint(i))))
		}
		synctest.Wait()
		if n := m.calls.Load(); n != defaultParallel {
			t.Errorf("%d calls at once", n)
		}
	})
}

func TestService_Busy_TooManyRequestsAreTurnedAwayForAMoment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := service(t, hanging(), nil)
		for i := range maxPending {
			d.Start(request(longText(fmt.Sprint(i))))
		}
		r := request(longText("one more"))
		wantReason(t, result(t, d, r), Busy)
		time.Sleep(refusalTTL)
		if _, ok := d.Result(r); ok {
			t.Error("still turned away")
		}
	})
}

func TestService_ErrorsOfModels_StayInside(t *testing.T) {
	var told []error
	d := service(t, failing(errors.New("https://host/?key=secret")), func(o *Options) {
		o.Deadline = 100 * time.Millisecond
		o.OnFailure = func(f *Failure) { told = append(told, f) }
	})
	got := result(t, d, request(longText("a")))
	wantReason(t, got, Unreachable)
	d.Close()
	if len(told) != 1 || strings.Contains(fmt.Sprintf("%v %+v %#v", got.Err, told, told), "secret") {
		t.Errorf("%v, %v", got.Err, told)
	}
}

func TestService_BadTemplate_CallsNobody(t *testing.T) {
	m := answering("short")
	r := request(longText("a"))
	r.Prompt = conversation.Prompt{ID: "p", Template: "{{contents}}"}
	if wantReason(t, result(t, service(t, m, nil), r), BadTemplate); m.calls.Load() != 0 {
		t.Error("called")
	}
}

func TestTokenBudget_Conversations_AreBounded(t *testing.T) {
	s := newTokenBudget(0, 10, time.Now())
	for i := range maxConversations + 100 {
		s.reserve(Scope{"n", fmt.Sprint(i)}, 1, time.Now())
	}
	if n := s.conversations.Len(); n != maxConversations {
		t.Errorf("%d remembered", n)
	}
}

func TestModelHealthCache_Models_AreBounded(t *testing.T) {
	r := newModelHealthCache()
	first := r.get("m/0")
	for i := range maxModels {
		if r.get(fmt.Sprint("m/", i)); r.get("m/0") != first {
			t.Fatal("a model that is used is forgotten")
		}
	}
	r.get("m/one more")
	if n := r.models.Len(); n != maxModels {
		t.Errorf("%d remembered", n)
	}
}
