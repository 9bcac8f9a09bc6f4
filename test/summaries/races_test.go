package summaries

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// brawl is one conversation that many callers do everything to.
type brawl struct {
	*world
	key  engine.Key
	done [6]atomic.Int64 // of each kind

	mu      sync.Mutex
	said    map[int32]string
	sums    map[int64][32]byte // of builds, by manifest
	refused map[conversation.Kind]int
}

// TestEngine_ManyCallersCompactAndRewind_NothingIsLostOrTorn: 16 callers append, build, compact, rewind, expand and read at a time. All
// that was acknowledged is on record, every build comes back byte for byte, and each caller is told something that is documented.
func TestEngine_ManyCallersCompactAndRewind_NothingIsLostOrTorn(t *testing.T) {
	stores := map[string]func(t *testing.T) store.Store{
		"memory": func(*testing.T) store.Store { return memory.New(memory.Options{}) },
		"bolt": func(t *testing.T) store.Store {
			s, err := bolt.Open(filepath.Join(t.TempDir(), "c.db"), bolt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
	for name, open := range stores {
		for _, strategy := range []conversation.Strategy{conversation.StrategySummarize, conversation.StrategyHierarchical} {
			t.Run(fmt.Sprint(name, " ", strategy), func(t *testing.T) {
				t.Parallel()
				s := open(t)
				b := &brawl{
					key: engine.Key{Namespace: "default", Conversation: "c"}, said: map[int32]string{}, sums: map[int64][32]byte{},
					refused: map[conversation.Kind]int{},
				}
				b.world = worldOf(s, &alone{wait: 3 * time.Millisecond}, func(o *engine.Options, _ *summarize.Options) {
					o.Defaults = conversation.Policy{
						MaxWait: new(20 * time.Millisecond), Fit: conversation.FitPolicy{MaxContextTokens: new(int32(budget))},
						Compaction: conversation.CompactionPolicy{Strategy: strategy, KeepRecent: new(int32(6))},
						Pruning:    conversation.PruningPolicy{ProtectTokens: new(int32(800)), MinimumTokens: new(int32(200))},
					}
				})
				defer func() {
					b.close()
					_ = s.Close()
				}()
				b.fight(t)
			})
		}
	}
}

func (b *brawl) fight(t *testing.T) {
	t.Helper()
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	b.say(t, b.key, text(conversation.RoleSystem, secretSystem), text(conversation.RoleUser, "Read the parts."))
	var acting sync.WaitGroup
	for caller := range 16 {
		acting.Go(func() {
			r := rand.New(rand.NewPCG(uint64(caller), 7))
			for i := range rounds {
				if err := b.act(r, fmt.Sprint(caller, "/", i)); err != nil {
					t.Errorf("caller %d, round %d: %v", caller, i, err)
					return
				}
			}
		})
	}
	acting.Wait()
	b.whole(t)
}

// act does one of the things that callers do.
func (b *brawl) act(r *rand.Rand, what string) error {
	ctx := context.Background()
	kind := []int{0, 0, 0, 0, 1, 1, 1, 2, 3, 4, 4, 5}[r.IntN(12)]
	var err error
	switch kind {
	case 0:
		err = b.speak(ctx, what)
	case 1:
		err = b.look(ctx, r)
	case 2:
		_, err = b.Compact(ctx, engine.CompactRequest{Key: b.key, KeepRecent: new(int32(r.IntN(6)))})
	case 3:
		_, err = b.Rewind(ctx, engine.RewindRequest{Key: b.key, From: b.index(r, 10)})
	case 4:
		_, err = b.Expand(ctx, engine.ExpandRequest{Key: b.key, Index: new(b.index(r, 60))})
	case 5:
		_, err = b.Messages(ctx, engine.MessagesRequest{
			Key: b.key, Range: conversation.Range{End: -1}, Current: true, Limit: 100, MaxBytes: 1 << 20, Size: func(*engine.MessageInView) int { return 1 },
		})
	}
	if err == nil {
		b.done[kind].Add(1)
	}
	return b.forgive(err)
}

// forgive is nil for what a caller may be told.
func (b *brawl) forgive(err error) error {
	kind := conversation.KindOf(err)
	if err == nil || !slices.Contains([]conversation.Kind{
		conversation.Contention, conversation.NothingToCompact, conversation.AlreadyRewound, conversation.NotEdited, conversation.ExpansionTooLarge,
		conversation.PendingToolCalls, conversation.EmptyContext, conversation.MessageNotFound,
	}, kind) {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused[kind]++
	return nil
}

// index is one of the newest messages.
func (b *brawl) index(r *rand.Rand, among int) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int32(max(0, len(b.said)-1-r.IntN(among)))
}

func (b *brawl) speak(ctx context.Context, what string) error {
	messages := grows(len(what))
	messages[0].Parts[0].Text.Inline = what
	got, err := b.Append(ctx, engine.AppendRequest{Key: b.key, Messages: messages})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range got.Messages {
		index := got.Messages[i].Index
		if _, twice := b.said[index]; twice {
			return fmt.Errorf("index %d was given twice", index)
		}
		b.said[index] = ""
	}
	b.said[got.Messages[0].Index] = what
	return nil
}

func (b *brawl) look(ctx context.Context, r *rand.Rand) error {
	got, err := b.Build(ctx, engine.BuildRequest{Key: b.key, Format: conversation.Format(1 + r.IntN(5)), SameTurn: r.IntN(4) == 0})
	if err != nil {
		return err
	}
	if got.Tokens.Total > got.Tokens.Budget {
		return fmt.Errorf("%d tokens for %d", got.Tokens.Total, got.Tokens.Budget)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sums[got.Manifest.Seq] = got.SHA256
	return nil
}

// whole looks at the conversation when all have left.
func (b *brawl) whole(t *testing.T) {
	t.Helper()
	for index, what := range b.said {
		m, err := b.Message(t.Context(), b.key, index)
		if err != nil || what != "" && m.Message.Parts[0].Text.Inline != what {
			t.Errorf("message %d, %q, is lost: %v", index, what, err)
		}
	}
	for seq, sum := range b.sums {
		again, err := b.Manifest(t.Context(), b.key, seq, conversation.FormatUnspecified)
		if err != nil || again.SHA256 != sum {
			t.Errorf("manifest %d does not rebuild (%v)", seq, err)
		}
	}
	summaries, hidden := 0, 0
	err := b.Export(t.Context(), b.key, func(r engine.Record) error {
		switch {
		case r.Edit == nil:
		case r.Edit.Kind == conversation.EditHide:
			hidden++
		case r.Edit.Summary != nil:
			summaries++
			if r.Edit.Summary.Text.Inline == "" {
				t.Errorf("summary s%d has no text", r.Edit.Summary.ID)
			}
		}
		return nil
	})
	for kind := range b.done {
		if b.done[kind].Load() == 0 {
			t.Errorf("nobody did what is number %d: nothing is tested", kind)
		}
	}
	if err != nil || summaries == 0 || hidden != int(b.done[3].Load()) {
		t.Errorf("%d summaries, %d rewinds on record of %d (%v)", summaries, hidden, b.done[3].Load(), err)
	}
	t.Logf("%d messages, %d builds, %d summaries, %d rewinds, %d expansions; refused: %v", len(b.said), len(b.sums), summaries, hidden, b.done[4].Load(), b.refused)
}
