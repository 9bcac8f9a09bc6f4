package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/span"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// scene is what a build is given: messages, and what a request and a policy say.
type scene struct {
	messages []conversation.Message
	policy   conversation.Policy
	window   int32
	turn     int32 // that the conversation is in; the build begins the next
	seen     int32 // messages that an earlier build has shown
	wait     pass.Allowance
	unloaded bool // nothing is loaded yet
}

// words is a text of about so many tokens.
func words(tokens int) string { return strings.Repeat("word of text ", tokens*4/13) }

// lines is a text of so many lines, each of them another.
func lines(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "line %d of a log that says something\n", i)
	}
	return out.String()
}

func said(role conversation.Role, text string) conversation.Message {
	return conversation.Message{Role: role, Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: text}}}}
}

func asked(text string) conversation.Message    { return said(conversation.RoleUser, text) }
func answered(text string) conversation.Message { return said(conversation.RoleAssistant, text) }

func called(id string) conversation.Message {
	call := &conversation.ToolCall{CallID: id, Name: "read", Arguments: conversation.Content{Inline: "{}"}}
	return conversation.Message{Role: conversation.RoleAssistant, Parts: []conversation.Part{{Kind: conversation.PartToolCall, Call: call}}}
}

func returned(id, text string, life *conversation.Expiration) conversation.Message {
	result := &conversation.ToolResult{CallID: id, Output: conversation.OutputText, Text: conversation.Content{Inline: text}, Expiration: life}
	return conversation.Message{Role: conversation.RoleTool, Parts: []conversation.Part{{Kind: conversation.PartToolResult, Result: result}}}
}

