package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

const gist = "It went well: 3 of 4 tests pass."

func summaryOf(chars int, index int32, s string) string {
	return fmt.Sprintf("[Summary of %d characters. Full text: expand_message(%d)]\n\n%s", chars, index, s)
}

func extractOf(s string, n int, index int32) string {
	return fmt.Sprintf("[Extract of %d characters. Full text: expand_message(%d)]\n\n%s", len(s), index, s[:n])
}

// timed says how long something took, by the clock of its bubble.
func timed(do func()) time.Duration {
	started := time.Now()
	do()
	return time.Since(started)
}

// TestEngine_Build_PreparesSummaries: the due turn is known in advance, so the summary is requested when age = turns, and used without a
// wait when due (behaviour §5). It is requested once, whatever is built later.
func TestEngine_Build_PreparesSummaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes(gist, 20*time.Second)
		b := modelBench(t, m, nil)
		whole := long("result", 4000)
		b.append(t, "c", user("go"))
		b.turn(t, "c")
		b.append(t, "c", call("k"), resultLiving("k", whole, summarized(2, 300)), user("next"))
		b.turn(t, "c")
		if synctest.Wait(); len(m.calls()) != 0 {
			t.Fatal("asked for two turns ahead")
		}
		b.turn(t, "c", dry)
		if synctest.Wait(); len(m.calls()) != 0 {
			t.Fatal("a dry run asked a model")
		}
		b.turn(t, "c") // turn 3: age 2
		if synctest.Wait(); len(m.calls()) != 1 {
			t.Fatalf("%d calls at age = turns", len(m.calls()))
		}
		prompt := m.calls()[0].Prompt
		for _, in := range []string{whole, "4000", "300"} {
			if !strings.Contains(prompt, in) {
				t.Errorf("the prompt lacks %s", abridged(in))
			}
		}
		time.Sleep(30 * time.Second)
		var r *engine.BuildResult
		if took := timed(func() { r = b.turn(t, "c") }); took != 0 {
			t.Errorf("the build waited for %s", took)
		}
		wantShown(t, r, 2, summaryOf(4000, 2, gist))
		if d := decision(r, 2); d == nil || d.Kind != conversation.DecisionCompacted || d.Reason != conversation.ReasonExpiredSummary || len(r.Degradations) != 0 {
			t.Errorf("decision %+v, degradations %+v", d, r.Degradations)
		}
		for range 4 {
			wantShown(t, b.turn(t, "c"), 2, summaryOf(4000, 2, gist))
		}
		if len(m.calls()) != 1 {
			t.Errorf("%d calls", len(m.calls()))
		}
		b.rebuildsAll(t, "c", 8)
	})
}

// TestEngine_Build_SummaryDeferral: a text without a ready summary stays in full for at most 3 turns. Then the sidecar's own extract is
// used, and a degradation says why (behaviour §5).
func TestEngine_Build_SummaryDeferral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes(gist, 25*time.Second)
		b := modelBench(t, m, func(o *engine.Options) { o.Defaults.MaxWait = ptr(time.Millisecond) })
		whole := long("result", 4000)
		b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, summarized(0, 300)), user("next"))
		for range 3 { // turns 1 to 3
			r := b.turn(t, "c")
			wantShown(t, r, 2, whole)
			if d := decision(r, 2); d == nil || d.Reason != conversation.ReasonSummaryNotReady || len(r.Degradations) != 1 || len(r.Events) != 0 {
				t.Errorf("turn %d: %+v, %+v", r.Turn, d, r.Degradations)
			}
		}
		r := b.turn(t, "c")
		wantShown(t, r, 2, extractOf(whole, 300, 2))
		if len(r.Degradations) != 1 || !strings.Contains(r.Degradations[0].Reason, "not ready in time") || !strings.Contains(r.Degradations[0].Done, "extract") {
			t.Errorf("%+v", r.Degradations)
		}
		time.Sleep(time.Minute)
		wantShown(t, b.turn(t, "c"), 2, extractOf(whole, 300, 2)) // frozen
		if len(m.calls()) != 1 {
			t.Errorf("%d calls", len(m.calls()))
		}
	})
}

