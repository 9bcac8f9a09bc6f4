package summaries

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// asked is a model that a bait makes, and how often it was called.
type asked struct {
	calls  atomic.Int64
	answer func(ctx context.Context, n int64, c summarize.Call) (string, error)
}

// Complete implements summarize.Model. It is paid by the character.
func (a *asked) Complete(ctx context.Context, c summarize.Call) (summarize.Answer, error) {
	text, err := a.answer(ctx, a.calls.Add(1), c)
	return summarize.Answer{Text: text, InputTokens: int64(len(c.System)+len(c.Prompt)) / 4, OutputTokens: int64(len(text))/4 + 1}, err
}

func after(wait time.Duration, text string) func(context.Context, int64, summarize.Call) (string, error) {
	return func(ctx context.Context, _ int64, _ summarize.Call) (string, error) {
		select {
		case <-time.After(wait):
			return text, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// useless are models that never give a summary that may be used: they must not be asked by every build.
var useless = map[string]func(context.Context, int64, summarize.Call) (string, error){
	"as long as its input": func(_ context.Context, n int64, c summarize.Call) (string, error) {
		return summed(strings.Repeat(fmt.Sprint("longer ", n, " "), len(c.Prompt)/8)), nil
	},
	"fails":   func(context.Context, int64, summarize.Call) (string, error) { return "", context.DeadlineExceeded },
	"hangs":   after(time.Hour, ""),
	"late":    after(20*time.Second, summed("the parts were read, all is well")),
	"garbage": after(0, "{]"),
	"echoes":  func(_ context.Context, _ int64, c summarize.Call) (string, error) { return summed(c.Prompt), nil },
}

// working are models whose answers are taken.
var working = map[string]func(context.Context, int64, summarize.Call) (string, error){
	"writes": after(time.Second, summed("The parts were read; nothing is open.")),
	"answers for another request": func(_ context.Context, n int64, _ summarize.Call) (string, error) {
		return summed(fmt.Sprintf("Request %d was about the weather in May.", n-1)), nil
	},
	"fails every other time": func(_ context.Context, n int64, _ summarize.Call) (string, error) {
		if n%2 == 0 {
			return "", nil
		}
		return summed("The parts were read."), nil
	},
}

// bait is a conversation that might make compaction go round in circles.
type bait struct {
	policy  conversation.Policy
	said    func(i int) []conversation.Message
	fixed   int32
	usage   func(i int, total int64) *engine.Usage
	model   func(i int) string
	refused bool // builds are refused, as documented
	idle    bool // no summary can shrink the view by enough
}

func grows(i int) []conversation.Message {
	id := fmt.Sprint("k", i)
	out := exchange(id, fmt.Sprintf("part %d: /srv/data/part%d.csv has %d rows\n", i, i, 17*i)+strings.Repeat("a row of it, and another one. ", 15))
	out[1].Parts[0].Result.Expiration = nil
	if i%7 == 6 {
		out = append(out, text(conversation.RoleUser, fmt.Sprintf("Go on with part %d. You must never delete part %d.", i+1, i)))
	}
	return out
}

// now and then, something of so many tokens.
func giant(tokens int, of func(string) []conversation.Message) func(int) []conversation.Message {
	return func(i int) []conversation.Message {
		if i%10 != 9 {
			return grows(i)
		}
		return of(strings.Repeat("giant ", tokens*4/6))
	}
}

func asUser(s string) []conversation.Message {
	return []conversation.Message{text(conversation.RoleUser, s)}
}

func asResult(s string) []conversation.Message {
	out := exchange("giant", s)
	out[1].Parts[0].Result.Expiration = nil
	return out
}

func reports(of func(i int, total int64) int64) func(int, int64) *engine.Usage {
	return func(i int, total int64) *engine.Usage {
		return &engine.Usage{Input: int32(min(of(i, total), math.MaxInt32)), Output: 10}
	}
}

func compacting(c conversation.CompactionPolicy) conversation.Policy {
	return conversation.Policy{Compaction: c}
}

var baits = map[string]bait{
	"grows":                   {},
	"hierarchy":               {policy: compacting(conversation.CompactionPolicy{Strategy: conversation.StrategyHierarchical})},
	"a giant user message":    {said: giant(budget+10, asUser), refused: true},
	"a large user message":    {said: giant(budget*8/10, asUser)},
	"a giant result":          {said: giant(20*budget, asResult)},
	"fixed input over it":     {fixed: budget + 1, refused: true},
	"fixed input just under":  {fixed: budget - 700},
	"fixed input, nine parts": {fixed: budget * 9 / 10, idle: true},
	"usage of 0":              {usage: reports(func(int, int64) int64 { return 0 })},
	"usage of 2^31-1":         {usage: reports(func(int, int64) int64 { return math.MaxInt32 })},
	"usage that grows":        {usage: reports(func(i int, total int64) int64 { return total + int64(i)*1000 })},
	"usage of another model": {
		usage: reports(func(int, int64) int64 { return 50 * budget }), model: func(i int) string { return fmt.Sprint("model-", i%3) },
	},
	"min_shrink never met": {policy: compacting(conversation.CompactionPolicy{MinShrinkPercent: new(int32(90))}), idle: true},
	"keeps 10,000": {policy: compacting(conversation.CompactionPolicy{
		KeepRecent: new(int32(10_000)), TailPercent: new(int32(90)), TargetPercent: new(int32(10)), SummaryTokens: new(int32(8000)),
	})},
	"keeps 1":         {policy: compacting(conversation.CompactionPolicy{KeepRecent: new(int32(1)), TailPercent: new(int32(1)), TargetPercent: new(int32(90))})},
	"threshold of 1":  {policy: compacting(conversation.CompactionPolicy{ThresholdMessages: new(int32(1)), KeepRecent: new(int32(1))})},
	"prepares at 1 %": {policy: compacting(conversation.CompactionPolicy{PreparePercent: new(int32(1)), KeepRecent: new(int32(2))})},
}

const (
	baitBuilds = 60
	maxWait    = 3 * time.Second
	// spends is what a conversation may spend on models, in tokens.
	spends = 12_000
)

// TestBuild_LoopBait_EndsInAContextOrARefusal: whatever the conversation, its policy, the reports about it and the model are like, every
// build ends in time, in a legal context within its budget or in the documented refusal, and models are asked within limits.
func TestBuild_LoopBait_EndsInAContextOrARefusal(t *testing.T) {
	for name, b := range baits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for model, answer := range useless {
				t.Run(model, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { b.live(t, &asked{answer: answer}, true) })
				})
			}
			for model, answer := range working {
				t.Run(model, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { b.live(t, &asked{answer: answer}, false) })
				})
			}
		})
	}
}

