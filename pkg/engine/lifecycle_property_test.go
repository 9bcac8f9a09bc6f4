package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// lifeline is a random conversation on several engines that must agree: one that keeps windows in memory, one that keeps none, and
// two that take turns on one store.
type lifeline struct {
	t       *rapid.T
	engines []*bench
	turnOf  []*bench // of the pair, who has the next turn
	n       int
	builds  []*engine.BuildResult
	erases  bool
}

func newLifeline(t *rapid.T) *lifeline {
	mode := rapid.SampledFrom([]conversation.Policy{eager, {}}).Draw(t, "mode")
	with := func(cache int64) func(*engine.Options) {
		return func(o *engine.Options) { o.CacheBytes, o.Defaults = cache, mode }
	}
	warm, cold := lifeBench(memory.New(memory.Options{}), with(1<<24)), lifeBench(memory.New(memory.Options{}), with(0))
	one := lifeBench(memory.New(memory.Options{}), with(1<<24))
	two := lifeBench(one.store, with(1<<24))
	two.ids.Store(1 << 32)
	return &lifeline{t: t, engines: []*bench{warm, cold, one}, turnOf: []*bench{one, two}, erases: rapid.Bool().Draw(t, "erases")}
}

// each runs a function on every engine. All must return the same.
func (l *lifeline) each(do func(b *bench) (string, error)) {
	all := l.engines
	if len(l.turnOf) > 0 {
		l.turnOf[0], l.turnOf[1] = l.turnOf[1], l.turnOf[0]
		all = []*bench{l.engines[0], l.engines[1], l.turnOf[0]}
	}
	var first string
	for i, b := range all {
		got, err := do(b)
		if err != nil {
			got = string(conversation.KindOf(err))
			if got == string(conversation.Internal) || got == string(conversation.CorruptRecord) {
				l.t.Fatalf("engine %d: %v (%v)", i, err, causeOf(err))
			}
		}
		if i == 0 {
			first = got
		} else if got != first {
			l.t.Fatalf("engine %d answers\n%s\nengine 0\n%s", i, got, first)
		}
	}
}

func (l *lifeline) expiration() *conversation.Expiration {
	if rapid.IntRange(0, 3).Draw(l.t, "expires") == 0 {
		return nil
	}
	e := lives(rapid.Int32Range(0, 4).Draw(l.t, "turns"), rapid.SampledFrom([]conversation.ExpirationMode{
		conversation.ExpirationNone, conversation.ExpirationRemove, conversation.ExpirationCompact, conversation.ExpirationCompact,
	}).Draw(l.t, "mode"))
	e.CompactLength = ptr(rapid.Int32Range(1, 600).Draw(l.t, "length"))
	if rapid.Bool().Draw(l.t, "summary") {
		e.CompactMode = conversation.CompactSummary
	}
	if l.erases && rapid.IntRange(0, 2).Draw(l.t, "erasing") == 0 {
		e = erasing(e)
	}
	return e
}

// name returns a text that no other message has, because it is not defined which of two equal blocks broke a prefix.
func (l *lifeline) name() string {
	l.n++
	return fmt.Sprint("t", l.n)
}

func (l *lifeline) words() string {
	return long(l.name(), rapid.SampledFrom([]int{10, 300, 1200, 2500, 34_000}).Draw(l.t, "chars"))
}

// drawn are messages to append, with what comes with them.
func (l *lifeline) drawn() ([]conversation.Message, []engine.AppendExtra) {
	var messages []conversation.Message
	extras := []engine.AppendExtra{{}}
	switch rapid.IntRange(0, 6).Draw(l.t, "what") {
	case 0:
		messages = []conversation.Message{living(text(conversation.RoleSystem, l.name()), l.expiration())}
	case 1:
		messages = []conversation.Message{living(answer(l.words()), l.expiration())}
	case 2:
		m := living(user(l.words()), l.expiration())
		m.Pinned = rapid.IntRange(0, 5).Draw(l.t, "pinned") == 0 && len(m.Parts[0].Text.Inline) < 400
		messages = []conversation.Message{m}
	case 3, 4:
		messages = []conversation.Message{call("k", "j"), living(resultLiving("k", l.words(), l.expiration()), l.expiration()), resultLiving("j", l.words(), l.expiration())}
		extras = make([]engine.AppendExtra, 3)
	default:
		messages = []conversation.Message{living(user(l.name()), l.expiration())}
		for range rapid.IntRange(1, 3).Draw(l.t, "additions") {
			extras[0].Additions = append(extras[0].Additions, adds(rapid.SampledFrom([]string{"p", "q"}).Draw(l.t, "plugin"), "H", "a", rapid.Bool().Draw(l.t, "now"),
				rapid.SampledFrom([]conversation.Retention{never, always, keepLast(1), keepLast(3)}).Draw(l.t, "kept")))
		}
	}
	return messages, extras
}

