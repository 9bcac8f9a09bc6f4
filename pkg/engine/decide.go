package engine

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// deciding is one build on its way to what the model should see: the edits and the window that this attempt would commit.
type deciding struct {
	*view.Composer
	settings  *settings
	summaries readySummaries
	fixed     int64
	turn      int32
	now       time.Time
	aging     bool                // it begins a turn
	dry       bool                // it commits nothing, and asks no model
	closes    bool                // calls that wait are closed with a fixed result
	before    view.PreviousBuild  // the previous build in this format
	start     conversation.Window // in force before this build
	request   int32               // the request in force; -1 for none
	opening   int32               // the opening, if it is kept; -1 for none
	view      *conversation.View  // with the edits of this build
	own       *conversation.View  // the view that this build may extend, if it is that
	edits     []conversation.Edit
	out       *view.Composition

	waits        *waits
	deferred     []conversation.Decision
	degradations []Degradation
	expiring     bool                  // what is due was looked at
	foreseen     []expiry.Due          // whose summaries later builds will want
	wanted       []record.AskedSummary // that earlier builds wanted, or were to want
	erasures     []record.Erasure      // that are left, if aging
	erased       erasing
	forget       [][32]byte            // contents that were erased
	gone         []string              // handles of contents that were erased with their messages
	contents     *contents.SlotChanges // what that changes of contents; nil for nothing
	reclaims     []record.Reclaim      // pruned results that are to be erased
	failures     []conversation.Event  // compactions that were of no use
	preparing    bool                  // a summary was begun in the background
	inherited    bool                  // the window is new, and starts where a smaller budget's does
	spent        bool                  // the view is made smaller for the last report
	displaced    []conversation.Range  // units that were brought back lately and have no room
}

// readySummaries is what a build asks about summaries: what is there already, and what could be asked for. Nothing of it waits.
type readySummaries interface {
	Look(*summarize.Request) (summarize.Result, bool)
	Knows(*summarize.Request) bool
	CanAsk(*conversation.Prompt) bool
	ModelsOf(*conversation.Prompt) []string
	Extract(text string, chars int) string
}

