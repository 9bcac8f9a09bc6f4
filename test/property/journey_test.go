package property

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// journey is one case of a conversation that outgrows its window: it is pruned, summarized, rewound and brought back under
// policies that change on the way, and everything that is decided is held to models of the rules that know the log of edits alone.
type journey struct {
	t       *rapid.T
	g       *generator
	store   *flaky
	faulty  bool // the store fails now and then
	engine  *engine.Engine
	service *summarize.Service
	model   *minded // nil for none
	heard   int     // of what the model was asked
	court   court

	key     engine.Key
	policy  conversation.Policy
	record  []*entry
	edits   []conversation.Edit
	turn    int32
	asked   int     // request ids
	budgets []int64 // that builds were committed for, since the last rewind
	builds  []build
	slid    bool             // a compaction was made since the last build
	wrong   map[string]int32 // words that were corrected, and of which message
}

// TestEngine_AnyJourney_NothingIsLostOrTold holds windows under random policies to the rules of pruning, compaction and rewind
// (behaviour §7, §8).
func TestEngine_AnyJourney_NothingIsLostOrTold(t *testing.T) {
	proptest.CheckN(t, cases/2, func(rt *rapid.T) {
		bubbled(t, func() { travel(rt) })
	})
}

func travel(t *rapid.T) {
	j := depart(t)
	defer j.end()
	own := rapid.SampledFrom([]int32{400, 1200, 4000, 12000}).Draw(t, "own budget")
	budgets := []int32{own, own, own, own / 2, own / 5}
	formats := rapid.SliceOfN(rapid.SampledFrom(drawn(false)), 1, 2).Draw(t, "formats")
	for range rapid.IntRange(2, 40).Draw(t, "messages") {
		if rapid.IntRange(0, 30).Draw(t, "larger model") == 0 { // its window is opened afresh
			own *= 3
			budgets = []int32{own, own, own, own / 3, own / 2, own / 5}
		}
		j.append(j.g.message())
		for range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "steps") {
			j.step(rapid.SampledFrom(formats).Draw(t, "format"), rapid.SampledFrom(budgets).Draw(t, "budget"))
		}
	}
	j.build(formats[0], own)
	j.reachable()
	j.unsaid()
	j.manifests()
	j.bytesCounted()
}

