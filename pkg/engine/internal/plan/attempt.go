// Package plan decides what a build does: which edits it makes, where its window starts, and what it commits. It is pure. An attempt is given
// a loaded view, settings and a time; where the view lacks something, the attempt ends with what is missing, whoever runs it loads that, and
// begins anew. It asks no model: it says what is wanted.
package plan

import (
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/catalogue"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/completion"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/spans"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// Attempt is one build on its way to what the model should see: the edits and the window that this attempt would commit.
type Attempt struct {
	*view.Composer
	Settings       *settings.Settings
	Summaries      readySummaries
	Fixed          int64
	Turn           int32
	Now            time.Time
	NewTurn        bool                // it begins a turn
	DryRun         bool                // it commits nothing, and asks no model
	CloseOpenCalls bool                // calls that wait are closed with a fixed result
	Previous       view.PreviousBuild  // the previous build in this format
	Start          conversation.Window // in force before this build
	request        int32               // the request in force; -1 for none
	opening        int32               // the opening, if it is kept; -1 for none
	View           *conversation.View  // with the edits of this build
	extendable     *conversation.View  // the view that this build may extend, if it is that
	Edits          []conversation.Edit
	Composed       *view.Composition

	Waits         *WaitBudget
	deferredEdits []conversation.Decision
	important     []spans.ImportantUnit   // that a compaction of this build could have kept in full
	overShare     []conversation.Decision // those of them that a summary takes the place of
	Degradations  []conversation.Degradation
	expiryRan     bool             // what is due was looked at
	upcoming      []expiry.Due     // whose summaries later builds will want
	requested     drafts.Requested // summaries that earlier builds wanted, or were to want
	erasures      []record.Erasure // that are left, if aging
	Erased        *erasures.Erasures
	reclaims      []record.Reclaim     // pruned results that are to be erased
	failures      []conversation.Event // compactions that were of no use
	SummaryBegun  bool                 // a summary was begun in the background
	inherited     bool                 // the window is new, and starts where a smaller budget's does
	answersReport bool                 // the view is made smaller for the last report
	displaced     []conversation.Range // units that were brought back lately and have no room
	completion    *completion.Completion
	recalls       bool  // there is a memory
	recallFor     int32 // the message that memories are put before; -1 for none
}

// The steps of an attempt: each works on the attempt itself.
type (
	// windowing finds the window that a build begins with, and what it keeps before its start.
	windowing struct{ *Attempt }
	// lifetimes applies what is past its time: additions of plugins, and what has expired.
	lifetimes struct{ *Attempt }
	// expirations makes the edits for one thing that is due.
	expirations struct{ *Attempt }
	// erasing clears old results, and erases what is due to be erased.
	erasing struct{ *Attempt }
	// compacting makes a view smaller that has outgrown its budget.
	compacting struct{ *Attempt }
	// fitting brings a view into its budget: claims, cuts, the window's start.
	fitting struct{ *Attempt }
	// reporting says how a build stands to what was reported, and to the build before it.
	reporting struct{ *Attempt }
)

func (d *Attempt) windowing() windowing     { return windowing{d} }
func (d *Attempt) lifetimes() lifetimes     { return lifetimes{d} }
func (d *Attempt) expirations() expirations { return expirations{d} }
func (d *Attempt) erasing() erasing         { return erasing{d} }
func (d *Attempt) compacting() compacting   { return compacting{d} }
func (d *Attempt) fitting() fitting         { return fitting{d} }
func (d *Attempt) reporting() reporting     { return reporting{d} }

// Input is what an attempt is made of.
type Input struct {
	Request   *Request
	View      *view.Loaded
	Format    provider.Format
	Counter   tokens.Counter
	Known     *catalogue.Entries
	Defaults  conversation.Policy // the server's
	Summaries readySummaries
	Now       time.Time
	Recalls   bool // there is a memory across conversations
	// RecallTools are the sidecar's own tools; nil for none.
	RecallTools completion.RecallTools
}

// New gets everything together that a build is decided on, but for the build before it. It begins nothing: Run does.
func New(in *Input) (*Attempt, error) {
	w, r := in.View, in.Request
	turn, err := NextTurn(w.Head.Turn, r)
	if err != nil {
		return nil, err
	}
	s, err := settings.Resolve(&settings.Input{
		Loaded: w, Model: r.Model, Budget: r.Budget, Policy: r.PolicyOverride, Override: r.Override,
		Defaults: in.Defaults, Counter: in.Counter, Known: in.Known,
	})
	if err != nil {
		return nil, err
	}
	complete, err := in.completion(s.Policy)
	if err != nil {
		return nil, err
	}
	kept := conversation.Kept{LeadingSystem: w.Head.LeadingSystem, Pins: w.Head.Pins}
	return &Attempt{
		Composer: view.NewComposer(w, kept, in.Format, r.Model, in.Counter), Settings: s, Summaries: in.Summaries,
		Turn: turn, NewTurn: turn > w.Head.Turn, DryRun: r.DryRun, CloseOpenCalls: r.CloseOpenCalls, Now: in.Now,
		Fixed: w.WeighFixed(complete.Fixed, in.Counter).Tokens, completion: complete, recalls: in.Recalls, recallFor: -1,
	}, nil
}

// Run decides, by a plan, on a copy of the attempt. Where the view lacks something, it ends with an error, and can be run again once that
// is loaded.
func (d *Attempt) Run(plan func(*Attempt) error) (*Attempt, error) {
	run, own := *d, *d.Settings
	run.Settings, run.Erased = &own, erasures.New(d.Loaded)
	run.Waits.Reset()
	if err := run.OpenWindow(); err != nil {
		return nil, err
	}
	return &run, plan(&run)
}

// readySummaries is what a build asks about summaries: what is there already, and what could be asked for. Nothing of it waits.
type readySummaries interface {
	Result(*summarize.Request) (summarize.Result, bool)
	IsStarted(*summarize.Request) bool
	CanAsk(*conversation.Prompt) bool
	CanAskLive(f conversation.Format, model string) (name string, reached bool)
	ModelsOf(*conversation.Prompt) []string
	Extract(text string, chars int) string
}

// Decide lets go what is past its time, clips results that are too large for their budget, and fits the view into it.
func (d *Attempt) Decide() error {
	var err error
	if d.Composed, err = d.Compose(d.View, d.Start); err != nil {
		return err
	}
	if d.Start.Start > 0 && (!d.Composed.HasSpeaker() || d.Composed.TailIsEmpty() || d.windowing().startsMidUnit()) {
		if err := d.windowing().moveStartBack(); err != nil {
			return err
		}
	}
	if err := d.checkLegal(); err != nil {
		return err
	}
	if err := d.recalling().ask(); err != nil {
		return err
	}
	d.reportUnknowns()
	d.reporting().reportUsageJump()
	d.reporting().reserveUncounted()
	steps := []func() error{
		d.lifetimes().apply,
		d.erasing().reclaimPruned,
		d.erasing().prune,
		d.leaveOutCopies,
		d.fitting().clipOverShare,
		d.fitting().restoreCuts,
		d.compacting().compactIfFull,
		d.Fit,
		d.compacting().noteOverShare,
		d.recalling().apply,
		d.returnCopies,
		d.completeErasures,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// checkLegal refuses what no provider takes: calls that wait for results, and a context without a message.
func (d *Attempt) checkLegal() error {
	if !d.Composed.HasSpeaker() {
		return d.emptyContext()
	}
	for i := range d.Composed.Units {
		u := &d.Composed.Units[i]
		if u.Summary != nil || u.First() != d.Loaded.Head.UnitStart { // not the newest: nobody waits for it any more
			continue
		}
		if open := u.OpenCalls(); len(open) > 0 && !d.CloseOpenCalls {
			return pending(u, open)
		}
	}
	return nil
}

// emptyContext says which kind of nothing there is to show: each has a cure of its own.
func (d *Attempt) emptyContext() error {
	switch {
	case d.Loaded.Head.Messages == 0:
		return conversation.Errorf(conversation.NoMessages, "the conversation has no messages: append the first one")
	case len(d.Composed.Blocks) > 0:
		return conversation.Errorf(conversation.EmptyContext, "there is nothing to show but system messages: append a message of the user's")
	default:
		return conversation.Errorf(conversation.EmptyContext,
			"none of the messages on record has anything to show: they are empty, or were taken back, removed or erased")
	}
}

// pending names the calls that wait.
func pending(u *conversation.Unit, open []*conversation.ToolCall) error {
	err := conversation.Errorf(conversation.PendingToolCalls, "%d tool calls of the unit of message %d wait for their results", len(open), u.First())
	for _, c := range open {
		err = err.At("call_id", c.CallID)
	}
	return err
}

// The codes of degradations that say what a build did not know of its model. Each says another thing: a profile may lack the window, and a
// window may be said for a model without a profile.
const (
	ModelUnknown  = "MODEL_UNKNOWN"  // no profile says anything of the model that is named
	BudgetAssumed = "BUDGET_ASSUMED" // nobody says the window that the budget is made of
)

// reportUnknowns says what of the model had to be assumed, and what to do about it.
func (d *Attempt) reportUnknowns() {
	if _, known := d.Settings.Catalogue.Profile(d.Model); !known && d.Model != "" {
		d.Degradations = append(d.Degradations, conversation.Degradation{
			Code: ModelUnknown, Asked: "the profile of the model", Reason: "none was put for it, and none ships",
			Done: "defaults serve for its prices and the weight of its media: put a profile",
		})
	}
	room := d.Settings.Room
	if !room.Assumed || room.Tokens() == room.MaxContext {
		return
	}
	why, cure := "the request names no model", "name the model"
	if d.Model != "" {
		why, cure = "no profile of the model says it", "put a profile of the model"
	}
	d.Degradations = append(d.Degradations, conversation.Degradation{
		Code: BudgetAssumed, Asked: "the model's window", Reason: "neither the request nor a policy says it, and " + why,
		Done: fmt.Sprintf("%d tokens are assumed, %d of them for the answer: %s, or set context_window_tokens in the request's budget or in policy.fit",
			room.ContextWindow, room.ReservedOutput, cure),
	})
}