// live lets the conversation live through its builds, one every two seconds.
func (b bait) live(t *testing.T, m *asked, useless bool) {
	s := memory.New(memory.Options{})
	w := worldOf(s, m, func(o *engine.Options, d *summarize.Options) {
		o.Defaults, d.TokensPerConversation = conversation.Policy{}, spends
	})
	defer func() {
		w.close()
		_ = s.Close()
	}()
	key := engine.Key{Namespace: "default", Conversation: "c"}
	b.begin(t, w, key)
	began, refused, made := time.Now(), 0, 0
	var usage *engine.Usage
	for i := range baitBuilds {
		synctest.Wait()
		w.say(t, key, b.says(i)...)
		got, err := b.build(t, w, m, key, i, usage)
		if err != nil {
			refused++
			continue
		}
		made += events(got, conversation.EventSummarized)
		if b.usage != nil {
			usage = b.usage(i, got.Tokens.Total)
		}
		time.Sleep(2 * time.Second)
	}
	b.spent(t, w, m, useless, time.Since(began))
	if b.refused != (refused > 0) || refused < baitBuilds && b.idle != (made == 0) {
		t.Errorf("%d builds were refused, and %d made a summary", refused, made)
	}
}

func (b bait) says(i int) []conversation.Message {
	if b.said == nil {
		return grows(i)
	}
	return b.said(i)
}

