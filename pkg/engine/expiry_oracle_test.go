package engine_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// oracle implements behaviour §5 again from its text, for results and action results with one text each: which settings are in force, and
// what a build shows.
type oracle struct {
	tools, actions, agents map[string]setting
	server, conversation   setting
	things                 []*oracleThing
	at                     int32
}

// setting holds the settings of one level; nil for a field that it does not set.
type setting struct{ turns, mode, length, keep *int32 }

const (
	stays = int32(conversation.ExpirationNone)
	takes = int32(conversation.ExpirationRemove)
	cuts  = int32(conversation.ExpirationCompact)
)

// under completes the settings of a level with those of the level below.
func (s setting) under(below setting) setting {
	return setting{cmp.Or(s.turns, below.turns), cmp.Or(s.mode, below.mode), cmp.Or(s.length, below.length), cmp.Or(s.keep, below.keep)}
}

func (s setting) whole() bool { return s.turns != nil && s.mode != nil }

// said goes down the levels until the settings are complete.
func said(levels ...setting) (out setting) {
	for _, l := range levels {
		if !out.whole() {
			out = out.under(l)
		}
	}
	return out
}

func (s setting) cut() int32 {
	if s.length == nil {
		return 500
	}
	return *s.length
}

func (s setting) works() bool  { return s.whole() && *s.mode != stays }
func (s setting) erases() bool { return s.keep != nil && *s.keep == 0 }

// oracleThing is a text with its settings, and what has happened to it.
type oracleThing struct {
	index, added    int32
	own, of, append setting // the result's, its message's, the append's override
	tool            string
	acting          []conversation.ActionRef
	chosen          setting // from the policies
	text            string
	shown           string
	erased, gone    bool
}

// choose returns what action policies set for a thing: of several actions, the most aggressive complete configuration.
func (o *oracle) choose(x *oracleThing) setting {
	var all []setting
	for _, a := range x.acting {
		agent, one := o.agents[a.AgentActionID]
		action, other := o.actions[a.ActionID]
		if one || other {
			all = append(all, said(agent, action, o.tools[x.tool]))
		}
	}
	if len(all) == 0 {
		return o.tools[x.tool]
	}
	rank := func(s setting) []int32 {
		s = s.under(o.conversation).under(o.server)
		switch {
		case s.works():
			return []int32{0, *s.turns, *s.mode, s.cut()}
		case s.mode == nil || *s.mode != stays:
			return []int32{1}
		default:
			return []int32{2}
		}
	}
	return slices.MinFunc(all, func(a, b setting) int { return slices.Compare(rank(a), rank(b)) })
}

// inForce returns the settings that count for a thing at a build.
func (o *oracle) inForce(x *oracleThing, request, override setting) setting {
	base := said(x.own, x.of, x.chosen)
	if !base.whole() {
		base = x.append.under(base).under(request).under(o.conversation).under(o.server)
	} else {
		base = x.append.under(base)
	}
	return override.under(base)
}

// build begins a turn.
func (o *oracle) build(turn int32, request, override setting, disabled bool) {
	o.at = turn
	for _, x := range o.things {
		s := o.inForce(x, request, override)
		if disabled || !s.works() || turn-x.added <= *s.turns || x.erased && x.gone {
			continue
		}
		stored := x.append.under(said(x.own, x.of, x.chosen))
		if x.gone {
			first := int32(0)
			if stored.turns != nil {
				first = *stored.turns
			}
			x.erased = x.erased || s.erases() && stored.erases() && turn-x.added > first && (stored.mode == nil || *stored.mode != stays)
			continue
		}
		erasing := s.erases() && !x.erased
		switch {
		case *s.mode == takes:
			x.gone, x.shown, x.erased = true, "", x.erased || erasing
		case x.shown == x.text || erasing:
			x.erased = x.erased || erasing
			x.shown = fmt.Sprintf("%s...\n\n[Compacted: first %d of %d characters shown.", x.text[:s.cut()], s.cut(), len(x.text))
			if !x.erased {
				x.shown += fmt.Sprintf(" Full text: expand_message(%d)", x.index)
			}
			x.shown += "]"
		}
	}
}

// settings draws the settings of a level, often only half of them.
func settings(r *rand.Rand, erasing bool) (s setting) {
	one := func(p **int32, values ...int32) {
		if r.IntN(2) == 0 {
			*p = &values[r.IntN(len(values))]
		}
	}
	one(&s.turns, 0, 1, 2, 3, 5)
	one(&s.mode, stays, takes, cuts, cuts, cuts)
	one(&s.length, 10, 50, 100, 300)
	if erasing {
		one(&s.keep, 0, 1, 1)
	}
	return s
}

func (s setting) expiration() conversation.Expiration {
	e := conversation.Expiration{Turns: s.turns, CompactLength: s.length}
	if s.mode != nil {
		e.Mode = conversation.ExpirationMode(*s.mode)
	}
	if s.keep != nil {
		e.PreserveOriginal = ptr(*s.keep == 1)
	}
	return e
}

func (s setting) pointer() *conversation.Expiration {
	if s == (setting{}) {
		return nil
	}
	e := s.expiration()
	return &e
}

