package property

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// decision is one committed build as the models judge it: what it did to the view, and what it left undone.
type decision struct {
	*life
	build   *build
	request *engine.BuildRequest
	aging   bool
	edits   []conversation.Edit // made by it

	newest   int32 // the first message that is surely in the newest unit
	perhaps  int32 // the first message of the unit before it, if some formats write nothing of the newest
	speaker  int32 // the first message of the newest unit in which anybody but the system surely speaks
	boundary int32 // how many messages an earlier turn's build has seen
}

func (d *decision) fatalf(format string, args ...any) {
	d.t.Fatalf("build %d, turn %d: "+format, append([]any{d.build.Manifest.Seq, d.build.turn}, args...)...)
}

func (d *decision) check() {
	d.edits = d.news()
	d.newest, d.perhaps = newestOf(d.record)
	d.speaker = d.lastSpeaker()
	for _, b := range d.builds {
		if b.turn < d.build.turn {
			d.boundary = b.count
		}
	}
	d.inReach()
	for i := range d.edits {
		d.edit(&d.edits[i])
		fold(d.record, &d.edits[i])
	}
	d.life.edits = append(d.life.edits, d.edits...)
	d.kept()
	d.expired()
	d.erasures()
	d.restoredInFull()
	d.shows()
	for _, e := range d.record {
		e.fresh = false
	}
}

// news reads the log of edits: what was in it must still be there as it was, but for what was erased.
func (d *decision) news() []conversation.Edit {
	snap, err := d.store.Read(ctx, key, store.Query{Edits: &store.EditRange{}})
	if err != nil {
		d.t.Fatal(err)
	}
	old := d.life.edits
	for i := range old {
		if !frozen(&old[i], &snap.Edits[i]) {
			d.fatalf("edit %d has changed:\n%+v\n%+v", old[i].Seq, old[i], snap.Edits[i])
		}
		old[i] = snap.Edits[i]
	}
	return snap.Edits[len(old):]
}

// frozen says whether an edit is what it was, or was erased.
func frozen(was, is *conversation.Edit) bool {
	if was.Seq != is.Seq || was.Kind != is.Kind || was.Range != is.Range || was.Reason != is.Reason || len(was.Parts) != len(is.Parts) ||
		!slices.Equal(was.Mask, is.Mask) || was.Turn != is.Turn {
		return false
	}
	for i := range was.Parts {
		a, b := &was.Parts[i], &is.Parts[i]
		if a.Part != b.Part || a.Level != b.Level || a.Shown.Kind != b.Shown.Kind {
			return false
		}
		if !conversation.Erased([]conversation.Part{b.Shown}) && flat(&a.Shown) != flat(&b.Shown) {
			return false
		}
	}
	return true
}

// lastSpeaker finds the newest unit in which anybody but the system surely speaks: it never expires.
func (d *decision) lastSpeaker() int32 {
	for _, u := range slices.Backward(naiveUnits(d.record)) {
		if u[0].message.Role != conversation.RoleSystem && slices.ContainsFunc(u, (*entry).speaks) {
			return u[0].index
		}
	}
	return 0
}

// immortal says what never expires.
func (d *decision) immortal(e *entry) bool { return e.leading || e.pinned }

// inReach makes sure that units are told apart as the judge's own model tells them.
func (d *decision) inReach() {
	units := naiveUnits(d.record)
	if n := len(units[len(units)-1]); n != len(d.history(len(d.record)).Newest()) {
		d.t.Fatalf("the models disagree about the newest unit")
	}
}

func (d *decision) disabled() bool { return d.request.Override != nil && d.request.Override.Disable }

func (d *decision) things(e *entry) []thing {
	return e.things(d.policy.Expiration.Results, d.request.Override)
}