// given puts the messages on record in memory, and returns what a build over them is decided on.
func (s *scene) given(t *testing.T) *pass.Given {
	t.Helper()
	head := &store.Head{Request: -1, Opening: -1, Turn: s.turn, Seen: s.seen}
	scale := placement.Scale{Counter: chars4.New(), Media: 100}
	for i := range s.messages {
		m := &s.messages[i]
		m.Index, m.TurnAdded = int32(i), min(s.turn, 1)
		scale.Weigh(m)
		if err := errors.Join(placement.Pair(head, m, ""), placement.Admit(head, m)); err != nil {
			t.Fatal(err)
		}
		head.Messages, head.Tokens = head.Messages+1, head.Tokens+int64(m.Tokens)
	}
	snapshot := &store.Snapshot{Head: *head, Info: &store.Info{Counter: "chars4", Policy: s.policy}}
	loaded := view.New(store.Key{Namespace: "default", Conversation: "c"}, snapshot)
	if !s.unloaded {
		snapshot.Messages = s.messages
		loaded.Supply(snapshot, []conversation.Range{{First: 0, End: head.Messages}})
	}
	none := int32(0)
	g, err := plan.New(&plan.Input{
		Request: &plan.Request{Budget: settings.BudgetOverride{ContextWindow: &s.window, ReservedOutput: &none}},
		View:    loaded, Format: neutral.New(), Counter: chars4.New(), Known: &catalogue.Entries{}, Summaries: nobody{}, Now: time.Unix(1_800_000_000, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Allowance = s.wait
	return g
}

// nobody is asked for summaries: there is no model.
type nobody struct{}

func (nobody) Result(*summarize.Request) (summarize.Result, bool)    { return summarize.Result{}, false }
func (nobody) IsStarted(*summarize.Request) bool                     { return false }
func (nobody) CanAsk(*conversation.Prompt) bool                      { return false }
func (nobody) CanAskLive(conversation.Format, string) (string, bool) { return "", false }
func (nobody) ModelsOf(*conversation.Prompt) []string                { return nil }
func (nobody) Extract(string, int) string                            { return "" }

// extracts writes summaries without a model.
func extracts() *summarize.Service {
	return summarize.New(summarize.Options{Extract: extractive.Extract, ExtractSpan: span.Extract})
}

// told is what a plan would commit, in short: its edits, and where its window starts.
func told(d *plan.Decided) string {
	var out []string
	for _, e := range d.Edits {
		out = append(out, fmt.Sprintf("%d-%d reason %d", e.Range.First, e.Range.End-1, e.Reason))
	}
	if w := d.Composed.Window; w.Start > 0 {
		out = append(out, fmt.Sprintf("from %d", w.Start))
	}
	if len(out) == 0 {
		return "as it is"
	}
	return strings.Join(out, ", ")
}

// TestPlan_Decide_FromValuesAlone: a plan is driven by values, without a store: what it would commit, what it refuses, what it waits for.
func TestPlan_Decide_FromValuesAlone(t *testing.T) {
	turns, length := int32(1), int32(100)
	life := &conversation.Expiration{Turns: &turns, Mode: conversation.ExpirationCompact, CompactMode: conversation.CompactFirstChars, CompactLength: &length}
	long := []conversation.Message{asked("What does the log say?"), called("a"), returned("a", words(900), nil), answered(words(20))}
	for name, c := range map[string]struct {
		scene scene
		want  string
		kind  conversation.Kind // of the error, if there is to be one
		waits bool
	}{
		"all fits": {scene: scene{messages: []conversation.Message{asked("Hello"), answered("Hello."), asked("And now?")}, window: 4000}, want: "as it is"},
		"a result over its share": {
			scene: scene{messages: long[:3], window: 2000}, want: fmt.Sprintf("2-2 reason %d", conversation.ReasonResultOverShare),
		},
		"a result past its time": {
			scene: scene{messages: []conversation.Message{
				asked("Read it."), called("a"), returned("a", words(200), life), answered("Done."), asked("Thanks. And then?"),
			}, window: 4000, turn: 3, seen: 4},
			want: fmt.Sprintf("2-2 reason %d", conversation.ReasonExpiredFirstChars),
		},
		"no messages":         {scene: scene{window: 4000}, kind: conversation.NoMessages},
		"a call that waits":   {scene: scene{messages: []conversation.Message{asked("Go on."), called("a")}, window: 4000}, kind: conversation.PendingToolCalls},
		"a unit without room": {scene: scene{messages: []conversation.Message{asked(words(3000))}, window: 1000}, kind: conversation.ContextCannotFit},
		"a view that is full": {
			scene: scene{messages: full(), window: 2000}, waits: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := plan.Decide(c.scene.given(t))
			switch {
			case c.waits:
				if w := pass.Wanted(err); w == nil || w.Spans == nil {
					t.Errorf("%v, and no summary to be written", err)
				}
			case c.kind != "":
				if conversation.KindOf(err) != c.kind {
					t.Errorf("%v, not of kind %v", err, c.kind)
				}
			case err != nil:
				t.Error(err)
			case told(d) != c.want:
				t.Errorf("%s, not %s", told(d), c.want)
			}
		})
	}
}

// full is a conversation that is over a budget of 2,000 tokens.
func full() []conversation.Message {
	out := []conversation.Message{asked("Let us begin.")}
	for i := range 10 {
		out = append(out, answered(words(150)), asked(fmt.Sprintf("Step %d: %s", i, words(100))))
	}
	return out
}

// TestPlan_Decide_WithTheSummaryWritten_PublishesIt: a plan that waits says what it wants; given that, the same values lead to a view
// within the budget.
func TestPlan_Decide_WithTheSummaryWritten_PublishesIt(t *testing.T) {
	s := scene{messages: full(), window: 2000}
	g := s.given(t)
	_, err := plan.Decide(g)
	if pass.Wanted(err) == nil {
		t.Fatal(err)
	}
	g.Allowance.Draft = pass.Wanted(err).Spans.Job.Extract(extracts())
	d, err := plan.Decide(g)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Edits) != 1 || d.Edits[0].Kind != conversation.EditSummarize || g.OverLimit(d.Composed) > 0 {
		t.Errorf("%s; it is %d tokens over its limit", told(d), g.OverLimit(d.Composed))
	}
	if again, err := plan.Decide(g); err != nil || told(again) != told(d) {
		t.Errorf("run again: %v", err)
	}
}

// TestPlan_Run_NamesWhatIsMissing: a view that lacks messages ends the plan; once they are there, it goes on.
func TestPlan_Run_NamesWhatIsMissing(t *testing.T) {
	s := scene{messages: []conversation.Message{asked("Hello"), answered("Hello."), asked("And now?")}, window: 4000, unloaded: true}
	g := s.given(t)
	_, err := plan.Decide(g)
	if !errors.Is(err, view.ErrMissing) {
		t.Fatalf("%v, and nothing is loaded", err)
	}
	g.Loaded.Supply(&store.Snapshot{Messages: slices.Clone(s.messages)}, []conversation.Range{{First: 0, End: 3}})
	if d, err := plan.Decide(g); err != nil || told(d) != "as it is" {
		t.Errorf("%v", err)
	}
}
