package property

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// life is one case with the lifecycle on: a history that grows, is built, forgotten, erased and brought back.
type life struct {
	t        *rapid.T
	g        *generator
	store    store.Store
	engine   *engine.Engine
	service  *summarize.Service
	model    *minded
	policies map[conversation.ActionKey]conversation.ActionPolicy
	policy   conversation.Policy
	removes  bool // a build's override, or the policy, removes
	ample    bool // budgets have room for everything
	summed   bool // an AI summary was asked for: what is shown depends on what models have said by then

	record []*entry
	calls  []call // that wait for a result
	edits  []conversation.Edit
	turn   int32
	builds []build
	court  court
}

// build is a committed build.
type build struct {
	*engine.BuildResult
	turn  int32
	count int32 // messages then
	time  time.Time
	model string
	shown []byte
}

// roomy is a budget that nothing here reaches.
const roomy = int32(5_000_000)

// TestEngine_AnyLife_KeepsItsPromises holds what is let go, kept, erased and brought back to independent models of the rules.
// Time is the bubble's: models take as long as they like, and no test waits.
func TestEngine_AnyLife_KeepsItsPromises(t *testing.T) {
	proptest.CheckN(t, cases, func(rt *rapid.T) {
		bubbled(t, func() { live(rt) })
	})
}

// bubbled runs a case in a bubble of its own time. rapid tells failures apart by where they come from.
func bubbled(t *testing.T, do func()) {
	var failure any
	synctest.Test(t, func(*testing.T) {
		defer func() { failure = recover() }()
		do()
	})
	switch {
	case failure == nil:
	case fmt.Sprintf("%T", failure) == "rapid.invalidData": // not on the line of failures
		panic(failure)
	default:
		panic(failure)
	}
}

func live(t *rapid.T) {
	l := begin(t)
	defer l.end()
	formats := rapid.SliceOfN(rapid.SampledFrom(drawn(false)), 1, 2).Draw(t, "formats")
	budgets := []int32{roomy}
	if !l.ample {
		budgets = rapid.SliceOfN(rapid.Int32Range(60, 4000), 1, 3).Draw(t, "budgets")
	}
	pick := func() (conversation.Format, int32) {
		return rapid.SampledFrom(formats).Draw(t, "format"), rapid.SampledFrom(budgets).Draw(t, "budget")
	}
	for range rapid.IntRange(1, 16).Draw(t, "messages") {
		l.append(l.g.message())
		for range rapid.SampledFrom([]int{0, 1, 1, 2}).Draw(t, "steps") {
			f, budget := pick()
			l.step(f, budget)
		}
	}
	f, budget := pick()
	l.build(f, budget)
	l.finish(f, budget)
	bytesCounted(t, l.store, key)
}