func depart(t *rapid.T) *journey {
	j := &journey{t: t, g: newGenerator(t), court: newCourt(t), key: key, store: &flaky{Store: memory.New(memory.Options{}), t: t}, wrong: map[string]int32{}}
	o := summarize.Options{}
	if rapid.Bool().Draw(t, "models") {
		j.model = &minded{manner: rapid.SampledFrom([]string{"", "fails", "rambles", "hangs", "slow"}).Draw(t, "model is")}
		o.Providers, o.Models = map[string]summarize.Model{"test": j.model}, []string{"test/m"}
	} else { // what goes on in the background draws nothing
		j.faulty = rapid.IntRange(0, 3).Draw(t, "faulty") == 0
	}
	j.service = summarize.New(o)
	j.engine = j.newEngine(rapid.SampledFrom([]int64{0, 1 << 20}).Draw(t, "cache"))
	j.policy = j.g.windowPolicy()
	_, err := j.engine.Create(ctx, engine.CreateRequest{Key: j.key, Info: store.Info{Counter: conversation.DefaultCounter, Policy: j.policy}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func (j *journey) newEngine(cache int64) *engine.Engine {
	o := options(j.store, cache)
	o.Summaries, o.Clock, o.Defaults = j.service, time.Now, conversation.Policy{}
	return engine.New(o)
}

func (j *journey) end() {
	j.store.on = false
	j.engine.Close()
	j.service.Close()
	_ = j.store.Close()
}

func (j *journey) step(f conversation.Format, budget int32) {
	switch rapid.IntRange(0, 27).Draw(j.t, "step") {
	case 0:
		if j.rewind(); rapid.IntRange(0, 2).Draw(j.t, "undone") == 0 {
			j.undo()
		}
	case 1, 2:
		j.expand()
	case 3, 4:
		j.compact()
	case 5:
		j.reportUsage()
	case 6:
		j.changePolicy()
	case 7:
		time.Sleep(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 6 * time.Minute}).Draw(j.t, "silence"))
	case 8:
		j.reachable()
	case 9:
		j.moveHouse()
	case 10:
		j.sameAsCold(f, budget)
	case 11:
		j.undo()
	case 12, 13:
		j.correct()
	default:
		j.build(f, budget)
	}
}

// request is a request id that was not used before.
func (j *journey) request(rpc string) engine.Request {
	j.asked++
	return engine.Request{RPC: rpc, ID: fmt.Sprintf("r%d", j.asked)}
}

// insist makes a call, again and again where the store fails in between, and returns how it ended. Everything that runs in the
// background has come to rest then.
func (j *journey) insist(do func() error) error {
	defer synctest.Wait()
	j.store.on = j.faulty
	defer func() { j.store.on = false }()
	for i := range 400 {
		j.store.on = j.store.on && i < 100 // a call of many reads may never pass a store that fails so often
		err := do()
		if kind := conversation.KindOf(err); !j.faulty || kind != conversation.Cancelled && kind != conversation.OutcomeUnknown {
			return err
		}
	}
	j.t.Fatal("the store never lets a call pass")
	return nil
}

// head is the state of the conversation.
func (j *journey) head() store.Head {
	snap, err := j.store.Store.Read(ctx, j.key, store.Query{})
	if err != nil {
		j.t.Fatal(err)
	}
	return snap.Head
}

func (j *journey) append(m conversation.Message) {
	j.g.lived(&m)
	j.g.repeat(&m)
	plainLife(&m)
	e := &entry{
		index: int32(len(j.record)), turn: j.turn, restored: -1, shown: map[int32]shownForm{}, masked: map[int32]bool{},
		message: conversation.Message{Role: m.Role, Type: m.Type, Pinned: m.Pinned, Tags: m.Tags, Parts: conversation.CloneParts(m.Parts)},
	}
	e.ranks = map[int32]conversation.Importance{words: m.Importance}
	for i := range m.Parts {
		if r := m.Parts[i].Result; r != nil {
			e.ranks[int32(i)] = ranked(r.Importance, m.Importance, nil, "", nil)
		}
	}
	before, request := j.head(), j.request("AppendMessage")
	e.seen = before.Seen
	err := j.insist(func() error {
		again := m
		again.Parts = conversation.CloneParts(m.Parts)
		_, err := j.engine.Append(ctx, engine.AppendRequest{Key: j.key, Messages: []conversation.Message{again}, Request: request})
		return err
	})
	if err != nil {
		j.t.Fatalf("append %d: %v", e.index, err)
	}
	if after := j.head(); after.Revision != before.Revision+1 || after.Messages != e.index+1 {
		j.t.Fatalf("append %d: revision %d after %d, %d messages", e.index, after.Revision, before.Revision, after.Messages)
	}
	j.record = append(j.record, e)
	j.settleUnits()
	j.cited(e)
	j.t.Logf("append %d: %s %s", e.index, e.message.Role, e.sketch())
}

// plainLife takes away what other tests are about: blocks that are dropped, originals that are erased.
func plainLife(m *conversation.Message) {
	lives := []*conversation.Expiration{m.Expiration}
	for i := range m.Parts {
		m.Parts[i].Retention = conversation.Retention{}
		if r := m.Parts[i].Result; r != nil {
			lives = append(lives, r.Expiration)
		}
	}
	for _, x := range lives {
		if x != nil {
			x.PreserveOriginal = nil
			if x.CompactMode == conversation.CompactSummary {
				x.CompactMode = conversation.CompactFirstChars
			}
		}
	}
}

// settleUnits finds out anew which messages lead, which are pinned by their unit, and which calls wait.
func (j *journey) settleUnits() {
	leading := true
	for _, u := range naiveUnits(j.record) {
		for _, e := range u {
			leading = leading && e.message.Role == conversation.RoleSystem
			e.leading = leading
		}
	}
	pinUnits(j.record)
}

// rewind takes back everything from some message on.
func (j *journey) rewind() {
	from := rapid.IntRange(0, len(j.record)-1).Draw(j.t, "rewound to")
	if rapid.IntRange(0, 3).Draw(j.t, "far") > 0 {
		from = max(from, len(j.record)-4)
	}
	r := engine.RewindRequest{Key: j.key, From: int32(from), Request: j.request("RewindConversation")}
	before, standing := j.head(), j.standing()
	var got *engine.RewindResult
	err := j.insist(func() (err error) { got, err = j.engine.Rewind(ctx, r); return err })
	all := !slices.ContainsFunc(j.record[from:], func(e *entry) bool { return !e.hidden })
	j.t.Logf("rewind to %d: %v", from, err)
	switch {
	case all && conversation.KindOf(err) == conversation.AlreadyRewound:
		return
	case err != nil || all:
		j.t.Fatalf("a rewind to %d, with everything from there on taken back: %t, answers %v", from, all, err)
	}
	want := conversation.Range{First: int32(from), End: int32(len(j.record))}
	if got.Range != want || got.Revision != before.Revision+1 || j.head().Revision != got.Revision {
		j.t.Fatalf("a rewind to %d answers %+v, revision was %d", from, got, before.Revision)
	}
	j.take()
	var gone []int64
	for _, s := range standing {
		if !slices.ContainsFunc(j.standing(), func(o *conversation.Edit) bool { return o.Seq == s.Seq }) {
			gone = append(gone, s.Summary.ID)
		}
	}
	if !got.Duplicate && !slices.Equal(got.Dissolved, gone) {
		j.t.Fatalf("a rewind to %d dissolves %v, not %v", from, got.Dissolved, gone)
	}
	j.settleUnits()
	j.pairAnew()
	clear(j.court.last)
	again, err := j.engine.Rewind(ctx, r)
	if err != nil || !again.Duplicate || again.Range != got.Range || again.Revision != got.Revision {
		j.t.Fatalf("a retried rewind answers %+v (%v), not %+v", again, err, got)
	}
}

// undo brings back what the newest rewind took back, if nothing was appended since.
func (j *journey) undo() {
	rewinds, before, standing := j.rewinds(), j.head(), j.standing()
	got, err := j.engine.UndoRewind(ctx, engine.UndoRewindRequest{Key: j.key})
	j.t.Logf("undo: %v", err)
	if n := len(rewinds); n == 0 || rewinds[n-1].Range.End < int32(len(j.record)) {
		if conversation.KindOf(err) != conversation.NothingToUndo {
			j.t.Fatalf("undoing nothing answers %+v, %v", got, err)
		}
		return
	}
	if err != nil || got.Range != rewinds[len(rewinds)-1].Range || got.Revision != before.Revision+1 {
		j.t.Fatalf("undoing the rewind of %+v answers %+v, %v", rewinds[len(rewinds)-1].Range, got, err)
	}
	j.take()
	var back []int64
	for _, s := range j.standing() {
		if !slices.ContainsFunc(standing, func(o *conversation.Edit) bool { return o.Seq == s.Seq }) {
			back = append(back, s.Summary.ID)
		}
	}
	if !slices.Equal(got.Revived, back) {
		j.t.Fatalf("undoing a rewind revives %v, not %v", got.Revived, back)
	}
	j.settleUnits()
	j.pairAnew()
	clear(j.court.last)
}

// pairAnew tells the generator which calls wait now, and which were never answered.
func (j *journey) pairAnew() {
	j.g.open, j.g.dead = nil, nil
	for _, u := range naiveUnits(j.record) {
		j.g.dead, j.g.open = append(j.g.dead, j.g.open...), nil
		for _, e := range u {
			for i := range e.message.Parts {
				if c := e.message.Parts[i].Call; c != nil {
					j.g.open = append(j.g.open, c.CallID)
				}
				if r := e.message.Parts[i].Result; r != nil {
					j.answered(r.CallID)
				}
			}
		}
	}
}

func (j *journey) answered(id string) {
	if at := slices.Index(j.g.open, id); at >= 0 {
		j.g.open = slices.Delete(j.g.open, at, at+1)
	} else if at := slices.Index(j.g.dead, id); at >= 0 {
		j.g.dead = slices.Delete(j.g.dead, at, at+1)
	}
}