// oracleRun is a random conversation together with its oracle.
type oracleRun struct {
	*bench
	oracle
	r *rand.Rand
}

func newOracleRun(t *testing.T, r *rand.Rand) *oracleRun {
	o := oracle{tools: map[string]setting{}, actions: map[string]setting{}, agents: map[string]setting{}}
	if r.IntN(2) == 0 {
		o.server = settings(r, false)
	}
	if r.IntN(2) == 0 {
		o.conversation = settings(r, false)
	}
	b := lifeBench(memory.New(memory.Options{}), func(opt *engine.Options) { opt.Defaults.Expiration.Results = o.server.expiration() })
	policy := conversation.Policy{Expiration: conversation.ExpirationPolicy{Results: o.conversation.expiration()}}
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: store.Info{Policy: policy}}); err != nil {
		t.Fatal(err)
	}
	put := func(of map[string]setting, name string, key conversation.ActionKey) {
		if r.IntN(2) == 0 {
			return
		}
		of[name] = settings(r, true)
		p := conversation.ActionPolicy{Key: key, Expiration: of[name].expiration(), DefaultPromptID: "default"}
		if err := b.PutActionPolicy(ctx, "default", p, engine.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []string{"1", "2"} {
		put(o.tools, "tool"+n, conversation.ActionKey{ToolName: "tool" + n})
		put(o.actions, "act"+n, conversation.ActionKey{ActionID: "act" + n})
		put(o.agents, "agent"+n, conversation.ActionKey{AgentActionID: "agent" + n})
	}
	return &oracleRun{bench: b, oracle: o, r: r}
}

// add appends a result behind its call, or an action's result, and something newer.
func (o *oracleRun) add(t *testing.T, n int) {
	head := int32(n * 3)
	x := &oracleThing{index: head + 1, added: o.at, text: long(fmt.Sprint("r", n), 2000)}
	x.shown = x.text
	maybe := func(erasing bool) setting {
		if o.r.IntN(2) == 0 {
			return setting{}
		}
		return settings(o.r, erasing)
	}
	x.of, x.append = maybe(true), maybe(true)
	for range o.r.IntN(3) {
		a := conversation.ActionRef{ActionID: fmt.Sprint("act", o.r.IntN(3))}
		if o.r.IntN(2) == 0 {
			a.AgentActionID = fmt.Sprint("agent", o.r.IntN(3))
		}
		x.acting = append(x.acting, a)
	}
	id := fmt.Sprint("k", n)
	m := result(id, x.text)
	messages := []conversation.Message{call(id), m, user("next")}
	if o.r.IntN(3) == 0 {
		messages = []conversation.Message{answer("so"), user(x.text), user("next")}
		messages[1].Type = conversation.TypeActionResult
	} else {
		x.own, x.tool = maybe(true), fmt.Sprint("tool", o.r.IntN(3))
		messages[1].Parts[0].Result.Name, messages[1].Parts[0].Result.Expiration = x.tool, x.own.pointer()
	}
	messages[1].Expiration, messages[1].Actions = x.of.pointer(), x.acting
	extras := make([]engine.AppendExtra, 3)
	if x.append != (setting{}) {
		extras[1].Override = &conversation.ExpirationOverride{Expiration: x.append.expiration()}
	}
	x.chosen = o.choose(x)
	if _, err := o.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: messages, Extras: extras}); err != nil {
		t.Fatal(err)
	}
	o.things = append(o.things, x)
}

// step builds the next turn in both.
func (o *oracleRun) step(t *testing.T) (differences int) {
	var request, override setting
	disabled := o.r.IntN(8) == 0
	if o.r.IntN(4) == 0 {
		request = settings(o.r, false)
	}
	if o.r.IntN(4) == 0 {
		override = settings(o.r, true)
	}
	turn := o.at + 1 + int32(o.r.IntN(2))
	o.oracle.build(turn, request, override, disabled)
	built := o.bench.turn(t, "c", func(r *engine.BuildRequest) {
		r.Turn = &turn
		r.PolicyOverride.Expiration.Results = request.expiration()
		if override != (setting{}) || disabled {
			r.Override = &conversation.ExpirationOverride{Expiration: override.expiration(), Disable: disabled}
		}
	})
	for _, x := range o.things {
		got, _ := message(built, x.index)
		if stored := o.record(t, x.index); got != x.shown || conversation.Erased(stored) != x.erased {
			differences++
			t.Errorf("turn %d shows of message %d, added in %d,\n%s\nwant\n%s\nerased %v, want %v", turn, x.index, x.added,
				abridged(got), abridged(x.shown), conversation.Erased(stored), x.erased)
		}
	}
	return differences
}

func (o *oracleRun) record(t *testing.T, index int32) []conversation.Part {
	t.Helper()
	m, err := o.Message(ctx, keyOf("c"), index)
	if err != nil {
		t.Fatal(err)
	}
	return m.Message.Parts
}