// edit demands that an edit may be made in this build.
func (d *decision) edit(ed *conversation.Edit) {
	e := d.record[ed.Range.First]
	switch {
	case ed.Kind == conversation.EditMask:
		d.mask(e, ed)
	case ed.Kind == conversation.EditRemove && ed.Reason == conversation.ReasonRetention:
		if len(e.view()) > 0 || e.removed {
			d.fatalf("message %d is removed by retention, and blocks of it are left", e.index)
		}
	case ed.Kind == conversation.EditRemove:
		d.removal(e, ed)
	case ed.Kind == conversation.EditParts && leaves(ed):
		d.leaving(e, ed)
	case ed.Kind == conversation.EditParts && expires(ed.Reason):
		d.expiry(e, ed)
	case ed.Kind == conversation.EditParts:
		d.clipping(e, ed)
	default:
		d.fatalf("an edit of kind %d, for reason %d", ed.Kind, ed.Reason)
	}
}

// number is the message's number from the newest, among those that count.
func (d *decision) number(e *entry) int32 {
	all := d.policy.Retention.AllInputs != nil && *d.policy.Retention.AllInputs
	n := int32(0)
	for _, o := range d.record[e.index+1:] {
		input := o.message.Role == conversation.RoleUser || o.message.Role == conversation.RoleTool
		counts := all && input || slices.ContainsFunc(o.message.Parts, func(p conversation.Part) bool {
			return p.Retention.Kind != conversation.RetentionUnset
		})
		if counts && (e.restored < 0 || o.index >= e.restoredAt) {
			n++
		}
	}
	return n
}

// past lists the blocks that are past their time and not dropped yet.
func (d *decision) past(e *entry) []int32 {
	var out []int32
	n := d.number(e)
	for i := range e.message.Parts {
		if r := e.message.Parts[i].Retention; r.Kind == conversation.RetentionKeepLast && r.Last <= n && !e.masked[int32(i)] {
			out = append(out, int32(i))
		}
	}
	return out
}

func (e *entry) varied() bool {
	return slices.ContainsFunc(e.message.Parts, func(p conversation.Part) bool { return p.Variant != conversation.BothVariants })
}

func (d *decision) mask(e *entry, ed *conversation.Edit) {
	if e.index >= d.boundary {
		d.fatalf("message %d is masked, and no earlier turn has seen it", e.index)
	}
	want := []int32(nil)
	if d.aging {
		want = d.past(e)
	}
	fewer := e.restored >= 0 && !d.ample && !slices.ContainsFunc(ed.Mask, func(p int32) bool { return !slices.Contains(want, p) })
	if !slices.Equal(ed.Mask, want) && !fewer { // of a unit that was expanded, what left the window since is not counted
		d.fatalf("blocks %v of message %d are dropped, not %v (number %d)", ed.Mask, e.index, want, d.number(e))
	}
}

// kept demands that everything in view that an earlier turn has seen shows its persistent variant, and no block past its time.
func (d *decision) kept() {
	for _, e := range d.record[:d.boundary] {
		if !d.visible(e) {
			continue
		}
		if e.varied() && !e.settled {
			d.fatalf("message %d shows its display variant, and turn %d has seen it", e.index, d.build.turn-1)
		}
		if past := d.past(e); d.aging && len(past) > 0 && (e.restored < 0 || d.ample) {
			d.fatalf("message %d shows blocks %v past their time (number %d)", e.index, past, d.number(e))
		}
	}
}

// visible says whether the build has room for the message: surely, as the tail has.
func (d *decision) visible(e *entry) bool {
	return e.index >= d.build.Manifest.Window.Start && !e.removed && len(e.view()) > 0
}

func (d *decision) mayExpire(e *entry) {
	switch {
	case !d.aging || d.disabled():
		d.fatalf("message %d expires, though nothing may", e.index)
	case d.immortal(e):
		d.fatalf("message %d expires, and is pinned or leads", e.index)
	case e.index >= d.perhaps:
		d.fatalf("message %d expires, and is in the newest unit (%d)", e.index, d.perhaps)
	}
}

