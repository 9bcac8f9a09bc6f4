package property

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// cases is how many histories are tried unless -rapid.checks says otherwise: more than of small values, because little happens in most.
// What happens much in, and takes long for it, has half as many.
const cases = 1000

var ctx = context.Background()

var key = engine.Key{Namespace: "default", Conversation: "c"}

// counter is chars4 under the default's name: the promises hold for any counter, and this one is quick.
type counter struct{ tokens.Counter }

func (counter) Name() string { return conversation.DefaultCounter }

func count(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

func newEngine(s store.Store, cache int64) *engine.Engine { return engine.New(options(s, cache)) }

func options(s store.Store, cache int64) engine.Options {
	n, off := uint64(0), true
	return engine.Options{
		Store: s, Counters: []tokens.Counter{counter{chars4.New()}},
		Formats: renderers,
		Clock:   func() time.Time { return time.Unix(1_800_000_000, 0) },
		IDs: func() (id conversation.ID) {
			n++
			binary.BigEndian.PutUint64(id[:], n)
			return id
		},
		CacheBytes: cache, OnError: func(error) {},
		Defaults: conversation.Policy{ // what these tests are about is not how old messages are summarized
			Pruning:    conversation.PruningPolicy{Off: &off},
			Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySlidingWindow},
		},
	}
}

// run is one case: a history that grows, and builds of it.
type run struct {
	t      *rapid.T
	engine *engine.Engine
	store  store.Store
	record []conversation.Message
	seen   []int32 // by message: how many a build had shown when it was appended
	hidden map[int]bool
	built  []*engine.BuildResult
	last   map[conversation.Format]*validate.Context
}

func TestEngine_Build_AnyHistoryAnyBudgetAnyFormat(t *testing.T) {
	proptest.CheckN(t, cases, func(t *rapid.T) {
		s := memory.New(memory.Options{})
		defer func() { _ = s.Close() }()
		r := &run{t: t, store: s, hidden: map[int]bool{}, last: map[conversation.Format]*validate.Context{}}
		r.engine = newEngine(s, rapid.SampledFrom([]int64{0, 1 << 20}).Draw(t, "cache"))
		g := newGenerator(t)
		f := rapid.SampledFrom(drawn(true)).Draw(t, "format")
		budgets := rapid.SliceOfN(rapid.Int32Range(60, 4000), 1, 3).Draw(t, "budgets")
		for range rapid.IntRange(1, 30).Draw(t, "messages") {
			r.append(g.message())
			switch rapid.IntRange(0, 29).Draw(t, "step") {
			case 0:
				r.hide(g)
			case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12:
				r.build(f, rapid.SampledFrom(budgets).Draw(t, "budget"))
			}
		}
		r.build(f, budgets[0])
		r.rebuild()
	})
}

func (r *run) append(m conversation.Message) {
	r.seen = append(r.seen, seenBy(r.t, r.store, key))
	r.record = append(r.record, conversation.Message{Role: m.Role, Pinned: m.Pinned, Tags: m.Tags, Parts: conversation.CloneParts(m.Parts)})
	if _, err := r.engine.Append(ctx, engine.AppendRequest{Key: key, Messages: []conversation.Message{m}}); err != nil {
		r.t.Fatalf("append: %v", err)
	}
}

// seenBy is how many messages the last committed build of a conversation knew.
func seenBy(t *rapid.T, s store.Store, key engine.Key) int32 {
	snap, err := s.Read(ctx, key, store.Query{})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	if snap == nil {
		return 0
	}
	return snap.Head.Seen
}

// hide commits what a rewind to a finished unit would: a range edit that nothing may look behind, and no call that waits.
func (r *run) hide(g *generator) {
	from, to := rapid.IntRange(0, len(r.record)-1).Draw(r.t, "from"), len(r.record)
	if r.record[from].Role == conversation.RoleTool || r.model(from).Pending() {
		return
	}
	g.open, g.dead = nil, nil
	snap, err := r.store.Read(ctx, key, store.Query{})
	if err != nil {
		r.t.Fatal(err)
	}
	c := &store.Change{Expect: snap.Head.Version, Head: snap.Head}
	c.Head.Version++
	c.Head.EditSeq++
	c.Head.Unanswered, c.Head.UnitStart, c.Head.CallsEnd = nil, c.Head.Messages, 0
	c.Edits = []conversation.Edit{{
		Seq: c.Head.EditSeq, Kind: conversation.EditHide, Commit: c.Head.Version,
		Range: conversation.Range{First: int32(from), End: int32(to)},
	}}
	if err := r.store.Commit(ctx, key, c); err != nil {
		r.t.Fatal(err)
	}
	for i := from; i < to; i++ {
		r.hidden[i] = true
	}
	clear(r.last) // the hidden range breaks every prefix
}

