package losses

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/span"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

var every = flag.Bool("losses.all", false, "play every recording, not a part of each kind")

// generic is what a model that has understood nothing writes.
const generic = "The user and the assistant worked on the task together. Several tools were called and their results were read. " +
	"Good progress was made, some problems were solved, and the work goes on from here."

// proser is a model that answers every request with generic prose.
type proser struct{}

func (proser) Complete(context.Context, summarize.Call) (summarize.Answer, error) {
	return summarize.Answer{Text: fmt.Sprintf(`{"summary":%q}`, generic)}, nil
}

// manners are the summarizers that the bar is about.
var manners = map[string]func(*summarize.Options){
	"extract": func(o *summarize.Options) { o.ExtractSpan = span.Extract },
	"prose": func(o *summarize.Options) {
		o.Providers, o.Models = map[string]summarize.Model{"test": proser{}}, []string{"test/prose"}
	},
}

// play is one kind of recordings at one window.
type play struct {
	kind             string
	window, reserved int32
	step             int  // of the recordings, unless all are asked for
	unpruned         bool // pruning alone would keep it in its window
}

var plays = []play{
	{"pi_sessions", 128_000, 16_384, 1, true},
	{"pi_sessions", 64_000, 16_384, 1, false},
	{"pi_sessions", 32_000, 16_384, 1, false},
	{"mini_swe_agent", 32_000, 0, 9, false},
	{"mini_swe_agent", 16_000, 0, 9, false},
	{"swe_agent", 8_000, 0, 1, false},
	{"tau2_gpt41", 6_000, 0, 3, false},
	{"tau2_claude45", 6_000, 0, 2, false},
	{"tau2_gptoss", 6_000, 0, 2, false},
	{"tau2_sft_openai", 6_000, 0, 2, false},
	{"tau_airline_gpt4o", 6_000, 0, 6, false},
	{"locomo10", 16_000, 0, 2, false},
}

// TestSummaries_RealRecordings_LoseNothingUnnoticed is the loss gate (behaviour §8): of everything that a summary stands for, all
// open calls and all rules of the user's, and at least 98 % of the paths and ids that came up more than once, are in its text.
func TestSummaries_RealRecordings_LoseNothingUnnoticed(t *testing.T) {
	counter, err := bpe.New(conversation.DefaultCounter)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plays {
		list := recordings(t, p.kind)
		for _, manner := range []string{"extract", "prose"} {
			t.Run(fmt.Sprintf("%s/%d/%s", p.kind, p.window, manner), func(t *testing.T) {
				sums := tallies{}
				for i := 0; i < len(list); i++ {
					if *every || i%p.step == 0 {
						synctest.Test(t, func(t *testing.T) { played(t, &list[i], p, manner, counter, sums) })
					}
				}
				sums.judge(t)
			})
		}
	}
}

var key = engine.Key{Namespace: "default", Conversation: "c"}

// session is a recording on its way through an engine.
type session struct {
	t       *testing.T
	engine  *engine.Engine
	play    play
	counter tokens.Counter
	sums    tallies
	shown   []told         // of each message, as the last view that held it showed it; as it was appended before
	seen    map[int64]bool // summaries
	made    int
}

func played(t *testing.T, r *recording, p play, manner string, counter tokens.Counter, sums tallies) {
	store := memory.New(memory.Options{})
	defer store.Close()
	o := summarize.Options{}
	manners[manner](&o)
	service := summarize.New(o)
	defer service.Close()
	n := uint64(0)
	e := engine.New(engine.Options{
		Store: store, Counters: []tokens.Counter{counter}, Formats: []provider.Format{neutral.New()}, Clock: time.Now, CacheBytes: 64 << 20,
		Summaries: service, OnError: func(err error) { t.Error(err) },
		IDs: func() (id conversation.ID) {
			n++
			binary.BigEndian.PutUint64(id[:], n)
			return id
		},
	})
	defer e.Close()
	s := &session{t: t, engine: e, play: p, counter: counter, sums: sums, seen: map[int64]bool{}}
	for i := range r.Messages {
		if r.Messages[i].Role == "assistant" && i > 0 {
			s.build()
		}
		s.append(r.Messages[i].message())
	}
	s.build()
}

func (s *session) append(m conversation.Message) {
	s.shown = append(s.shown, told{role: m.Role, index: int32(len(s.shown)), parts: conversation.CloneParts(m.Parts)})
	if _, err := s.engine.Append(context.Background(), engine.AppendRequest{Key: key, Messages: []conversation.Message{m}}); err != nil {
		s.t.Fatalf("append: %v", err)
	}
}

// build builds, and looks at what was summarized in it.
func (s *session) build() {
	b, err := s.engine.Build(context.Background(), engine.BuildRequest{
		Key: key, Budget: engine.BudgetOverride{ContextWindow: &s.play.window, ReservedOutput: &s.play.reserved},
		PolicyOverride: conversation.Policy{Pruning: conversation.PruningPolicy{Off: &s.play.unpruned}},
	})
	switch conversation.KindOf(err) {
	case conversation.PendingToolCalls, conversation.EmptyContext:
		return
	}
	if err != nil {
		s.t.Fatalf("build: %v", err)
	}
	synctest.Wait() // for what is prepared in the background
	shown := map[int32]bool{}
	for i := range b.Messages {
		if m := &b.Messages[i]; m.Index >= 0 && m.Summary == 0 {
			shown[m.Index] = true
		}
	}
	for i := range b.Messages {
		if m := &b.Messages[i]; m.Summary > 0 && !s.seen[m.Summary] {
			s.seen[m.Summary] = true
			s.made++
			s.summary(b, m, shown)
		}
	}
	for i := range b.Messages {
		if m := &b.Messages[i]; shown[m.Index] && m.Summary == 0 {
			s.shown[m.Index].parts = m.Parts
		}
	}
}

// summary looks in a summary for what it must not lose of all that it stands for: the messages of its range that the view does
// not show beside it.
func (s *session) summary(b *engine.BuildResult, m *provider.Message, shown map[int32]bool) {
	at := slices.IndexFunc(b.Decisions, func(d conversation.Decision) bool { return d.Summary == m.Summary })
	if at < 0 {
		s.t.Fatalf("summary s%d is in no decision", m.Summary)
	}
	d := b.Decisions[at]
	var span []told
	for _, told := range s.shown[d.First : d.Last+1] {
		if told.role != conversation.RoleSystem && !shown[told.index] {
			span = append(span, told)
		}
	}
	text := strings.Join(textsOf(m.Parts), "\n")
	tally := s.sums.of(s.made)
	tally.summaries++
	n, _ := s.counter.Count(text)
	tally.tokens = max(tally.tokens, n)
	if list, prose := strings.CutPrefix(text, generic); prose {
		budget := int(s.play.window - s.play.reserved)
		most := min(conversation.DefaultListTokens, max(budget/10, min(2_500, budget/8)))
		if n, _ := s.counter.Count(strings.TrimSpace(list)); n > most {
			s.t.Errorf("summary s%d lists %d tokens of what it lacks, and may list %d", m.Summary, n, most)
		}
	}
	plainText := plain(text)
	for _, f := range extract(span) {
		tally.look(f, text, plainText)
	}
}
