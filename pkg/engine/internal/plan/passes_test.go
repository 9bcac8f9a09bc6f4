package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/compact"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/deduplicate"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erase"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/expire"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/fit"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/legal"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pruning"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/recall"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/retain"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/usage"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/window"
)

// begun is a scene's draft as the window leaves it, from a message on.
func (s *scene) begun(t *testing.T, start int32) (*pass.Given, pass.Draft, pass.Result) {
	t.Helper()
	g := s.given(t)
	opened, err := window.Open(g)
	if err != nil {
		t.Fatal(err)
	}
	opened.Start.Start = start
	opened.Start = opened.Asked.Complete(g, g.Loaded.View, opened.Start)
	r, err := window.LayOut(g, opened)
	if err != nil {
		t.Fatal(err)
	}
	return g, plan.Begun(g, r), r
}

// gave is the result of a pass in short: its edits, where the window starts, what it cuts, how many notes there are, and what it wants.
func gave(r *pass.Result, err error) string {
	if err != nil {
		return fmt.Sprintf("refused: %v", conversation.KindOf(err))
	}
	var out []string
	for _, e := range r.Edits {
		out = append(out, fmt.Sprintf("%d-%d reason %d", e.Range.First, e.Range.End-1, e.Reason))
	}
	if c := r.Composed; c != nil && c.Window.Start > 0 {
		out = append(out, fmt.Sprintf("from %d", c.Window.Start))
	}
	if c := r.Composed; c != nil && len(c.Window.Cuts) > 0 {
		out = append(out, fmt.Sprintf("%d cut", len(c.Window.Cuts)))
	}
	if n := r.Notes.Len(); n > 0 {
		out = append(out, fmt.Sprintf("%d notes", n))
	}
	if w := r.Wants; w != nil {
		out = append(out, fmt.Sprintf("wants %d texts, spans %t, recall %t", len(w.Texts)+len(w.BeforeErasure), w.Spans != nil, w.Recall != nil))
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

// row is a scene, and what a pass is to give for it.
type row struct {
	scene scene
	start int32 // of the window
	want  string
}

// TestPasses_FromValues tries each pass by itself: a scene is laid out from a message on, and the pass gives what stands in its row.
func TestPasses_FromValues(t *testing.T) {
	t.Parallel()
	one, length := int32(1), int32(100)
	on, off := true, false
	short := &conversation.Expiration{Turns: &one, Mode: conversation.ExpirationCompact, CompactMode: conversation.CompactFirstChars, CompactLength: &length}
	gone := &conversation.Expiration{Turns: &one, Mode: conversation.ExpirationRemove}
	erased := &conversation.Expiration{Turns: &one, Mode: conversation.ExpirationRemove, PreserveOriginal: &off}
	talk := []conversation.Message{asked("Hello"), answered("Hello."), asked("And now?")}
	used := func(life *conversation.Expiration, size int) []conversation.Message {
		return []conversation.Message{asked("Read it."), called("a"), returned("a", words(size), life), answered("Done."), asked("And then?")}
	}
	small, protect := int32(0), int32(100)
	pruned := conversation.Policy{Pruning: conversation.PruningPolicy{ProtectTokens: &protect, MinimumTokens: &small}}
	dedup := conversation.Policy{Deduplication: conversation.DeduplicationPolicy{On: &on}}
	slid := conversation.Policy{Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySlidingWindow, ThresholdMessages: &protect}}
	twice := []conversation.Message{asked("Read."), called("a"), returned("a", lines(40), nil), called("b"), returned("b", lines(40), nil)}
	remembers := conversation.Policy{Memory: conversation.MemoryPolicy{On: &on}}
	plugin := asked("What was said.")
	plugin.Parts = append(plugin.Parts, conversation.Part{
		Kind: conversation.PartText, Plugin: "p", Text: conversation.Content{Inline: "added"}, Retention: conversation.Retention{Kind: conversation.RetentionKeepLast, Last: 1},
	})
	kept := []conversation.Message{plugin, answered("Yes."), plugin, answered("Yes."), asked("And now?")}

	for name, p := range map[string]struct {
		run  func(*pass.Given, pass.Draft, *pass.Result) (*pass.Result, error)
		rows map[string]row
	}{
		"window": {
			run: func(_ *pass.Given, _ pass.Draft, laidOut *pass.Result) (*pass.Result, error) { return laidOut, nil },
			rows: map[string]row{
				"from the beginning": {scene{messages: talk, window: 4000}, 0, "nothing"},
				"further on":         {scene{messages: talk, window: 4000}, 2, "from 2"},
				"behind everything":  {scene{messages: talk, window: 4000}, 3, "nothing"}, // nothing is left to show: it moves back
			},
		},
		"legal": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				return &pass.Result{}, legal.Check(g, d.Composed)
			},
			rows: map[string]row{
				"a talk":            {scene{messages: talk, window: 4000}, 0, "nothing"},
				"a call that waits": {scene{messages: []conversation.Message{asked("Go."), called("a")}, window: 4000}, 0, "refused: PENDING_TOOL_CALLS"},
				"nobody speaks":     {scene{messages: []conversation.Message{said(conversation.RoleSystem, "Rules.")}, window: 4000}, 0, "refused: EMPTY_CONTEXT"},
			},
		},
		"usage": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				k := usage.Usage(g, d)
				return &k.Result, nil
			},
			rows: map[string]row{"no report": {scene{messages: talk, window: 4000}, 0, "nothing"}},
		},
		"recall ask": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				g.Recalls = true
				a, err := recall.Ask(g, d)
				return &a.Result, err
			},
			rows: map[string]row{
				"no memory asked for": {scene{messages: talk, window: 4000}, 0, "nothing"},
				"a new request":       {scene{messages: talk, window: 4000, policy: remembers}, 0, "wants 0 texts, spans false, recall true"},
				"one that was shown":  {scene{messages: talk, window: 4000, policy: remembers, seen: 3}, 0, "nothing"},
			},
		},
		"retain": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				r := retain.Retain(g, d, 0)
				r.Composed = nil
				return &r, nil
			},
			rows: map[string]row{
				"no additions":  {scene{messages: talk, window: 4000, seen: 3}, 0, "nothing"},
				"past its time": {scene{messages: kept, window: 4000, turn: 2, seen: 4}, 0, fmt.Sprintf("0-0 reason %d", conversation.ReasonRetention)},
				"nobody saw it": {scene{messages: kept, window: 4000, turn: 2}, 0, "nothing"},
			},
		},
		"expire": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				x, err := expire.Expire(g, d)
				return &x.Result, err
			},
			rows: map[string]row{
				"in its time": {scene{messages: used(short, 200), window: 4000, turn: 1, seen: 4}, 0, "nothing"},
				"shortened":   {scene{messages: used(short, 200), window: 4000, turn: 3, seen: 4}, 0, fmt.Sprintf("2-2 reason %d", conversation.ReasonExpiredFirstChars)},
				"removed": {scene{messages: used(gone, 200), window: 4000, turn: 3, seen: 4}, 0,
					fmt.Sprintf("1-1 reason %d, 2-2 reason %d", conversation.ReasonUnitExpired, conversation.ReasonExpired)},
			},
		},
		"reclaim": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				r, err := pruning.Reclaim(g, d)
				return &r.Result, err
			},
			rows: map[string]row{"nothing was pruned": {scene{messages: used(nil, 200), window: 4000}, 0, "nothing"}},
		},
		"prune": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				r, err := pruning.Prune(g, d, nil)
				return &r.Result, err
			},
			rows: map[string]row{
				"off": {scene{messages: used(nil, 900), window: 9000, turn: 3, seen: 4,
					policy: conversation.Policy{Pruning: conversation.PruningPolicy{Off: &on, ProtectTokens: &protect, MinimumTokens: &small}}}, 0, "nothing"},
				"an old result": {scene{messages: append(used(nil, 900), called("b"), returned("b", words(300), nil), answered("Yes."), asked("So?")),
					window: 9000, turn: 3, seen: 8, policy: pruned}, 0, fmt.Sprintf("2-2 reason %d", conversation.ReasonPruned)},
			},
		},
		"deduplicate": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				r, err := deduplicate.LeaveOut(g, d)
				return &r, err
			},
			rows: map[string]row{
				"off":         {scene{messages: twice, window: 40_000}, 0, "nothing"},
				"a copy":      {scene{messages: twice, window: 40_000, policy: dedup}, 0, fmt.Sprintf("4-4 reason %d", conversation.ReasonDuplicateLines)},
				"not new now": {scene{messages: twice, window: 40_000, policy: dedup, seen: 5}, 0, "nothing"},
			},
		},
		"return": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				r, err := deduplicate.Return(g, d)
				return &r, err
			},
			rows: map[string]row{"nothing is left out": {scene{messages: twice, window: 40_000}, 0, "nothing"}},
		},
		"clip": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				r, err := fit.Clip(g, d)
				return &r, err
			},
			rows: map[string]row{
				"within its share": {scene{messages: used(nil, 200)[:3], window: 4000}, 0, "nothing"},
				"over its share":   {scene{messages: used(nil, 900)[:3], window: 2000}, 0, fmt.Sprintf("2-2 reason %d", conversation.ReasonResultOverShare)},
				"not new now":      {scene{messages: used(nil, 900)[:3], window: 2000, seen: 3}, 0, "nothing"},
			},
		},
		"uncut": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				r, err := fit.Uncut(g, d, true)
				return &r, err
			},
			rows: map[string]row{"nothing is cut": {scene{messages: talk, window: 4000}, 0, "nothing"}},
		},
		"compact": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				c, err := compact.Compact(g, d, g.Settings.Compaction)
				return &c.Result, err
			},
			rows: map[string]row{
				"room enough":      {scene{messages: full(), window: 200_000}, 0, "nothing"},
				"over the budget":  {scene{messages: full(), window: 2000}, 0, "wants 0 texts, spans true, recall false"},
				"a sliding window": {scene{messages: full(), window: 2000, policy: slid}, 0, "nothing"},
				"nothing is left":  {scene{messages: []conversation.Message{asked(words(3000))}, window: 1000}, 0, "nothing"},
			},
		},
		"fit": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				f, err := fit.Fit(g, d)
				return &f.Result, err
			},
			rows: map[string]row{
				"it fits":           {scene{messages: full(), window: 200_000}, 0, "nothing"},
				"the start moves":   {scene{messages: full(), window: 2000}, 0, "from 13"},
				"not even the unit": {scene{messages: []conversation.Message{asked(words(3000))}, window: 1000}, 0, "refused: CONTEXT_CANNOT_FIT"},
			},
		},
		"recall put": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				r, err := recall.Put(g, d, recall.Answer{For: int32(len(g.Loaded.Messages)) - 1, Memories: []conversation.RecalledMemory{{ID: "m", Text: "Ann likes tea."}}})
				return &r, err
			},
			rows: map[string]row{
				"room enough": {scene{messages: talk, window: 4000}, 0, fmt.Sprintf("2-2 reason %d", conversation.ReasonMemoriesAnswer)},
				"no room":     {scene{messages: talk, window: 30}, 0, "1 notes"},
			},
		},
		"erase": {
			run: func(g *pass.Given, d pass.Draft, _ *pass.Result) (*pass.Result, error) {
				x, err := expire.Expire(g, d)
				if err != nil {
					return nil, err
				}
				r, err := erase.Erase(g, d.With(&x.Result))
				if len(x.Erased.Messages) == 0 {
					return &pass.Result{}, err
				}
				return &pass.Result{Edits: r.Edits, Notes: pass.Notes{Events: make([]conversation.Event, len(r.Erased.Messages))}}, err
			},
			rows: map[string]row{
				"nothing is erased":  {scene{messages: used(gone, 200), window: 4000, turn: 3, seen: 4}, 0, "nothing"},
				"a message's result": {scene{messages: used(erased, 200), window: 4000, turn: 3, seen: 4}, 0, "1 notes"},
			},
		},
	} {
		for what, r := range p.rows {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				r.scene.wait = pass.Allowance{Left: time.Second, Calls: 2}
				g, d, laidOut := r.scene.begun(t, r.start)
				if got := gave(p.run(g, d, &laidOut)); got != r.want {
					t.Errorf("%s, not %s", got, r.want)
				}
			})
		}
	}
}
