// Package expire lets go what is past its time, at the beginning of a turn (behaviour §5): it shortens, clears, removes and erases, or says that
// something due waits.
package expire

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// Expired is what a turn has let go, and what it leaves to later ones.
type Expired struct {
	pass.Result
	Ran       bool             // what is due was looked at
	Upcoming  []expiry.Due     // whose summaries later builds will want
	Requested drafts.Requested // summaries that earlier builds wanted, or were to want
	Erasures  []record.Erasure // that are left, if aging
}

// Expire makes the edits for what is due, unless they wait, and lays the view out behind all edits of the build so far.
func Expire(g *pass.Given, d pass.Draft) (Expired, error) {
	x := expiring{Sketch: g.Sketch(d), wants: &pass.Wants{}}
	err := x.expire()
	x.out.Result = x.Result()
	if len(x.wants.Texts)+len(x.wants.BeforeErasure) > 0 {
		x.out.Wants = x.wants
	}
	return x.out, err
}

// expiring is one build's expiry at work.
type expiring struct {
	*pass.Sketch
	out   Expired
	wants *pass.Wants
}

func (d *expiring) expire() error {
	var err error
	if d.out.Erasures, err = loadErasures(d.Given); err != nil {
		return err
	}
	if o := d.Given.Settings.Override; d.Given.NewTurn && (o == nil || !o.Disable) {
		if err := d.applyExpirations(); err != nil {
			return err
		}
	}
	if len(d.Edits) == 0 || len(d.wants.Texts)+len(d.wants.BeforeErasure) > 0 {
		return nil
	}
	if d.Asked, err = pass.FindAsked(d.Given, d.View); err != nil { // what expires is neither request nor opening any more
		return err
	}
	return d.LayOut(d.Asked.Complete(d.Given, d.View, d.Composed.Window))
}

// expiryInput describes units to the policy.
func (d *expiring) expiryInput(units []conversation.Unit) expiry.Input {
	return expiry.Input{
		Turn: d.Given.Turn, Units: units, View: d.View, Policy: d.Given.Settings.Policy.Expiration.Results, Override: d.Given.Settings.Override,
		OnlyErasures: conversation.ValueOr(d.Given.Settings.Policy.Expiration.Off, false),
	}
}

// expirableUnits are the units of the view that may expire: neither the newest, nor leading system messages, nor pinned ones, nor the
// last in which anybody but the system speaks.
func expirableUnits(g *pass.Given, out *view.Composition) []conversation.Unit {
	var units []conversation.Unit
	last := out.LastSpeaker()
	for i := range out.Units[:out.Newest()] {
		u := &out.Units[i]
		if !g.Kept.Has(u.First()) && i != last && !out.IsNew(i) {
			units = append(units, *u)
		}
	}
	return units
}

// dueEdit is something due with what it is worth.
type dueEdit struct {
	expiry.Due
	gain   int64 // tokens that it frees, by an estimate
	behind int64 // tokens of the previous build's context from it on
}

// applyExpirations makes those due edits that are to be made now, and says of the others that they wait.
func (d *expiring) applyExpirations() error {
	var err error
	if d.out.Requested, err = drafts.ParseRequested(d.Given.Loaded.Slots[drafts.RequestedSlot]); err != nil {
		return err
	}
	d.out.Ran = true
	in := d.expiryInput(expirableUnits(d.Given, d.Composed))
	planned, coming := expiry.Plan(in), expiry.Upcoming(in)
	if len(planned)+len(coming)+len(d.out.Erasures) == 0 {
		return nil
	}
	d.Erased = d.Erased.Clone()
	at := tokensBehind(d.Given, d.Composed)
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
		if err := view.IgnoreMissing(d.applyExpiration(&due[i].Due)); err != nil {
			return err
		}
	}
	if err := d.Given.Loaded.Extras.Incomplete(); err != nil {
		return err
	}
	if len(d.wants.Texts)+len(d.wants.BeforeErasure) > 0 {
		return nil
	}
	d.noteUpcoming(due, coming)
	return d.eraseOutsideView()
}

// noteDeferred says that something due waits.
func (d *expiring) noteDeferred(x *expiry.Due, why conversation.Reason) {
	n := x.Tokens()
	held := conversation.Decision{
		First: x.Index, Last: x.Index, Kind: conversation.DecisionDeferred, Reason: why, Before: n, After: n,
	}
	if x.Kind == expiry.Remove {
		held.Last = x.Unit.Last()
	}
	d.Notes.Deferred = append(d.Notes.Deferred, held)
}

// tokensBehind says for every message that the previous build showed how much of its context lies behind where the message
// begins. What is new in this build counts nothing: nobody has cached it.
func tokensBehind(g *pass.Given, out *view.Composition) map[int32]int64 {
	at := make(map[int32]int64)
	behind := int64(0)
	for i := len(out.Units) - 1; i >= 0; i-- {
		u := &out.Units[i]
		if u.Summary != nil {
			behind += u.Tokens()
		}
		for j := len(u.Items) - 1; j >= 0; j-- {
			if m := u.Items[j].Message; m.Index < g.Loaded.Head.Seen {
				behind += u.Items[j].Tokens()
			}
			at[u.Items[j].Message.Index] = behind
		}
	}
	return at
}

// chooseDue says which due edits to make now (behaviour §8). What is erased is never deferred.
func (d *expiring) chooseDue(due []dueEdit, coming []expiry.Due, at map[int32]int64) []bool {
	s := d.Given.Settings
	in := compaction.RewriteInput{
		Free: rewrittenTokens(d.Given, d.View, d.Composed, at), View: d.Weight(), Overflow: d.OverLimit() > 0, Cold: d.Given.CacheIsCold(),
		MinGain: s.MinGain, MaxTurns: s.MaxDeferral, Read: s.Read, Write: s.Write,
	}
	for i := range due {
		c := &due[i]
		if len(c.Erase) > 0 || s.Eager {
			in.Free = max(in.Free, c.behind)
		}
		in.Due = append(in.Due, compaction.DueEdit{Behind: c.behind, Gain: c.gain, Waited: d.Given.Turn - c.Since})
	}
	for i := range coming {
		if c := &coming[i]; c.Gain() > 0 {
			in.Coming = append(in.Coming, compaction.ComingEdit{Behind: at[c.Index], Left: c.Since - d.Given.Turn})
		}
	}
	return compaction.Rewrite(in)
}

// rewrittenTokens is how much of the previous build's context is read anew in any case: from the foremost message that changed since.
func rewrittenTokens(g *pass.Given, v *conversation.View, out *view.Composition, at map[int32]int64) int64 {
	since := int64(0)
	if g.Previous.Manifest != nil {
		since = g.Previous.Manifest.EditSeq
	}
	behind := int64(0)
	for it := range conversation.Items(out.Units) {
		if m := it.Message; v.Edited(m.Index) > since {
			behind = max(behind, at[m.Index])
		}
	}
	return behind
}