// TestEngine_Build_FailingModel: model, extract, first characters: each fallback happens in the same build, with a reason (behaviour §5).
func TestEngine_Build_FailingModel(t *testing.T) {
	whole := long("result", 4000)
	for _, tt := range []struct {
		name    string
		summary string
		err     error
		why     string
	}{
		{"an error", "", errors.New("boom: the key is xyz"), ""},
		{"an empty answer", " ", nil, ""},
		{"not shorter", strings.Repeat("b", 4000), nil, ""},
		{"over its cap", strings.Repeat("b ", 700), nil, ""},
		{"an echo", whole[:900], nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &scribe{reply: func(context.Context, int, summarize.Call) (string, error) { return tt.summary, tt.err }}
				b := modelBench(t, m, func(o *engine.Options) { o.Defaults.MaxWait = ptr(20 * time.Second) })
				b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, summarized(0, 300)), user("next"))
				r := b.turn(t, "c")
				wantShown(t, r, 2, extractOf(whole, 300, 2))
				d := decision(r, 2)
				if d == nil || d.Reason != conversation.ReasonExpiredExtract || len(r.Degradations) != 1 {
					t.Fatalf("%+v, %+v", d, r.Degradations)
				}
				if why := r.Degradations[0].Reason; why == "" || strings.Contains(why, "xyz") || strings.Contains(why, "and so on") {
					t.Errorf("it says %q", why)
				}
			})
		})
	}
}

// TestEngine_Build_SummaryTooHeavy: a summary that saves nothing is not used.
func TestEngine_Build_SummaryTooHeavy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes(strings.Repeat("b", 380), 0)
		b := modelBench(t, m, nil)
		whole := long("r", 400)
		b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, summarized(0, 200)), user("next"))
		r := b.turn(t, "c")
		wantShown(t, r, 2, extractOf(whole, 200, 2))
		if len(r.Degradations) != 1 || !strings.Contains(r.Degradations[0].Reason, "weighs no less") {
			t.Errorf("%+v", r.Degradations)
		}
	})
}

// TestEngine_Build_SummaryPrompts: the named prompt is used, with its template's values. If it was deleted, the default is used, and the
// answer says so (behaviour §5).
func TestEngine_Build_SummaryPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes(gist, 0)
		b := modelBench(t, m, nil)
		put := func(id, head string) {
			p := conversation.Prompt{ID: id, Template: head + " {{tool}}/{{message_type}}/{{turn_added}}/{{length}}/{{target_length}}: {{content}}"}
			if _, err := b.PutPrompt(ctx, "default", p, engine.Request{}); err != nil {
				t.Fatal(err)
			}
		}
		put("mine", "Mine")
		put("gone", "Gone")
		put("default", "Default")
		b.append(t, "c", user("go"))
		b.turn(t, "c")
		for i, id := range []string{"mine", "gone", ""} {
			e := summarized(0, 300)
			e.CompactPromptID = id
			msg := resultLiving("k", long(fmt.Sprint("r", i), 4000), e)
			msg.Type, msg.Parts[0].Result.Name = conversation.TypeActionResult, "search"
			b.append(t, "c", call("k"), msg, answer("done"))
			if id == "gone" {
				if err := b.DeletePrompt(ctx, "default", id, engine.Request{}); err != nil {
					t.Fatal(err)
				}
			}
			b.now = b.now.Add(2 * time.Second) // catalogues are looked up again
			r := b.turn(t, "c")
			index := int32(2 + 3*i)
			wantShown(t, r, index, summaryOf(4000, index, gist))
			if (len(r.Degradations) == 1) != (id == "gone") {
				t.Errorf("%s: %+v", id, r.Degradations)
			}
			head := "Default"
			if id == "mine" {
				head = "Mine"
			}
			want := fmt.Sprintf("%s \"search\"/\"action result\"/%d/4000/300: ", head, i+1)
			if got := m.calls()[i].Prompt; !strings.HasPrefix(got, want) {
				t.Errorf("asked %q, want %q", abridged(got), want)
			}
		}
	})
}

// TestEngine_Build_WhatNoModelSees: no model is given system messages, or anything that never expires (behaviour §5, §8).
func TestEngine_Build_WhatNoModelSees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes(gist, 0)
		b := modelBench(t, m, nil)
		whole := long("secret", 4000)
		e := summarized(0, 300)
		b.append(t, "c", living(text(conversation.RoleSystem, whole), e), user("go"), living(text(conversation.RoleSystem, whole), e),
			living(pinned(user(whole)), e), living(user(whole), e))
		r := b.turn(t, "c")
		for index, want := range map[int32]string{0: whole, 2: extractOf(whole, 300, 2), 3: whole, 4: whole} {
			wantShown(t, r, index, want)
		}
		if len(r.Degradations) != 1 || !strings.Contains(r.Degradations[0].Reason, "system messages") {
			t.Errorf("%+v", r.Degradations)
		}
		b.turn(t, "c", dry, overriding(conversation.ExpirationOverride{Expiration: *summarized(0, 10)}))
		synctest.Wait()
		if n := len(m.calls()); n != 0 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestEngine_Build_AppendsWhileItWaits: the conversation is not locked during model calls: an append during the wait returns at once, and