// owned are copies of messages, which an engine may keep.
func owned(messages []conversation.Message) []conversation.Message {
	own := make([]conversation.Message, len(messages))
	for i, m := range messages {
		m.Parts = conversation.CloneParts(m.Parts)
		own[i] = m
	}
	return own
}

func (l *lifeline) append() {
	messages, extras := l.drawn()
	l.each(func(b *bench) (string, error) {
		r, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: owned(messages), Extras: append([]engine.AppendExtra(nil), extras...)})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(r.Revision, r.Messages[0].Index, r.Messages[0].TurnAdded), nil
	})
}

func (l *lifeline) build() {
	same, dryRun := rapid.IntRange(0, 4).Draw(l.t, "same") == 0, rapid.IntRange(0, 9).Draw(l.t, "dry") == 0
	budget := rapid.SampledFrom([]int32{3000, 3000, 3000, 9000, room}).Draw(l.t, "budget")
	var override *conversation.ExpirationOverride
	switch rapid.IntRange(0, 9).Draw(l.t, "override") {
	case 0:
		override = &conversation.ExpirationOverride{Disable: true}
	case 1:
		override = &conversation.ExpirationOverride{Expiration: *compacted(0, 50)}
	case 2:
		override = &conversation.ExpirationOverride{Expiration: conversation.Expiration{Mode: conversation.ExpirationRemove}}
	}
	var last *engine.BuildResult
	l.each(func(b *bench) (string, error) {
		r, err := b.tryTurn("c", within(budget), func(r *engine.BuildRequest) { r.SameTurn, r.DryRun, r.Override = same, dryRun, override })
		if err != nil {
			return "", err
		}
		if r.Tokens.Total > int64(budget) {
			l.t.Fatalf("%d tokens in a budget of %d", r.Tokens.Total, budget)
		}
		last = r
		return strings.Join(seen(r), "\n") + fmt.Sprint(r.SHA256, r.Turn, r.Tokens, r.Prefix, r.Decisions, r.Events, r.Degradations, r.Revision, r.Manifest.Seq), nil
	})
	if last != nil && !dryRun {
		l.builds = append(l.builds, last)
	}
}

func (l *lifeline) expand() {
	c, err := l.engines[0].Get(ctx, keyOf("c"))
	if err != nil {
		l.t.Fatal(err)
	}
	index := rapid.Int32Range(0, c.Head.Messages-1).Draw(l.t, "expanded")
	l.each(func(b *bench) (string, error) {
		r, err := b.expand(index)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(r.Revision, r.Events, r.RewriteTokens, r.TotalChars), nil
	})
}

func (l *lifeline) pause() {
	d := rapid.SampledFrom([]time.Duration{time.Second, 6 * time.Minute}).Draw(l.t, "pause")
	for _, b := range append(slices.Clone(l.engines[:2]), l.turnOf...) {
		b.now = b.now.Add(d)
	}
}

// TestEngine_Lifecycle_AllAgree: all engines give the same answers, with or without a window in memory, alone or in turns. No build
// exceeds its budget. Every build whose originals exist can be rebuilt byte for byte.
func TestEngine_Lifecycle_AllAgree(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		l := newLifeline(t)
		l.append()
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				l.expand()
			case 1:
				l.pause()
			case 2, 3, 4:
				l.append()
			default:
				l.build()
			}
		}
		l.rebuild()
	})
}

func (l *lifeline) rebuild() {
	for _, want := range l.builds {
		for i, b := range []*bench{l.engines[0], l.engines[1], l.turnOf[0]} {
			m, err := b.Manifest(ctx, keyOf("c"), want.Manifest.Seq, conversation.FormatUnspecified)
			if l.erases && conversation.KindOf(err) == conversation.ManifestNotRebuildable {
				continue
			}
			if err != nil || m.SHA256 != want.SHA256 {
				l.t.Fatalf("engine %d: manifest %d: %v", i, want.Manifest.Seq, err)
			}
		}
	}
}