// whole says whether all of a unit is due to be removed.
func (d *decision) whole(u []*entry) bool {
	n := 0
	for _, e := range u {
		for _, th := range d.things(e) {
			if !th.due(d.build.turn) || th.life.Mode != conversation.ExpirationRemove {
				return false
			}
			n++
		}
	}
	return n > 0
}

func (d *decision) unitOf(e *entry) []*entry { return unitOf(d.record, e) }

func (d *decision) removal(e *entry, ed *conversation.Edit) {
	d.mayExpire(e)
	if e.removed {
		d.fatalf("message %d is removed twice", e.index)
	}
	if !beside(d.record)[e.index] && !d.whole(d.unitOf(e)) {
		d.fatalf("message %d is removed, and not all of its unit is due", e.index)
	}
}

// leaves says whether an edit takes everything from a message but additions that live by their number.
func leaves(ed *conversation.Edit) bool {
	return ed.Reason == conversation.ReasonExpired && !slices.ContainsFunc(ed.Parts, func(p conversation.PartEdit) bool {
		return p.Shown.Kind != conversation.PartUnspecified || p.Level != conversation.Cleared
	})
}

// leaving demands of a message that leaves with its unit that the additions stay which live by their number alone, and nothing else.
func (d *decision) leaving(e *entry, ed *conversation.Edit) {
	d.removal(e, ed)
	var gone, want []int32
	for _, p := range ed.Parts {
		gone = append(gone, p.Part)
	}
	for i := range e.message.Parts {
		if e.message.Parts[i].Retention.Kind != conversation.RetentionKeepLast || e.masked[int32(i)] {
			want = append(want, int32(i))
		}
	}
	if !slices.Equal(gone, want) || len(want) == len(e.message.Parts) || e.left {
		d.fatalf("of message %d blocks %v leave, not %v", e.index, gone, want)
	}
	e.left = true
}

func (d *decision) clipping(e *entry, ed *conversation.Edit) {
	if d.ample {
		d.fatalf("message %d is clipped with room for everything", e.index)
	}
	for _, p := range ed.Parts {
		part := &e.message.Parts[p.Part]
		switch {
		case part.Kind != conversation.PartToolResult:
			d.fatalf("part %d of message %d is clipped, and is no tool result", p.Part, e.index)
		case p.Level != conversation.Shortened || e.shown[p.Part].level > p.Level || e.removed:
			d.fatalf("part %d of message %d is clipped, and was shown for less", p.Part, e.index)
		case partWeight(&p.Shown) >= partWeight(part):
			d.fatalf("part %d of message %d is clipped to more than it was", p.Part, e.index)
		}
	}
}

// expiry demands that what is shortened or cleared is due, and shown in the words that the rules give.
func (d *decision) expiry(e *entry, ed *conversation.Edit) {
	d.mayExpire(e)
	for _, th := range d.things(e) {
		if !slices.ContainsFunc(ed.Parts, func(p conversation.PartEdit) bool { return slices.Contains(th.positions, p.Part) }) {
			continue
		}
		fresh := slices.ContainsFunc(ed.Parts, func(p conversation.PartEdit) bool { return !e.shown[p.Part].expiry })
		switch {
		case e.removed:
			d.fatalf("message %d expires again", e.index)
		case !th.due(d.build.turn):
			d.fatalf("part %d of message %d expires in turn %d, due in %d", th.part, e.index, d.build.turn, th.since)
		case th.made() && !fresh && (!th.erases() || th.isErased()):
			d.fatalf("part %d of message %d expires again", th.part, e.index)
		}
		d.form(&th, ed)
		return
	}
	d.fatalf("message %d expires, and no part of it does", e.index)
}