// visible is the independent model of what may be shown.
func (r *run) visible() *validate.History { return r.model(len(r.record)) }

// spoken is the model up to the newest message that says anything: what comes after it may be written as nothing, and then the
// unit before it is the newest that can be shown.
func (r *run) spoken() *validate.History {
	end := len(r.record)
	for end > 0 && (r.hidden[end-1] || silent(&r.record[end-1])) {
		end--
	}
	return r.model(end)
}

func (r *run) model(end int) *validate.History {
	h := validate.NewHistory(count)
	last := int32(end)
	for i := range r.record[:end] {
		if r.hidden[i] {
			continue
		}
		if r.seen[i] > last {
			h.Shown()
		}
		h.Add(model(&r.record[i]))
		last = int32(i)
	}
	return h
}

// mute says whether nobody but the system says anything that every provider takes.
func (r *run) mute() bool {
	for i := range r.record {
		if m := &r.record[i]; !r.hidden[i] && m.Role != conversation.RoleSystem && !silent(m) {
			return false
		}
	}
	return true
}

func silent(m *conversation.Message) bool {
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case conversation.PartText:
			if strings.TrimSpace(p.Text.Inline) != "" {
				return false
			}
		case conversation.PartReasoning, conversation.PartOpaque:
		default:
			return false
		}
	}
	return true
}

func (r *run) build(f conversation.Format, budget int32) {
	zero := int32(0)
	request := engine.BuildRequest{
		Key: key, Format: f, Model: rapid.SampledFrom([]string{"", "m1"}).Draw(r.t, "model"),
		Budget:         engine.BudgetOverride{ContextWindow: &budget, ReservedOutput: &zero},
		CloseOpenCalls: rapid.IntRange(0, 2).Draw(r.t, "closes") == 0,
	}
	dry := request
	dry.DryRun = true
	expected, dryErr := r.engine.Build(ctx, dry)
	got, err := r.engine.Build(ctx, request)
	if err != nil {
		r.refused(err, &request)
		if conversation.KindOf(dryErr) != conversation.KindOf(err) {
			r.t.Fatalf("a dry run answers %v, the build %v", dryErr, err)
		}
		return
	}
	if dryErr != nil || !bytes.Equal(expected.MessagesJSON, got.MessagesJSON) || !bytes.Equal(expected.System, got.System) {
		r.t.Fatalf("the dry run differs (%v):\n%s\n%s", dryErr, expected.MessagesJSON, got.MessagesJSON)
	}
	if h := r.visible(); h.Pending() && !request.CloseOpenCalls || h.SystemOnly() {
		r.t.Fatalf("built, though calls wait (%v) or nobody speaks (%v)", h.Pending(), h.SystemOnly())
	}
	r.built = append(r.built, got)
	r.check(f, budget, got)
}

func (r *run) check(f conversation.Format, budget int32, got *engine.BuildResult) {
	c, err := validate.NewChecker(formats[f], count)
	if err != nil {
		r.t.Fatal(err)
	}
	read := c.Read(got.System, got.MessagesJSON)
	if len(read.Violations) > 0 {
		r.t.Fatalf("illegal: %v\n%s\n%s", read.Violations, got.System, got.MessagesJSON)
	}
	if read.Tokens > int(budget) {
		r.t.Fatalf("%d tokens by an independent count (%d by ours) in a budget of %d\n%s", read.Tokens, got.Tokens.Total, budget, got.MessagesJSON)
	}
	r.newest(got)
	r.pairs(got)
	r.prefix(f, read, got)
}