func begin(t *rapid.T) *life {
	l := &life{
		t: t, g: newGenerator(t), store: memory.New(memory.Options{}), model: &minded{},
		court: newCourt(t),
	}
	l.model.manner = rapid.SampledFrom([]string{"", "fails", "rambles", "hangs", "slow"}).Draw(t, "model is")
	l.service = summarize.New(summarize.Options{Providers: map[string]summarize.Model{"test": l.model}, Models: []string{"test/m"}})
	l.engine = l.newEngine(rapid.SampledFrom([]int64{0, 1 << 20}).Draw(t, "cache"))
	l.policies, l.policy = l.g.policies(), l.g.policy()
	l.ample = rapid.Bool().Draw(t, "ample")
	for _, p := range l.policies {
		if err := l.engine.PutActionPolicy(ctx, key.Namespace, p, engine.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := l.engine.Create(ctx, engine.CreateRequest{Key: key, Info: store.Info{Counter: conversation.DefaultCounter, Policy: l.policy}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *life) newEngine(cache int64) *engine.Engine {
	o := options(l.store, cache)
	o.Summaries, o.Clock = l.service, time.Now
	return engine.New(o)
}

func (l *life) end() {
	l.service.Close()
	_ = l.store.Close()
}

// finish looks at everything once more.
func (l *life) finish(f conversation.Format, budget int32) {
	l.originals()
	l.current()
	l.manifests()
	l.forgotten()
	l.copied(f, budget)
}

func (l *life) step(f conversation.Format, budget int32) {
	switch rapid.IntRange(0, 11).Draw(l.t, "step") {
	case 0:
		l.expand(true)
	case 1, 2:
		l.expand(false)
	case 3:
		time.Sleep(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 6 * time.Minute}).Draw(l.t, "silence"))
	case 4:
		l.originals()
	case 5:
		l.sameAsCold(f, budget)
	default:
		l.build(f, budget)
	}
}

func (l *life) append(m conversation.Message) {
	l.g.lived(&m)
	extra := l.g.extraOf(&m)
	e := l.entryOf(m, extra)
	_, err := l.engine.Append(ctx, engine.AppendRequest{Key: key, Messages: []conversation.Message{m}, Extras: []engine.AppendExtra{extra}})
	if err != nil {
		l.t.Fatalf("append: %v", err)
	}
	l.record = append(l.record, e)
	pinUnits(l.record)
	l.t.Logf("append %d: %s %s added in turn %d, lives %s", e.index, e.message.Role, e.sketch(), e.turn, e.sketchLives())
}

func (l *life) entryOf(m conversation.Message, extra engine.AppendExtra) *entry {
	e := &entry{
		index: int32(len(l.record)), turn: l.turn, restored: -1, lives: map[int32]*conversation.Expiration{},
		shown: map[int32]shownForm{}, masked: map[int32]bool{}, erased: map[int32]bool{}, erasedAfter: map[int32]int64{}, message: m,
	}
	e.seen = seenBy(l.t, l.store, key)
	e.leading = m.Role == conversation.RoleSystem && (len(l.record) == 0 || l.record[len(l.record)-1].leading)
	e.message.Parts = laid(conversation.CloneParts(m.Parts), extra.Additions)
	e.lives[words] = resolved(m.Expiration, m.Actions, "", extra.Override, l.policies)
	e.ranks = map[int32]conversation.Importance{words: ranked(m.Importance, 0, m.Actions, "", l.policies)}
	for i := range e.message.Parts {
		r := e.message.Parts[i].Result
		if c := e.message.Parts[i].Call; c != nil {
			l.calls = append(l.calls, call{id: c.CallID, name: c.Name, message: e.index})
		}
		if r == nil {
			continue
		}
		said, actions := r.Expiration, r.Actions
		if said == nil {
			said = m.Expiration
		}
		if len(actions) == 0 {
			actions = m.Actions
		}
		called := l.answered(r.CallID)
		if r.Name != "" {
			called = r.Name
		}
		e.lives[int32(i)] = resolved(said, actions, called, extra.Override, l.policies)
		e.ranks[int32(i)] = ranked(r.Importance, m.Importance, actions, called, l.policies)
	}
	for _, x := range e.lives {
		l.summed = l.summed || x != nil && x.CompactMode == conversation.CompactSummary
	}
	l.summed = l.summed || l.policy.Expiration.Results.CompactMode == conversation.CompactSummary
	return e
}

// call is a call that no result has answered yet.
type call struct {
	id, name string
	message  int32
}

// answered is the tool of the call that the next result with an id answers: of the newest unit the first, else the newest.
func (l *life) answered(id string) string {
	at, opened := -1, int32(len(l.record))
	if units := naiveUnits(l.record); !units[len(units)-1][0].aborted() {
		opened = units[len(units)-1][0].index
	}
	for i, c := range l.calls {
		if c.id != id {
			continue
		}
		if at = i; c.message >= opened {
			break
		}
	}
	name := l.calls[at].name
	l.calls = slices.Delete(l.calls, at, at+1)
	return name
}

func (e *entry) sketch() string {
	var out []string
	for i := range e.message.Parts {
		p := &e.message.Parts[i]
		text := blockText(p)
		if len(text) > 24 {
			text = fmt.Sprintf("%.10s...%s (%d)", text, text[len(text)-6:], len([]rune(text)))
		}
		out = append(out, fmt.Sprintf("%d:%d/%d%+v %q", i, p.Kind, p.Variant, p.Retention, text))
	}
	return "[" + strings.Join(out, "; ") + "]"
}

func (e *entry) sketchLives() string {
	var out []string
	for p, x := range e.lives {
		if x != nil && x.Turns != nil {
			out = append(out, fmt.Sprintf("%d: %d turns, mode %d/%d, length %d, preserve %t",
				p, *x.Turns, x.Mode, x.CompactMode, (&thing{life: *x}).length(), x.PreserveOriginal == nil || *x.PreserveOriginal))
		}
	}
	slices.Sort(out)
	return "{" + strings.Join(out, "; ") + "}"
}

// request draws a build.
func (l *life) request(f conversation.Format, budget int32) engine.BuildRequest {
	zero := int32(0)
	r := engine.BuildRequest{
		Key: key, Format: f, Model: rapid.SampledFrom([]string{"", "", "", "m1"}).Draw(l.t, "model"),
		Budget: engine.BudgetOverride{ContextWindow: &budget, ReservedOutput: &zero}, Override: l.g.override(),
		CloseOpenCalls: rapid.IntRange(0, 2).Draw(l.t, "closes") == 0,
	}
	switch rapid.IntRange(0, 7).Draw(l.t, "turn") {
	case 0:
		r.SameTurn = true
	case 1:
		r.Turn = new(l.turn + int32(rapid.IntRange(1, 4).Draw(l.t, "jump")))
	}
	l.removes = l.policy.Expiration.Results.Mode == conversation.ExpirationRemove ||
		r.Override != nil && r.Override.Mode == conversation.ExpirationRemove
	if r.Override != nil && r.Override.CompactMode == conversation.CompactSummary {
		l.summed = true
	}
	return r
}

// build builds, first dry, and holds what was decided to the models.
func (l *life) build(f conversation.Format, budget int32) {
	r := l.request(f, budget)
	dry := r
	dry.DryRun = true
	before, calls := l.version(), l.model.calls.Load()
	expected, dryErr := l.engine.Build(ctx, dry)
	if l.version() != before || l.model.calls.Load() != calls {
		l.t.Fatalf("a dry run commits, or asks a model")
	}
	asked := time.Now()
	got, err := l.engine.Build(ctx, r)
	waited := time.Since(asked)
	synctest.Wait() // for what is prepared in the background
	if most := l.maxWait(); waited > most {
		l.t.Fatalf("the build waited %s, and may wait %s", waited, most)
	}
	if err != nil {
		l.refused(err, dryErr, &r)
		return
	}
	if !l.summed && (dryErr != nil || !bytes.Equal(written(expected), written(got))) {
		l.t.Fatalf("the dry run differs (%v):\n%s\n%s", dryErr, written(expected), written(got))
	}
	b := build{BuildResult: got, turn: got.Turn, count: int32(len(l.record)), time: time.Now(), model: r.Model, shown: written(got)}
	l.t.Logf("build %d: turn %d (same: %t), format %d, override %s, window %+v", got.Manifest.Seq, got.Turn, r.SameTurn, f, sketchOver(r.Override), got.Manifest.Window)
	d := &decision{life: l, build: &b, request: &r, aging: got.Turn > l.turn}
	d.check()
	l.turn = got.Turn
	l.builds = append(l.builds, b)
	l.court.legal(f, budget, &b)
}

func sketchOver(o *conversation.ExpirationOverride) string {
	if o == nil {
		return "none"
	}
	e := &entry{lives: map[int32]*conversation.Expiration{0: &o.Expiration}}
	return fmt.Sprintf("disable %t %s", o.Disable, e.sketchLives())
}

func (l *life) maxWait() time.Duration {
	if l.policy.MaxWait == nil {
		return conversation.DefaultMaxWait
	}
	return *l.policy.MaxWait
}

func (l *life) version() uint64 {
	snap, err := l.store.Read(ctx, key, store.Query{})
	if err != nil {
		l.t.Fatal(err)
	}
	return snap.Head.Version
}

// written is a context's bytes, of whatever format.
func written(b *engine.BuildResult) []byte {
	if b == nil {
		return nil
	}
	if b.Manifest.Format == conversation.FormatNeutral {
		return neutralJSON(b.Messages)
	}
	return slices.Concat(b.System, []byte{0}, b.MessagesJSON)
}

// refused demands that a refusal is a documented one, and right.
func (l *life) refused(err, dryErr error, r *engine.BuildRequest) {
	budget := *r.Budget.ContextWindow
	l.t.Logf("refused: %v", err)
	if !l.summed && conversation.KindOf(dryErr) != conversation.KindOf(err) {
		l.t.Fatalf("a dry run answers %v, the build %v", dryErr, err)
	}
	h := l.history(len(l.record))
	switch kind := conversation.KindOf(err); kind {
	case conversation.PendingToolCalls:
		if !h.Pending() || r.CloseOpenCalls {
			l.t.Fatalf("refused (%v), but no call waits", err)
		}
	case conversation.EmptyContext:
		if l.ample && slices.ContainsFunc(l.record, l.lasts) {
			l.t.Fatalf("refused (%v), but there is something to show", err)
		}
	case conversation.ContextCannotFit:
		if l.ample {
			l.t.Fatalf("refused (%v) with room for everything", err)
		}
	default:
		l.t.Fatalf("not a documented refusal: %v (%v) for %d", err, errors.Unwrap(err), budget)
	}
}

// lasts says whether a message speaks for others than the system, and nothing of it may be removed.
func (l *life) lasts(e *entry) bool {
	for _, other := range shownUnit(l.record, e) {
		for _, x := range other.lives {
			if x != nil && x.Mode == conversation.ExpirationRemove {
				return false
			}
		}
	}
	return e.message.Role != conversation.RoleSystem && e.speaks() && len(e.wordsAt()) > 0 && !e.varied() && !l.removes
}

// history is the record in the words of the judge.
func (l *life) history(end int) *validate.History { return judged(l.record[:end]) }

// sameAsCold demands of the warm engine what one builds that has never seen the conversation.
func (l *life) sameAsCold(f conversation.Format, budget int32) {
	r := l.request(f, budget)
	r.DryRun = true
	warm, err := l.engine.Build(ctx, r)
	cold, coldErr := l.newEngine(0).Build(ctx, r)
	if conversation.KindOf(err) != conversation.KindOf(coldErr) || !bytes.Equal(written(warm), written(cold)) {
		l.t.Fatalf("warm builds (%v)\n%s\ncold builds (%v)\n%s", err, written(warm), coldErr, written(cold))
	}
	if err == nil && warm.Prefix != cold.Prefix {
		l.t.Fatalf("warm reports %+v, cold %+v", warm.Prefix, cold.Prefix)
	}
}