// form demands the exact words that are shown.
func (d *decision) form(th *thing, ed *conversation.Edit) {
	got, level := "", conversation.Full
	weight := 0
	for _, p := range ed.Parts {
		weight += partWeight(&p.Shown)
		level = max(level, p.Level)
		if old := th.entry.shown[p.Part]; p.Level < old.level {
			d.fatalf("part %d of message %d falls from level %d to %d", p.Part, th.entry.index, old.level, p.Level)
		}
		if th.entry.message.Parts[p.Part].Kind != conversation.PartMedia {
			got += blockText(&p.Shown)
		}
	}
	if !slices.Contains(d.wordings(th, level), got) && !(got == "" && th.hasMedia()) {
		d.fatalf("part %d of message %d is shown as\n%q, not one of\n%q", th.part, th.entry.index, got, d.wordings(th, level))
	}
	if weight >= th.weight() && !th.erases() {
		d.fatalf("part %d of message %d weighs %d, and weighed %d", th.part, th.entry.index, weight, th.weight())
	}
}

// wordings are the texts that may stand for a thing.
func (d *decision) wordings(th *thing, level conversation.Level) []string {
	text := th.text()
	m := utf8.RuneCountInString(text)
	note := func(what string) string {
		if th.erases() {
			return "[" + what + "]"
		}
		return fmt.Sprintf("[%s Full text: expand_message(%d)]", what, th.entry.index)
	}
	if level == conversation.Cleared {
		what := "tool result"
		if th.part == words {
			what = "text"
		}
		return []string{note("Expired " + what + " removed.")}
	}
	if m <= th.length() {
		return []string{text}
	}
	first := head(text, th.length())
	out := []string{first + "...\n\n" + note(fmt.Sprintf("Compacted: first %d of %d characters shown.", utf8.RuneCountInString(first), m))}
	if th.life.CompactMode == conversation.CompactSummary {
		cut := string([]rune(text)[:th.length()])
		out = append(out, note(fmt.Sprintf("Extract of %d characters.", m))+"\n\n"+cut)
		if th.entry.message.Role != conversation.RoleSystem {
			out = append(out, note(fmt.Sprintf("Summary of %d characters.", m))+"\n\n"+summaryText)
		}
	}
	return out
}

// expired demands that what is due was made, or is said to wait for a reason that holds.
func (d *decision) expired() {
	if !d.aging || d.disabled() {
		return
	}
	apart := beside(d.record)
	for _, u := range naiveUnits(d.record) {
		if slices.ContainsFunc(u, func(e *entry) bool { return apart[e.index] }) { // its life is another unit's too
			continue
		}
		if u[0].index >= min(d.newest, d.speaker) || d.immortal(u[0]) || !d.visible(u[0]) || u[0].left {
			continue
		}
		if d.whole(u) {
			d.overdue(u[0], d.latest(u), d.erasing(u), "its unit is not removed")
			continue
		}
		for _, e := range u {
			for _, th := range d.things(e) {
				if th.due(d.build.turn) && !th.made() && !th.isErased() && d.pays(&th) {
					d.overdue(e, &th, th.erases(), fmt.Sprintf("part %d is shown in full", th.part))
				}
			}
		}
	}
}

// latest is the thing of a unit that falls due last.
func (d *decision) latest(u []*entry) *thing {
	var out *thing
	for _, e := range u {
		for _, th := range d.things(e) {
			if out == nil || th.since > out.since {
				out = &th
			}
		}
	}
	return out
}

func (d *decision) erasing(u []*entry) bool {
	return slices.ContainsFunc(u, func(e *entry) bool {
		return slices.ContainsFunc(d.things(e), func(th thing) bool { return th.erases() && (th.text() != "" || th.hasMedia()) })
	})
}

// pays says whether it surely weighs less to let a thing go.
func (d *decision) pays(th *thing) bool {
	const margin = 45 // tokens of annotations, and of estimates
	now := th.weight()
	if th.life.Mode == conversation.ExpirationRemove {
		return th.part != words && now > margin
	}
	text := th.text()
	if utf8.RuneCountInString(text) <= th.length() {
		return th.hasMedia() && now > mediaWeight
	}
	return now > count(string([]rune(text)[:th.length()]))+margin
}