// pairs demands that no call is closed that has a result: one that came behind other messages stands beside it, unless a build had shown the
// call without.
func (r *run) pairs(got *engine.BuildResult) {
	calls, results := r.visible().Unpaired()
	closed := strings.Count(string(got.MessagesJSON), "[No result: the call was never answered.]")
	late := strings.Count(string(got.MessagesJSON), "[Late result of ")
	if closed > calls || late > results {
		r.t.Fatalf("%d calls are closed, %d late results shown; %d and %d are on record\n%s", closed, late, calls, results, got.MessagesJSON)
	}
}

var marks = regexp.MustCompile(`w\d+x`)

// newest demands the newest unit: every mark in it stands in the context.
func (r *run) newest(got *engine.BuildResult) {
	shown := map[string]bool{}
	for _, m := range marks.FindAllString(string(got.System)+string(got.MessagesJSON), -1) {
		shown[m] = true
	}
	for _, m := range r.visible().Newest() {
		for _, it := range m.Items {
			for _, mark := range marks.FindAllString(strings.Join(it.Texts, " "), -1) {
				if it.Kind != validate.Opaque && !shown[mark] {
					r.t.Fatalf("the newest unit's %s is missing in\n%s", mark, got.MessagesJSON)
				}
			}
		}
	}
}

// prefix compares bytes, not reports.
func (r *run) prefix(f conversation.Format, read *validate.Context, got *engine.BuildResult) {
	before := r.last[f]
	r.last[f] = read
	if before == nil || got.Prefix.BrokenBy != engine.BreakNone {
		return
	}
	for i := range before.Blocks {
		if i >= len(read.Blocks) || before.Blocks[i].JSON != read.Blocks[i].JSON || before.Blocks[i].Role != read.Blocks[i].Role {
			r.t.Fatalf("block %d of the previous build is not in place, and no rewrite is reported", i)
		}
	}
}

// refused demands that the refusal is a documented one, and right by the independent model.
func (r *run) refused(err error, request *engine.BuildRequest) {
	h, budget := r.visible(), *request.Budget.ContextWindow
	switch kind := conversation.KindOf(err); kind {
	case conversation.ContextCannotFit:
		if need := bone(h) + r.pinnedUnits(); need <= int(budget) {
			r.t.Fatalf("refused (%v), but %d tokens fit %d", err, need, budget)
		}
	case conversation.PendingToolCalls:
		if !h.Pending() || request.CloseOpenCalls {
			r.t.Fatalf("refused (%v), but no call waits", err)
		}
	case conversation.EmptyContext:
		if need := bone(r.spoken()) + r.pinnedUnits(); !r.mute() && need <= int(budget) {
			r.t.Fatalf("refused (%v), but there is something to show", err)
		}
	default:
		r.t.Fatalf("not a documented refusal: %v (%v)", err, errors.Unwrap(err))
	}
}

// pinnedUnits is what a pinned message brings along: all of its unit.
func (r *run) pinnedUnits() int {
	n := 0
	for _, u := range r.visible().Units() {
		if !slices.ContainsFunc(u, func(m validate.Message) bool { return m.Pinned }) {
			continue
		}
		for i := range u {
			n += u[i].Tokens(count) + 24
		}
	}
	return n
}

// bone is the least that can be shown, with the words that providers' rules add to calls and results that do not pair.
func bone(h *validate.History) int {
	const words = 24
	n := h.Bone()
	for _, m := range h.Newest() {
		for _, it := range m.Items {
			if it.Kind == validate.Call || it.Kind == validate.Result {
				n += words
			}
		}
	}
	return n
}

// rebuild demands every earlier build again, byte for byte, from a cold engine.
func (r *run) rebuild() {
	cold := newEngine(r.store, 0)
	for _, b := range r.built {
		again, err := cold.Manifest(ctx, key, b.Manifest.Seq, conversation.FormatUnspecified)
		if err != nil {
			r.t.Fatalf("manifest %d: %v", b.Manifest.Seq, err)
		}
		if again.SHA256 != b.Manifest.SHA256 || !bytes.Equal(again.MessagesJSON, b.MessagesJSON) || !bytes.Equal(again.System, b.System) {
			r.t.Fatalf("manifest %d rebuilds to other bytes", b.Manifest.Seq)
		}
	}
}
