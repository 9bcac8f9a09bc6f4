package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
)

// apply lets go what is past its time: blocks of plugins, and, at the beginning of a turn, what has expired.
func (d lifetimes) apply() error {
	if err := d.erasing().loadErasures(); err != nil {
		return err
	}
	d.applyRetention()
	if o := d.Settings.Override; d.NewTurn && (o == nil || !o.Disable) {
		if err := d.applyExpirations(); err != nil {
			return err
		}
	}
	if len(d.Edits) == 0 {
		return nil
	}
	if err := d.windowing().findRequests(); err != nil { // what expires is neither request nor opening any more
		return err
	}
	if err := d.layOut(d.CompleteWindow(d.Composed.Window)); err != nil {
		return err
	}
	return d.checkLegal() // all that was said may have been a plugin's, for the first build alone
}

// expiryInput describes units to the policy.
func (d lifetimes) expiryInput(units []conversation.Unit) expiry.Input {
	return expiry.Input{
		Turn: d.Turn, Units: units, View: d.View, Policy: d.Settings.Policy.Expiration.Results, Override: d.Settings.Override,
		OnlyErasures: conversation.ValueOr(d.Settings.Policy.Expiration.Off, false),
	}
}

// expirableUnits are the units of the view that may expire: neither the newest, nor leading system messages, nor pinned ones, nor the
// last in which anybody but the system speaks.
func (d lifetimes) expirableUnits() []conversation.Unit {
	var out []conversation.Unit
	last := d.Composed.LastSpeaker()
	for i := range d.Composed.Units[:d.Composed.Newest()] {
		u := &d.Composed.Units[i]
		if !d.Kept.Has(u.First()) && i != last && !d.Composed.IsNew(i) {
			out = append(out, *u)
		}
	}
	return out
}

// dueEdit is something due with what it is worth.
type dueEdit struct {
	expiry.Due
	gain   int64 // tokens that it frees, by an estimate
	behind int64 // tokens of the previous build's context from it on
}

// applyExpirations makes those due edits that are to be made now, and says of the others that they wait.
func (d lifetimes) applyExpirations() error {
	var err error
	if d.requested, err = drafts.ParseRequested(d.Loaded.Slots[drafts.RequestedSlot]); err != nil {
		return err
	}
	d.expiryRan = true
	in := d.expiryInput(d.expirableUnits())
	planned, coming := expiry.Plan(in), expiry.Upcoming(in)
	if len(planned)+len(coming)+len(d.erasures) == 0 {
		return nil
	}
	at := d.tokensBehind()
	var due []dueEdit
	for _, x := range planned {
		if c := (dueEdit{Due: x, gain: x.Gain(), behind: at[x.Index]}); c.gain > 0 || x.Erases() {
			due = append(due, c)
		}
	}
	for i, now := range d.chooseDue(due, coming, at) {
		if !now {
			d.noteDeferred(&due[i].Due, conversation.ReasonHeldForRewrite)
			continue
		}
		if err := d.Loaded.IgnoreMissing(d.expirations().applyExpiration(&due[i].Due)); err != nil {
			return err
		}
	}
	if err := d.Loaded.Incomplete(); err != nil {
		return err
	}
	if len(d.Waits.Wanted)+len(d.Waits.BeforeErasure) > 0 {
		return ErrWait
	}
	d.noteUpcoming(due, coming)
	return d.erasing().eraseOutsideView()
}

// noteDeferred says that something due waits.
func (d lifetimes) noteDeferred(x *expiry.Due, why conversation.Reason) {
	n := x.Tokens()
	held := conversation.Decision{
		First: x.Index, Last: x.Index, Kind: conversation.DecisionDeferred, Reason: why, Before: n, After: n,
	}
	if x.Kind == expiry.Remove {
		held.Last = x.Unit.Last()
	}
	d.deferredEdits = append(d.deferredEdits, held)
}

// tokensBehind says for every message that the previous build showed how much of its context lies behind where the message
// begins. What is new in this build counts nothing: nobody has cached it.
func (d lifetimes) tokensBehind() map[int32]int64 {
	at := make(map[int32]int64)
	behind := int64(0)
	for i := len(d.Composed.Units) - 1; i >= 0; i-- {
		u := &d.Composed.Units[i]
		if u.Summary != nil {
			behind += u.Tokens()
		}
		for j := len(u.Items) - 1; j >= 0; j-- {
			if m := u.Items[j].Message; m.Index < d.Loaded.Head.Seen {
				behind += u.Items[j].Tokens()
			}
			at[u.Items[j].Message.Index] = behind
		}
	}
	return at
}

// chooseDue says which due edits to make now (behaviour §8). What is erased is never deferred.
func (d lifetimes) chooseDue(due []dueEdit, coming []expiry.Due, at map[int32]int64) []bool {
	s := d.Settings
	in := compaction.RewriteInput{
		Free: d.rewrittenTokens(at), View: d.Fixed + d.Composed.Tokens(), Overflow: d.OverLimit() > 0, Cold: d.cacheIsCold(),
		MinGain: s.MinGain, MaxTurns: s.MaxDeferral, Read: s.Read, Write: s.Write,
	}
	for i := range due {
		c := &due[i]
		if len(c.Erase) > 0 || s.Eager {
			in.Free = max(in.Free, c.behind)
		}
		in.Due = append(in.Due, compaction.DueEdit{Behind: c.behind, Gain: c.gain, Waited: d.Turn - c.Since})
	}
	for i := range coming {
		if c := &coming[i]; c.Gain() > 0 {
			in.Coming = append(in.Coming, compaction.ComingEdit{Behind: at[c.Index], Left: c.Since - d.Turn})
		}
	}
	return compaction.Rewrite(in)
}

// rewrittenTokens is how much of the previous build's context is read anew in any case: from the foremost message that changed since.
func (d lifetimes) rewrittenTokens(at map[int32]int64) int64 {
	since := int64(0)
	if d.Previous.Manifest != nil {
		since = d.Previous.Manifest.EditSeq
	}
	behind := int64(0)
	for it := range conversation.Items(d.Composed.Units) {
		if m := it.Message; d.View.Edited(m.Index) > since {
			behind = max(behind, at[m.Index])
		}
	}
	return behind
}