// decide lets go what is past its time, clips results that are too large for their budget, and fits the view into it.
func (d *deciding) decide() error {
	var err error
	if d.out, err = d.Compose(d.view, d.start); err != nil {
		return err
	}
	if d.start.Start > 0 && (!d.out.HasSpeaker() || d.out.TailIsEmpty() || d.beheaded()) {
		if err := d.goBack(); err != nil {
			return err
		}
	}
	if err := d.legal(); err != nil {
		return err
	}
	d.nameUnknown()
	d.nameJump()
	d.keepFree()
	for _, step := range []func() error{d.age, d.reclaimPruned, d.prune, d.clipOverShare, d.uncut, d.compactIfFull, d.fit, d.expireErased, d.eraseFacts} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// goBack looks for a window anew where nothing is left of the one in force, because it was hidden. It is the one way
// for a start to move back.
func (d *deciding) goBack() error {
	start, err := d.discover(conversation.WindowFrom(0))
	if err != nil {
		return err
	}
	win := conversation.WindowFrom(start)
	if err := d.loadWindow(win); err != nil {
		return err
	}
	d.out, err = d.Compose(d.view, d.complete(win))
	return err
}

// beheaded says whether the newest unit begins before the window: with calls that stand before messages that were hidden since.
func (d *deciding) beheaded() bool {
	u := &d.out.Units[d.out.Newest()]
	if u.Summary != nil {
		return false
	}
	first, known := u.Items[0].Message.UnitFirst()
	return first < u.First() || !known && d.view.Hidden(conversation.Range{First: first - 1, End: first})
}

// legal refuses what no provider takes: calls that wait for results, and a context without a message.
func (d *deciding) legal() error {
	if !d.out.HasSpeaker() {
		return d.emptyContext()
	}
	for i := range d.out.Units {
		u := &d.out.Units[i]
		if u.Summary != nil || u.First() != d.Loaded.Head.UnitStart { // not the newest: nobody waits for it any more
			continue
		}
		if open := u.OpenCalls(); len(open) > 0 && !d.closes {
			return pending(u, open)
		}
	}
	return nil
}

// emptyContext says which kind of nothing there is to show: each has a cure of its own.
func (d *deciding) emptyContext() error {
	switch {
	case d.Loaded.Head.Messages == 0:
		return conversation.Errorf(conversation.NoMessages, "the conversation has no messages: append the first one")
	case len(d.out.Blocks) > 0:
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
		err.Violations = append(err.Violations, conversation.Violation{Field: "call_id", Text: c.CallID})
	}
	return err
}

// clipOverShare clips single tool results that are over their share of the budget when they first enter a view, as they were
// appended or as they were corrected.
func (d *deciding) clipOverShare() error {
	var large []target
	for _, t := range d.results(d.out.Units) {
		if (t.index >= d.Loaded.Head.Seen || d.view.CorrectedPart(t.index, t.part)) && t.weight > d.settings.share {
			t.limit = d.settings.share
			large = append(large, t)
		}
	}
	return d.clip(large, conversation.ReasonResultOverShare)
}

// target is a tool result that may be clipped.
type target struct {
	index, part int32
	weight      int64 // as shown
	limit       int64 // to clip it to
}

// results lists the tool results that units show.
func (d *deciding) results(units []conversation.Unit) []target {
	var out []target
	for i := range units {
		for j := range units[i].Items {
			it := &units[i].Items[j]
			for k := range it.Parts {
				if it.Parts[k].Kind == conversation.PartToolResult {
					out = append(out, target{index: it.Message.Index, part: it.Position(k), weight: int64(it.Parts[k].Tokens)})
				}
			}
		}
	}
	return out
}

// clip clips results, one edit a message, and writes the view again.
func (d *deciding) clip(targets []target, reason conversation.Reason) error {
	made := len(d.edits)
	for at := 0; at < len(targets); {
		end := at + 1
		for end < len(targets) && targets[end].index == targets[at].index {
			end++
		}
		e, err := d.clipMessage(targets[at:end], reason)
		if err = d.Loaded.IgnoreMissing(err); err != nil {
			return err
		}
		if len(e.Parts) > 0 {
			d.add(e)
		}
		at = end
	}
	if err := d.Loaded.Incomplete(); err != nil {
		return err
	}
	if len(d.edits) == made {
		return nil
	}
	out, err := d.Compose(d.view, d.out.Window)
	d.out = out
	return err
}

func (d *deciding) clipMessage(targets []target, reason conversation.Reason) (conversation.Edit, error) {
	index := targets[0].index
	e := conversation.Edit{Kind: conversation.EditParts, Range: conversation.Range{First: index, End: index + 1}, Reason: reason}
	m, ok := d.Loaded.Message(index)
	if !ok {
		return e, conversation.Errorf(conversation.Internal, "message %d is not loaded", index)
	}
	for _, t := range targets {
		if d.isErased(m, t.part) { // there is no original to show more or less of
			continue
		}
		// A stronger edit is always computed from the original.
		whole, err := d.Loaded.Inline(m.Parts[t.part : t.part+1])
		if err != nil {
			return e, err
		}
		shown, ok := compaction.Clip(whole[0], index, t.limit, d.settings.counter)
		if !ok || int64(shown.Tokens) >= t.weight {
			continue
		}
		e.Before += t.weight
		e.After += int64(shown.Tokens)
		e.Parts = append(e.Parts, conversation.PartEdit{Part: t.part, Level: conversation.Shortened, Shown: shown})
	}
	return e, nil
}

// ModelUnknown is the code of a degradation: no profile says anything of the model that a build names.
const ModelUnknown = "MODEL_UNKNOWN"

// nameUnknown says that the model of a build is unknown.
func (d *deciding) nameUnknown() {
	if d.Model == "" {
		return
	}
	if _, known := d.settings.catalogue.Profile(d.Model); known {
		return
	}
	d.degradations = append(d.degradations, Degradation{
		Code: ModelUnknown, Asked: "the profile of the model", Reason: "none was put for it, and none ships",
		Done: "defaults serve where neither the request nor the policy says window and reserve, and for its prices",
	})
}