// overdue demands a decision that says why something due is still shown.
func (d *decision) overdue(e *entry, th *thing, erases bool, what string) {
	waited := d.build.turn - th.since
	why := d.deferred(e.index)
	held := why == conversation.ReasonHeldForRewrite && !d.eager() && waited < d.maxDeferral() && !d.coldCache() && !erases
	unready := noSummaryYet(why) && th.life.CompactMode == conversation.CompactSummary && d.build.turn-d.unready(e, th) < 3 && !erases &&
		e.message.Role != conversation.RoleSystem
	if !held && !unready {
		d.fatalf("message %d was due in turn %d, and %s (deferred for reason %d)", e.index, th.since, what, why)
	}
}

// unready is the first turn in which a thing that is due was shown in full for want of a summary.
func (d *decision) unready(e *entry, th *thing) int32 {
	if e.unready == nil {
		e.unready = map[[2]int32]int32{}
	}
	at := [2]int32{th.part, th.since}
	if _, known := e.unready[at]; !known {
		e.unready[at] = d.build.turn
	}
	return e.unready[at]
}

// noSummaryYet says whether a reason is that a model's summary is not there.
func noSummaryYet(why conversation.Reason) bool {
	return why == conversation.ReasonSummaryNotReady || why == conversation.ReasonSummaryRefused || why == conversation.ReasonSummaryNotAsked
}

func (d *decision) deferred(index int32) conversation.Reason {
	for _, x := range d.build.Decisions {
		if x.Kind == conversation.DecisionDeferred && x.First <= index && index <= x.Last {
			return x.Reason
		}
	}
	return conversation.ReasonUnspecified
}

func (d *decision) eager() bool { return d.policy.Rewrite.Mode == conversation.RewriteEager }

func (d *decision) maxDeferral() int32 {
	if p := d.policy.Rewrite.MaxDeferralTurns; p != nil {
		return *p
	}
	return 10
}

// coldCache says whether the provider has surely forgotten: there was no build in the format, or none for so long.
func (d *decision) coldCache() bool {
	for _, b := range slices.Backward(d.builds) {
		if b.Manifest.Format == d.build.Manifest.Format {
			return d.build.time.Sub(b.time) >= conversation.DefaultColdAfter || b.model != d.build.model
		}
	}
	return true
}

// restoredInFull demands that what was expanded since the last build is shown in full in this one, unless it lives for fewer
// turns, or blocks of it for fewer messages, than came since.
func (d *decision) restoredInFull() {
	for _, e := range d.record {
		if !e.fresh || !d.ample {
			continue
		}
		again := slices.ContainsFunc(d.unitOf(e), func(e *entry) bool {
			return slices.ContainsFunc(d.things(e), func(th thing) bool { return th.due(d.build.turn) })
		})
		for p := range e.masked {
			again = again || e.message.Parts[p].Retention.Last <= d.number(e)
		}
		if !e.full() && !again {
			d.fatalf("message %d was expanded, and is not shown in full", e.index)
		}
	}
}

// shows demands the words of what the models say is shown: exactly those where there is room for everything, else no others.
func (d *decision) shows() {
	got, want := map[string]bool{}, map[string]bool{}
	for _, m := range marks.FindAllString(string(d.build.shown), -1) {
		got[m] = true
	}
	for _, e := range d.record {
		e.marksShown(want)
	}
	for m := range got {
		if !want[m] {
			d.fatalf("%s is shown, and should not be:\n%s", m, d.build.shown)
		}
	}
	for m := range want {
		if d.ample && !got[m] {
			d.fatalf("%s is not shown, and should be:\n%s", m, d.build.shown)
		}
	}
	newest := map[string]bool{}
	for _, u := range naiveUnits(d.record) {
		if u[0].index == d.perhaps && d.perhaps == d.newest {
			for _, e := range u {
				e.marksShown(newest)
			}
		}
	}
	for m := range newest {
		if !got[m] {
			d.fatalf("the newest unit's %s is missing in\n%s", m, d.build.shown)
		}
	}
}
