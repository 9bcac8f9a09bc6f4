package engine_test

import (
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

func newCoalesced() *bench {
	return lifeBench(memory.New(memory.Options{}), func(o *engine.Options) { o.Defaults = conversation.Policy{} })
}

// holding returns a conversation whose next build, the third, holds back the edit of message 5, which frees some 1,150 tokens: it pays
// to wait for the edit of message 2, which is due in turn 9.
func holding(t *testing.T, between ...conversation.Message) *bench {
	b := newCoalesced()
	b.append(t, "c", user("go"), call("a"), resultLiving("a", words(1000), compacted(8, 100)), user(words(4000)))
	b.turn(t, "c", modeled)
	b.append(t, "c", call("k"), resultLiving("k", words(1200), compacted(1, 100)), answer("done"))
	b.append(t, "c", between...)
	b.append(t, "c", user("newer"))
	b.turn(t, "c", modeled)
	b.append(t, "c", user("next"))
	return b
}

func modeled(r *engine.BuildRequest) { r.Model, r.Fixed.SystemPrompt = "m", "s" }

// wantHeld fails unless the edit of a message is held back, or made.
func wantHeld(t *testing.T, r *engine.BuildResult, index int32, held bool) {
	t.Helper()
	d := decision(r, index)
	switch {
	case d == nil:
		t.Errorf("turn %d: no decision about message %d", r.Turn, index)
	case held && (d.Kind != conversation.DecisionDeferred || d.Reason != conversation.ReasonHeldForRewrite || d.Before != d.After || d.Before == 0 || d.EditSeq != 0):
		t.Errorf("turn %d: %+v; want it held", r.Turn, d)
	case !held && (d.Kind != conversation.DecisionCompacted || d.EditSeq == 0):
		t.Errorf("turn %d: %+v; want it made", r.Turn, d)
	}
}

// TestEngine_Build_HeldUntil: COALESCED holds back due edits until one of the causes in behaviour §8 makes them.
func TestEngine_Build_HeldUntil(t *testing.T) {
	later := func(d time.Duration) func(*bench) { return func(b *bench) { b.now = b.now.Add(d) } }
	none := func(*bench) {}
	keep := func(*engine.BuildRequest) {}
	rewrite := func(p conversation.RewritePolicy) func(*engine.BuildRequest) {
		return by(conversation.Policy{Rewrite: p})
	}
	prices := func(read, write float64) func(*bench) {
		return func(b *bench) {
			p := conversation.ModelProfile{Model: "m", CacheReadPrice: &read, CacheWritePrice: &write}
			if err := b.PutModelProfile(ctx, "default", p, engine.Request{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		before func(*bench)
		change func(*engine.BuildRequest)
		held   bool
	}{
		{"nothing", none, keep, true},
		{"almost five minutes", later(5*time.Minute - time.Nanosecond), keep, true},
		{"five minutes: the cache is cold", later(5 * time.Minute), keep, false},
		{"a minute, for a policy of a minute", later(time.Minute), rewrite(conversation.RewritePolicy{ColdAfter: ptr(time.Minute)}), false},
		{"another model", none, func(r *engine.BuildRequest) { r.Model = "n" }, false},
		{"another system prompt", none, func(r *engine.BuildRequest) { r.Fixed.SystemPrompt = "t" }, false},
		{"another format, which nobody was sent", none, func(r *engine.BuildRequest) { r.Format = conversation.FormatOpenAIChat }, false},
		{"less to gain", none, rewrite(conversation.RewritePolicy{MinGainTokens: ptr(int32(1100))}), false},
		{"more to gain", none, rewrite(conversation.RewritePolicy{MinGainTokens: ptr(int32(1300))}), true},
		{"no waiting", none, rewrite(conversation.RewritePolicy{MaxDeferralTurns: ptr(int32(0))}), false},
		{"too little waiting for what comes", none, rewrite(conversation.RewritePolicy{MaxDeferralTurns: ptr(int32(5))}), false},
		{"eager", none, rewrite(conversation.RewritePolicy{Mode: conversation.RewriteEager}), false},
		{"overflow", none, within(5000), false},
		{"no overflow", none, within(7000), true},
		{"reading costs what writing does", prices(1.25, 1.25), keep, false},
		{"writing costs more", prices(.1, 2), keep, true},
		{"a jump over its time", none, func(r *engine.BuildRequest) { r.Turn = ptr(int32(13)) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := holding(t)
			tt.before(b)
			r := b.turn(t, "c", modeled, tt.change)
			if r.Messages == nil {
				m, err := b.Message(ctx, keyOf("c"), 5)
				if err != nil || m.Level != conversation.Shortened {
					t.Errorf("%+v, %v", m, err)
				}
				return
			}
			if d := decision(r, 5); d != nil && tt.name == "overflow" && d.Kind == conversation.DecisionLeftOut {
				return
			}
			wantHeld(t, r, 5, tt.held)
			if tt.held != (len(r.Events) == 0) || tt.held != (r.Prefix.BrokenBy == engine.BreakNone) {
				t.Errorf("events %+v, broken by %d", r.Events, r.Prefix.BrokenBy)
			}
		})
	}
}

// TestEngine_Build_HeldForTenTurns: an edit waits 10 turns at most, also in a small view. same_turn does not count.
func TestEngine_Build_HeldForTenTurns(t *testing.T) {
	b := newCoalesced()
	b.append(t, "c", user("go"), call("k"), resultLiving("k", words(1000), compacted(1, 100)), answer("done"))
	b.turn(t, "c")
	for turn := int32(2); turn < 12; turn++ {
		b.append(t, "c", user("next"))
		r := b.turn(t, "c")
		wantHeld(t, r, 2, true)
		wantShown(t, r, 2, words(1000))
		if d := decision(r, 2); d.Before != 1000 {
			t.Errorf("%+v", d)
		}
		b.turn(t, "c", sameTurn)
	}
	r := b.turn(t, "c") // due since turn 2
	wantHeld(t, r, 2, false)
	wantShown(t, r, 2, firstChars(words(1000), 100, 2))
	if r.Prefix.BrokenBy != engine.BreakExpired || r.Prefix.StableBlocks != 2 {
		t.Errorf("%+v", r.Prefix)
	}
	b.rebuildsAll(t, "c", 22)
}

// TestEngine_Build_GainsTogether: once due edits free 5,000 tokens together, all of them are made.
func TestEngine_Build_GainsTogether(t *testing.T) {
	b := newCoalesced()
	b.append(t, "c", user("go"), call("a"), resultLiving("a", words(3000), compacted(8, 100)), user("on"))
	b.turn(t, "c")
	for i := range 5 {
		b.append(t, "c", call("k"), resultLiving("k", words(1200), compacted(1, 100)), answer("done"))
		r := b.turn(t, "c", by(conversation.Policy{Rewrite: conversation.RewritePolicy{MaxDeferralTurns: ptr(int32(1000))}}))
		// What was appended in turn n is due in n+2: when n units are due, they free n × 1,153 tokens.
		for j := range i {
			wantHeld(t, r, int32(5+3*j), true)
		}
	}
	b.append(t, "c", user("next"))
	r := b.turn(t, "c", by(conversation.Policy{Rewrite: conversation.RewritePolicy{MaxDeferralTurns: ptr(int32(1000))}}))
	for j := range 5 {
		wantHeld(t, r, int32(5+3*j), false)
	}
	wantShown(t, r, 2, words(3000))
	if r.Tokens.SavedByExpiry < 5000 || r.Prefix.BrokenBy != engine.BreakExpired {
		t.Errorf("saved %d, broken by %d", r.Tokens.SavedByExpiry, r.Prefix.BrokenBy)
	}
}

// TestEngine_Build_FreeBehind: a rewrite that must be made includes every due edit behind it, and none before it (behaviour §8).
func TestEngine_Build_FreeBehind(t *testing.T) {
	varied := adds("p", "", "now", true, never)
	for _, tt := range []struct {
		name string
		// force makes a rewrite at message 7, behind the held edit of 5, or at message 0, before it.
		force func(t *testing.T, before bool) *bench
		broke engine.Break
	}{
		{"a switch of variants", func(t *testing.T, before bool) *bench {
			b := newCoalesced()
			if before {
				b.enrich(t, "c", user("go"), varied)
			} else {
				b.append(t, "c", user("go"))
			}
			b.append(t, "c", call("a"), resultLiving("a", words(1000), compacted(8, 100)), user(words(4000)))
			b.append(t, "c", call("k"), resultLiving("k", words(1200), compacted(1, 100)), answer("done"))
			if !before {
				b.enrich(t, "c", user("go"), varied)
			}
			b.turn(t, "c")
			b.append(t, "c", user("next"))
			return b
		}, engine.BreakRetention},
		{"an erasure", func(t *testing.T, before bool) *bench {
			b := newCoalesced()
			gone := living(user(words(300)), erasing(compacted(1, 100)))
			if before {
				b.append(t, "c", gone)
			} else {
				b.append(t, "c", user("go"))
			}
			b.append(t, "c", call("a"), resultLiving("a", words(1000), compacted(8, 100)), user(words(4000)))
			b.append(t, "c", call("k"), resultLiving("k", words(1200), compacted(1, 100)), answer("done"))
			if !before {
				b.append(t, "c", gone)
			}
			b.append(t, "c", user("newer"))
			b.turn(t, "c")
			b.append(t, "c", user("next"))
			return b
		}, engine.BreakExpired},
		{"an expansion", func(t *testing.T, before bool) *bench {
			b := newCoalesced()
			short, index := living(user(words(300)), compacted(3, 100)), int32(7)
			if before {
				index = 0
				b.append(t, "c", short)
			} else {
				b.append(t, "c", user("go"))
			}
			b.append(t, "c", call("a"), resultLiving("a", words(1000), compacted(12, 100)), user(words(4000)))
			b.append(t, "c", call("k"), resultLiving("k", words(1200), compacted(4, 100)), answer("done"))
			if !before {
				b.append(t, "c", short)
			}
			b.append(t, "c", user("newer"))
			b.turn(t, "c", func(r *engine.BuildRequest) { r.Turn = ptr(int32(4)) }) // cold: it is compacted at once
			b.append(t, "c", user("next"))
			b.expanded(t, index)
			return b
		}, engine.BreakExpanded},
	} {
		for _, before := range []bool{true, false} {
			b := tt.force(t, before)
			r := b.turn(t, "c")
			wantHeld(t, r, 5, !before)
			if r.Prefix.BrokenBy != tt.broke || before != (r.Prefix.StableBlocks == 0) {
				t.Errorf("%s before the edit (%v): %+v", tt.name, before, r.Prefix)
			}
		}
	}
}

// TestEngine_Build_UnseenIsFree: changing what the provider has not seen yet costs nothing.
func TestEngine_Build_UnseenIsFree(t *testing.T) {
	b := newCoalesced()
	b.append(t, "c", user("go"))
	b.turn(t, "c")
	b.append(t, "c", call("k"), resultLiving("k", words(1000), compacted(0, 100)), answer("done"))
	r := b.turn(t, "c")
	wantHeld(t, r, 2, false)
	if r.Prefix.BrokenBy != engine.BreakNone {
		t.Errorf("%+v", r.Prefix)
	}
}