func (b bait) begin(t *testing.T, w *world, key engine.Key) {
	t.Helper()
	policy := b.policy
	policy.Fit.MaxContextTokens, policy.MaxWait = new(int32(budget)), new(maxWait)
	if _, err := w.Create(t.Context(), engine.CreateRequest{Key: key, Info: store.Info{Counter: conversation.DefaultCounter, Policy: policy}}); err != nil {
		t.Fatal(err)
	}
	pinned := text(conversation.RoleUser, secretPinned)
	pinned.Pinned = true
	w.say(t, key, text(conversation.RoleSystem, secretSystem), pinned, text(conversation.RoleUser, "Read the parts."))
}

// build holds one build to what all are held to; an error is a refusal.
func (b bait) build(t *testing.T, w *world, m *asked, key engine.Key, i int, usage *engine.Usage) (*engine.BuildResult, error) {
	t.Helper()
	r := engine.BuildRequest{Key: key, Format: conversation.FormatAnthropic, LastUsage: usage}
	if b.fixed > 0 {
		r.Fixed.Tokens = &b.fixed
	}
	if b.model != nil {
		r.Model = b.model(i)
	}
	calls, began := m.calls.Load(), time.Now()
	got, err := w.Build(t.Context(), r)
	took, during := time.Since(began), m.calls.Load()-calls
	switch {
	case err != nil && conversation.KindOf(err) != conversation.ContextCannotFit:
		t.Fatalf("build %d: %v", i, err)
	case err != nil && (during > 0 || took > 0):
		t.Errorf("build %d was refused after %d calls and %s", i, during, took)
	case err == nil:
		withinBounds(t, i, got)
	}
	if took > maxWait {
		t.Errorf("build %d took %s", i, took)
	}
	if during > 2*tries {
		t.Errorf("build %d waited for %d calls", i, during)
	}
	return got, err
}

// tries is how often a service asks for one summary, when a failure may pass.
const tries = 3

func withinBounds(t *testing.T, i int, got *engine.BuildResult) {
	t.Helper()
	violations, err := validate.Check(validate.Anthropic, got.System, got.MessagesJSON)
	if err != nil || len(violations) > 0 || got.Tokens.Total > got.Tokens.Budget || got.Tokens.Budget != budget {
		t.Errorf("build %d: %d tokens for %d; %v (%v)", i, got.Tokens.Total, got.Tokens.Budget, violations, err)
	}
	if !strings.Contains(string(got.System), secretSystem) || !strings.Contains(string(got.MessagesJSON), secretPinned) {
		t.Errorf("build %d: a rule is missing", i)
	}
}

func events(got *engine.BuildResult, of conversation.EventType) (n int) {
	for _, e := range got.Events {
		if e.Type == of {
			n++
		}
	}
	return n
}

// spent holds the service's books to the limits.
func (b bait) spent(t *testing.T, w *world, m *asked, useless bool, took time.Duration) {
	t.Helper()
	usage := w.service.Usage()
	if spent := usage.Tokens.Input + usage.Tokens.Output; spent > spends+2*budget {
		t.Errorf("%d tokens were spent, the limit is %d", spent, spends)
	}
	minutes := int64(took/time.Minute) + 1
	if calls := m.calls.Load(); useless && calls > tries*(minutes+1) {
		t.Errorf("%d calls in %s of a model that is no help", calls, took)
	}
	if own, err := json.Marshal(usage); err == nil && testing.Verbose() {
		t.Logf("%d calls in %s; %s", m.calls.Load(), took, own)
	}
}