// TestEngine_Build_RandomSettings_AsTheContractReads: settings at every level, complete and partial, and overrides at append and at build,
// have the effect that an independent model of behaviour §5 predicts.
func TestEngine_Build_RandomSettings_AsTheContractReads(t *testing.T) {
	testlane.OneCaller(t)
	seed := proptest.Seed(t)
	for i := range 1000 {
		o := newOracleRun(t, rand.New(rand.NewPCG(seed, uint64(i))))
		for n := range 5 {
			o.add(t, n)
			if o.step(t) > 0 {
				t.Fatalf("conversation %d of seed %d", i, seed)
			}
		}
		if o.step(t) > 0 {
			t.Fatalf("conversation %d of seed %d", i, seed)
		}
	}
}

// TestEngine_Append_HalfOverride_IsMerged: if an override sets only the turns, the rest comes from the conversation's policy at the time of
// the build.
func TestEngine_Append_HalfOverride_IsMerged(t *testing.T) {
	for _, erases := range []bool{false, true} {
		b := newEager()
		policy := conversation.Policy{Expiration: conversation.ExpirationPolicy{Results: *compacted(5, 50)}}
		if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: store.Info{Policy: policy}}); err != nil {
			t.Fatal(err)
		}
		half := conversation.Expiration{Turns: ptr(int32(1))}
		if erases {
			half.PreserveOriginal = ptr(false)
		}
		whole := long("r", 2000)
		_, err := b.Append(ctx, engine.AppendRequest{
			Key: keyOf("c"), Messages: []conversation.Message{user("go"), call("k"), result("k", whole), user("next")},
			Extras: []engine.AppendExtra{{}, {}, {Override: &conversation.ExpirationOverride{Expiration: half}}, {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		wantShown(t, b.turn(t, "c"), 2, whole)
		r := b.turn(t, "c")
		if !erases {
			wantShown(t, r, 2, firstChars(whole, 50, 2))
			continue
		}
		wantShown(t, r, 2, whole[:50]+"...\n\n[Compacted: first 50 of 2000 characters shown.]")
		if m, err := b.Message(ctx, keyOf("c"), 2); err != nil || !conversation.Erased(m.Message.Parts) {
			t.Errorf("%+v is not erased, %v", m, err)
		}
	}
}

// TestEngine_Append_PromptAlone_HidesNothing: an agent's action policy that only names a prompt leaves everything else to its action's
// policy.
func TestEngine_Append_PromptAlone_HidesNothing(t *testing.T) {
	b := newEager()
	for _, p := range []conversation.ActionPolicy{
		{Key: conversation.ActionKey{AgentActionID: "agent"}, DefaultPromptID: "default"},
		{Key: conversation.ActionKey{ActionID: "act"}, Expiration: *compacted(0, 70)},
	} {
		if err := b.PutActionPolicy(ctx, "default", p, engine.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	m := result("k", long("r", 2000))
	m.Actions = []conversation.ActionRef{{ActionID: "act", AgentActionID: "agent"}}
	b.append(t, "c", user("go"), call("k"), m, user("next"))
	wantShown(t, b.turn(t, "c"), 2, firstChars(long("r", 2000), 70, 2))
}

// TestEngine_Message_ShowsTheLifeInForce: replies show all settings in force, including those from the conversation's policy and defaults.
func TestEngine_Message_ShowsTheLifeInForce(t *testing.T) {
	b := newEager()
	policy := conversation.Policy{Expiration: conversation.ExpirationPolicy{Results: *lives(5, conversation.ExpirationCompact)}}
	if _, err := b.Create(ctx, engine.CreateRequest{Key: keyOf("c"), Info: store.Info{Policy: policy}}); err != nil {
		t.Fatal(err)
	}
	b.append(t, "c", user("go"), call("a", "b", "c"), resultLiving("a", "x", removed(2)), resultLiving("b", "x", &conversation.Expiration{Turns: ptr(int32(1))}),
		result("c", "x"), living(user("words"), lives(3, conversation.ExpirationCompact)))
	shown := func(e *conversation.Expiration) string {
		return fmt.Sprint(*e.Turns, e.Mode, e.CompactMode, *e.CompactLength, *e.PreserveOriginal, e.Source)
	}
	messages := b.records(t, "c")
	for index, want := range map[int]string{
		2: fmt.Sprint(2, conversation.ExpirationRemove, conversation.CompactFirstChars, 500, true, conversation.SourceExplicit),
		3: fmt.Sprint(1, conversation.ExpirationCompact, conversation.CompactFirstChars, 500, true, conversation.SourceExplicit),
		4: fmt.Sprint(5, conversation.ExpirationCompact, conversation.CompactFirstChars, 500, true, conversation.SourcePolicy),
	} {
		if got := shown(messages[index].Parts[0].Result.Expiration); got != want {
			t.Errorf("message %d: %s, want %s", index, got, want)
		}
	}
	if got, want := shown(messages[5].Expiration), fmt.Sprint(3, conversation.ExpirationCompact, conversation.CompactFirstChars, 500, true, conversation.SourceExplicit); got != want {
		t.Errorf("words: %s, want %s", got, want)
	}
	if messages[0].Expiration != nil {
		t.Errorf("a user's words: %+v", messages[0].Expiration)
	}
}