// the build shows it.
func TestEngine_Build_AppendsWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes(gist, 2*time.Second)
		b := modelBench(t, m, nil)
		whole := long("result", 4000)
		b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, summarized(0, 300)), user("next"))
		done := make(chan *engine.BuildResult)
		go func() { done <- b.turn(t, "c") }()
		time.Sleep(time.Second)
		if took := timed(func() { b.append(t, "c", user("meanwhile")) }); took != 0 {
			t.Errorf("an append took %s", took)
		}
		if took := timed(func() { _ = b.records(t, "c") }); took != 0 {
			t.Errorf("a listing took %s", took)
		}
		r := <-done
		wantShown(t, r, 2, summaryOf(4000, 2, gist))
		wantShown(t, r, 4, "meanwhile")
		if r.Turn != 1 || b.head(t, "c").ManifestSeq != 1 {
			t.Errorf("turn %d, %d manifests", r.Turn, b.head(t, "c").ManifestSeq)
		}
	})
}

// TestEngine_Build_WaitsShareTheirTime: however often a build decides again, its waits take at most max_wait in total. A dry run neither
// asks nor waits (behaviour §3.3, §5).
func TestEngine_Build_WaitsShareTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &scribe{reply: func(ctx context.Context, n int, _ summarize.Call) (string, error) {
			time.Sleep([]time.Duration{2 * time.Second, 20 * time.Second}[n-1])
			return gist, ctx.Err()
		}}
		b := modelBench(t, m, nil)
		whole := long("result", 4000)
		b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, summarized(0, 300)), living(user(long("u", 4000)), summarized(0, 300)))
		if took := timed(func() { wantShown(t, b.turn(t, "c", dry), 2, whole) }); took != 0 || len(m.calls()) != 0 {
			t.Errorf("a dry run took %s and made %d calls", took, len(m.calls()))
		}
		var took time.Duration
		done := make(chan *engine.BuildResult)
		go func() {
			var r *engine.BuildResult
			took = timed(func() { r = b.turn(t, "c") })
			done <- r
		}()
		time.Sleep(time.Second)
		b.append(t, "c", user("meanwhile")) // the user's words are due now too
		r := <-done
		wantShown(t, r, 2, summaryOf(4000, 2, gist))
		wantShown(t, r, 3, long("u", 4000))
		if took != 3*time.Second || len(m.calls()) != 2 {
			t.Errorf("it took %s, with %d calls", took, len(m.calls()))
		}
	})
}

// TestEngine_Build_OneCallForOneContent: later builds, the same content again and an expansion cause no further call.
func TestEngine_Build_OneCallForOneContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := writes(gist, time.Second)
		b := modelBench(t, m, nil)
		whole := long("result", 4000)
		b.append(t, "c", user("go"), call("k", "j"), resultLiving("k", whole, summarized(0, 300)), resultLiving("j", whole, summarized(0, 300)), user("next"))
		r := b.turn(t, "c")
		wantShown(t, r, 2, summaryOf(4000, 2, gist))
		wantShown(t, r, 3, summaryOf(4000, 3, gist))
		b.expanded(t, 2)
		wantShown(t, b.turn(t, "c"), 3, whole) // the whole unit is back, for a turn at least
		wantShown(t, b.turn(t, "c"), 3, summaryOf(4000, 3, gist))
		wantShown(t, b.turn(t, "c"), 2, summaryOf(4000, 2, gist))
		if n := len(m.calls()); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestEngine_Build_ForgetsSummariesOfErased: summaries of erased texts leave the cache, in every mode.
func TestEngine_Build_ForgetsSummariesOfErased(t *testing.T) {
	for name, change := range map[string]func(*engine.BuildRequest){
		"compacted": func(*engine.BuildRequest) {},
		"removed":   overriding(conversation.ExpirationOverride{Expiration: conversation.Expiration{Mode: conversation.ExpirationRemove}}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := writes(gist, 0)
				b := modelBench(t, m, nil)
				whole := long("result", 4000)
				b.append(t, "c", user("go"), call("k"), resultLiving("k", whole, erasing(summarized(1, 300))), user("next"))
				b.turn(t, "c")
				if synctest.Wait(); len(m.calls()) != 1 {
					t.Fatalf("%d calls", len(m.calls()))
				}
				r := b.turn(t, "c", change)
				if got, _ := message(r, 2); name == "compacted" && got != "[Summary of 4000 characters.]\n\n"+gist {
					t.Errorf("shows %s", got)
				}
				b.append(t, "c", call("k"), resultLiving("k", whole, summarized(0, 300)), user("again"))
				b.turn(t, "c")
				if n := len(m.calls()); n != 2 {
					t.Errorf("%d calls: the summary was remembered", n)
				}
			})
		})
	}
}
