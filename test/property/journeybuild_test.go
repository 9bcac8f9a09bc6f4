package property

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

func (j *journey) buildRequest(f conversation.Format, budget int32) engine.BuildRequest {
	zero := int32(0)
	r := engine.BuildRequest{
		Key: j.key, Format: f, Model: rapid.SampledFrom([]string{"", "", "", "m1"}).Draw(j.t, "model"), Request: j.request("BuildContext"),
		Budget:         engine.BudgetOverride{ContextWindow: &budget, ReservedOutput: &zero},
		CloseOpenCalls: rapid.IntRange(0, 2).Draw(j.t, "closes") == 0,
		Fixed:          engine.FixedInput{Tokens: rapid.SampledFrom([]*int32{nil, nil, new(int32(30))}).Draw(j.t, "fixed")},
	}
	switch rapid.IntRange(0, 9).Draw(j.t, "turn") {
	case 0, 1:
		r.SameTurn = true
	case 2:
		r.Turn = new(j.turn + int32(rapid.IntRange(1, 7).Draw(j.t, "jump")))
	}
	if rapid.IntRange(0, 7).Draw(j.t, "other policy") == 0 {
		r.PolicyOverride = j.g.windowPolicy()
	}
	return r
}

// build builds, first dry, and holds what was decided to the models.
func (j *journey) build(f conversation.Format, budget int32) {
	r := j.buildRequest(f, budget)
	dry := r
	dry.DryRun, dry.Request = true, engine.Request{}
	before, calls := j.head(), j.asks()
	expected, dryErr := j.engine.Build(ctx, dry)
	if after := j.head(); after.Version != before.Version || j.asks() != calls {
		j.t.Fatal("a dry run commits, or asks a model")
	}
	var got *engine.BuildResult
	asked := time.Now()
	err := j.insist(func() (err error) { got, err = j.engine.Build(ctx, r); return err })
	j.listen()
	if waited, most := time.Since(asked), or(r.PolicyOverride.Or(j.policy).MaxWait, conversation.DefaultMaxWait); waited > most {
		j.t.Fatalf("the build waited %s, and may wait %s", waited, most)
	}
	if err != nil {
		j.refused(err, budget)
		if j.head().Revision != before.Revision || j.head().Turn != before.Turn || len(j.news()) > 0 {
			j.t.Fatal("a refused build commits")
		}
		return
	}
	if j.model == nil && (dryErr != nil || !bytes.Equal(written(expected), written(got)) || !got.Duplicate && !reflect.DeepEqual(expected.Decisions, got.Decisions)) {
		j.t.Fatalf("the dry run differs (%v):\n%s\n%s", dryErr, written(expected), written(got))
	}
	b := &build{BuildResult: got, turn: got.Turn, count: int32(len(j.record)), time: time.Now(), model: r.Model, shown: written(got)}
	j.t.Logf("build %d: turn %d, format %d, budget %d, window %+v", got.Manifest.Seq, got.Turn, f, budget, got.Manifest.Window)
	j.arrived(b, &r, before.Revision, before.Seen)
	j.again(b, &r)
}

func (j *journey) asks() int64 {
	if j.model == nil {
		return 0
	}
	return j.model.calls.Load()
}

// arrived holds a committed build to the models.
func (j *journey) arrived(b *build, r *engine.BuildRequest, revision int64, seenBy int32) {
	if j.history().Pending() && !r.CloseOpenCalls {
		j.t.Fatal("built, though calls wait")
	}
	own := !slices.ContainsFunc(j.budgets, func(o int64) bool { return o > b.Manifest.Budget })
	a := &journal{journey: j, policy: r.PolicyOverride.Or(j.policy), turn: b.turn, aging: b.turn > j.turn, own: own, start: b.Manifest.Window.Start, afresh: b.Manifest.Window.Afresh,
		seenBy: seenBy}
	made := a.take()
	j.revised(b, made, revision)
	v := j.viewOf(b)
	v.opening = a.policy.Fit.KeepOpening
	v.composed()
	v.copies()
	v.explained()
	v.newestWhole()
	v.listed()
	if b.Duplicate { // its first answer was lost, with what it said of the prefix
		delete(j.court.last, b.Manifest.Format)
	}
	j.court.legal(b.Manifest.Format, int32(b.Manifest.Budget), b)
	j.slid = false
	j.turn, j.builds = b.turn, append(j.builds, *b)
	if !slices.Contains(j.budgets, b.Manifest.Budget) {
		j.budgets = append(j.budgets, b.Manifest.Budget)
	}
}

// revised demands that the revision moves by one if the view changed, and not if it did not (behaviour §3).
func (j *journey) revised(b *build, made []conversation.Edit, before int64) {
	moved := b.Revision - before
	same := false
	for _, o := range j.builds {
		if o.Manifest.Budget == b.Manifest.Budget {
			same = o.Manifest.Window.Equal(&b.Manifest.Window) && o.Manifest.EditSeq == b.Manifest.EditSeq
		}
	}
	if moved < 0 || moved > 1 || len(made) > 0 && moved == 0 || j.head().Revision != b.Revision || b.Manifest.Revision != b.Revision {
		j.t.Fatalf("%d edits move the revision by %d, to %d", len(made), moved, j.head().Revision)
	}
	if same && !j.slid && len(made) == 0 && moved != 0 {
		j.t.Fatalf("the revision moves, and the view does not")
	}
}

// again asks with the same request id, and must get the same.
func (j *journey) again(b *build, r *engine.BuildRequest) {
	before := j.head()
	got, err := j.engine.Build(ctx, *r)
	if err != nil || !got.Duplicate || !bytes.Equal(written(got), b.shown) || got.Revision != b.Revision || got.Manifest.Seq != b.Manifest.Seq {
		j.t.Fatalf("a retried build answers %v, and other bytes:\n%s\n%s", err, written(got), b.shown)
	}
	if j.head().Version != before.Version {
		j.t.Fatal("a retried build commits")
	}
}

func sketchSummary(e *conversation.Edit) string {
	if e.Summary == nil {
		return ""
	}
	return fmt.Sprintf("s%d of %v, except %v", e.Summary.ID, e.Summary.Children, e.Summary.Except)
}

// refused demands that a refusal is a documented one, and right.
func (j *journey) refused(err error, budget int32) {
	j.t.Logf("refused: %v", err)
	switch kind := conversation.KindOf(err); kind {
	case conversation.PendingToolCalls:
		if !j.history().Pending() {
			j.t.Fatalf("refused (%v), but no call waits", err)
		}
	case conversation.EmptyContext, conversation.ContextCannotFit:
		least := bone(j.history())
		for _, e := range j.visible() {
			if e.pinned {
				m := model(&e.message)
				least += m.Tokens(count) + 24
			}
		}
		spoken := slices.ContainsFunc(j.visible(), func(e *entry) bool {
			return e.message.Role != conversation.RoleSystem && e.speaks() && !j.summarized(e)
		})
		if sure, perhaps := j.newest(); sure == perhaps && spoken && 2*(least+60) <= int(budget) { // the factor is at most 2
			j.t.Fatalf("refused (%v), but %d tokens fit %d", err, least, budget)
		}
	default:
		j.t.Fatalf("not a documented refusal: %v", err)
	}
}

// manifests demands every earlier build again, byte for byte, from a cold engine.
func (j *journey) manifests() {
	cold := j.newEngine(0)
	defer cold.Close()
	for _, b := range j.builds {
		again, err := cold.Manifest(ctx, j.key, b.Manifest.Seq, conversation.FormatUnspecified)
		if err != nil {
			j.t.Fatalf("manifest %d: %v", b.Manifest.Seq, err)
		}
		text := slices.Concat(again.System, []byte{0}, again.MessagesJSON)
		if b.Manifest.Format == conversation.FormatNeutral {
			text = neutralJSON(again.Messages)
		}
		if again.SHA256 != b.Manifest.SHA256 || !bytes.Equal(text, b.shown) {
			j.t.Fatalf("manifest %d rebuilds to other bytes:\n%s\n%s", b.Manifest.Seq, text, b.shown)
		}
	}
}

// seen is a view as a build has shown it: its messages by index, and its summaries in order.
type seen struct {
	*journey
	build     *build
	messages  map[int32]*provider.Message
	order     []int32
	summaries []*provider.Message
	opening   *bool              // the policy's keep_opening
	texts     map[int32][]string // of messages, in pieces
}

// viewOf reads a build's view in the neutral format, which says what each of its messages is.
func (j *journey) viewOf(b *build) *seen {
	m, err := j.engine.Manifest(ctx, j.key, b.Manifest.Seq, conversation.FormatNeutral)
	if err != nil {
		j.t.Fatalf("manifest %d: %v", b.Manifest.Seq, err)
	}
	v := &seen{journey: j, build: b, messages: map[int32]*provider.Message{}, texts: map[int32][]string{}}
	for i := range m.Messages {
		for k := range m.Messages[i].Parts {
			v.texts[m.Messages[i].Index] = append(v.texts[m.Messages[i].Index], oneText(&m.Messages[i].Parts[k]))
		}
		switch n := &m.Messages[i]; {
		case n.Summary > 0:
			v.summaries = append(v.summaries, n)
		case n.Index >= 0 && v.messages[n.Index] == nil: // a late result in it is told once more
			v.see(n)
		}
	}
	return v
}

// listed demands that the listing tells which messages the build showed.
func (v *seen) listed() {
	r := engine.MessagesRequest{Key: v.key, Range: conversation.Range{End: -1}, Limit: 1000, MaxBytes: 1 << 30, Size: func(*engine.MessageInView) int { return 1 }}
	page, err := v.engine.Messages(ctx, r)
	if err != nil {
		v.t.Fatal(err)
	}
	for i := range page.Messages {
		m := &page.Messages[i]
		if at := m.Message.Index; m.InView != (v.messages[at] != nil) {
			v.t.Fatalf("message %d is told to be in view: %t; window %+v", at, m.InView, v.build.Manifest.Window)
		}
	}
}

// see takes in a message of the neutral form: the assistant's of a unit are one there, under the first of them.
func (v *seen) see(n *provider.Message) {
	for _, e := range unitOf(v.record, v.record[n.Index]) {
		if e.index == n.Index || n.Role == conversation.RoleAssistant && e.message.Role == n.Role && e.stays() {
			v.messages[e.index], v.order = n, append(v.order, e.index)
		}
	}
}

// composed demands that the view shows what the log of edits says, in the view's order, and that the bytes show the same.
func (v *seen) composed() {
	standing, known := v.standingIn(), ""
	if len(standing) != len(v.summaries) {
		v.t.Fatalf("%d summaries are in force, %d are shown", len(standing), len(v.summaries))
	}
	for i, m := range v.summaries {
		s := standing[i].Summary
		known += s.Text.Inline + "\n"
		_, cut := v.build.Manifest.Window.CutOf(0, s.ID)
		if m.Summary != s.ID || len(m.Parts) != 1 || m.Role != conversation.RoleAssistant || !cut && !strings.HasSuffix(m.Parts[0].Text.Inline, s.Text.Inline) {
			v.t.Fatalf("summary s%d is shown as %+v", s.ID, m)
		}
	}
	want, bytes, some := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range v.record {
		switch {
		case v.messages[e.index] == nil:
		case v.cut(e.index):
			e.marksShown(some)
		default:
			e.marksShown(want)
			v.entire(e)
		}
	}
	v.forgotten(string(v.build.shown))
	for _, m := range marks.FindAllString(string(v.build.shown), -1) {
		if bytes[m] = true; !want[m] && !some[m] && !strings.Contains(known, m) {
			v.t.Fatalf("%s is shown, and should not be:\n%s", m, v.build.shown)
		}
	}
	for m := range want {
		if !bytes[m] {
			v.t.Fatalf("%s is not shown, and should be:\n%s", m, v.build.shown)
		}
	}
	v.ordered()
	v.asked()
}

// cut says whether the window shows a part of a message's words.
func (v *seen) cut(index int32) bool {
	_, cut := v.build.Manifest.Window.CutOf(index, 0)
	return cut && index < v.build.Manifest.Window.Start
}

// standingIn are the summaries that the build's window shows: one that was made before it was opened afresh stands for what lies before
// its start alone, and one may have no room.
func (v *seen) standingIn() []*conversation.Edit {
	win := &v.build.Manifest.Window
	return slices.DeleteFunc(v.standing(), func(e *conversation.Edit) bool {
		cut, ok := win.CutOf(0, e.Summary.ID)
		return ok && cut.Leaves() || e.Seq <= win.Afresh && e.Range.First >= win.Start
	})
}

// standsFor says whether a summary is shown in a message's place.
func (v *seen) standsFor(e *entry) bool {
	win := &v.build.Manifest.Window
	s := v.over(e.index)
	return v.summarized(e) && slices.Contains(v.standingIn(), s) && !(s.Seq <= win.Afresh && e.index >= win.Start) &&
		!(e.index < win.Start && (e.index == win.Opening || e.index == win.Request))
}

// own are the messages in which a user's own words are.
func (v *seen) own() []*entry {
	return slices.DeleteFunc(v.visible(), func(e *entry) bool { return e.index >= v.build.count || !e.message.OwnWords() })
}

// inForce are those in which they stand as they were appended.
func (v *seen) inForce() []*entry {
	return slices.DeleteFunc(v.own(), func(e *entry) bool {
		return e.removed || len(e.shown) > 0 || conversation.Erased(e.message.Parts)
	})
}

// isOpening says whether a message is the opening: the first in which a user's own words are, as long as they stand.
func (v *seen) isOpening(e *entry) bool {
	return v.own()[0] == e && v.inForce()[0] == e && (v.opening == nil || *v.opening)
}

// asked demands the request in force and the opening: whole, or head and tail where the budget is too small for them (behaviour §4).
func (v *seen) asked() {
	all := v.inForce()
	if len(all) == 0 {
		return
	}
	for _, e := range []*entry{all[len(all)-1], all[0]} {
		cut, ok := v.build.Manifest.Window.CutOf(e.index, 0)
		switch {
		case v.messages[e.index] != nil || e.leading || e != all[len(all)-1] && !v.isOpening(e):
		case !ok || !cut.Leaves():
			v.t.Fatalf("message %d, of the user's own words, is not shown: window %+v", e.index, v.build.Manifest.Window)
		case v.room() >= 2*(leastWords+int(e.message.Overhead())):
			v.t.Fatalf("message %d, of the user's own words, has no room, and %d tokens are left: window %+v", e.index, v.room(), v.build.Manifest.Window)
		}
	}
}

// leastWords is more than 200 characters of the words that are drawn weigh, in tokens, with what stands around them.
const leastWords = 300

// room is what a build has left beside what has a stronger claim on it than the user's words.
func (v *seen) room() int {
	least := bone(v.history())
	for _, e := range v.visible() {
		if m := model(&e.message); e.pinned {
			least += m.Tokens(count) + 24
		}
	}
	return int(v.build.Manifest.Budget)/2 - least - int(v.build.Manifest.FixedTokens)
}

// entire demands of a message that leads or is pinned that its words are shown as they were appended.
func (v *seen) entire(e *entry) {
	for i := range e.message.Parts {
		p := &e.message.Parts[i]
		if !e.leading && !e.pinned || p.Kind != conversation.PartText || strings.TrimSpace(p.Text.Inline) == "" {
			continue
		}
		if !slices.ContainsFunc(v.messages[e.index].Parts, func(o conversation.Part) bool { return o.Text.Inline == p.Text.Inline }) {
			v.t.Fatalf("message %d leads (%t) or is pinned (%t), and is shown as %+v", e.index, e.leading, e.pinned, v.messages[e.index])
		}
	}
}

// ordered demands the tail in order at the end, and before it nothing but what is kept there.
func (v *seen) ordered() {
	win, apart := v.build.Manifest.Window, beside(v.record)
	order := slices.DeleteFunc(slices.Clone(v.order), func(i int32) bool { // they stand with their calls
		return apart[i] && v.record[i].message.Role == conversation.RoleTool
	})
	tail := slices.IndexFunc(order, func(i int32) bool { return i >= win.Start && !v.record[i].leading })
	if tail < 0 {
		tail = len(order)
	}
	byUnit := func(x, y int32) int { return int(v.unitStart(x) - v.unitStart(y)) } // formats order what is in one
	if !slices.IsSortedFunc(order[tail:], byUnit) {
		v.t.Fatalf("the tail is out of order: %v, window %+v", v.order, win)
	}
	for _, i := range order[:tail] {
		e := v.record[i]
		switch s := v.over(i); {
		case e.leading || e.pinned || v.record[v.unitStart(i)].restored >= 0: // which may have grown since
		case e.message.Role == conversation.RoleSystem && s != nil && !covers(s, i), v.verbatim(e):
		case i == win.Opening && v.isOpening(e):
		case i != win.Request:
			v.t.Fatalf("message %d is shown before the window, %+v", i, win)
		case slices.ContainsFunc(v.inForce(), func(o *entry) bool { return o.index > i && o.index < win.Start && o.restored < 0 }): // it keeps its place
			v.t.Fatalf("message %d is shown before the window, %+v, and is not the newest of the user's there", i, win)
		}
	}
}

// verbatim says whether a message stands beside a summary because its unit is important.
func (v *seen) verbatim(e *entry) bool {
	s := v.over(e.index)
	return s != nil && isImportant(shownUnit(v.record, e)) &&
		slices.ContainsFunc(s.Summary.Verbatim, func(r conversation.Range) bool { return r.Contains(e.index) })
}

func (v *seen) unitStart(index int32) int32 { return unitOf(v.record, v.record[index])[0].index }

// explained demands for every message that is not shown exactly one reason, and for every one that is shown otherwise exactly
// one decision.
func (v *seen) explained() {
	for _, e := range v.record {
		if !e.hidden && !e.speaks() && !e.removed {
			continue // formats differ in what they write of it
		}
		why := v.reasons(e)
		shown := v.messages[e.index] != nil
		var want []string
		switch {
		case e.hidden:
			want = []string{"hidden"}
		case v.standsFor(e):
			want = []string{"summarized"}
		case shown && (len(e.shown) > 0 || v.cut(e.index)):
			want = []string{"edited"}
		case !shown && e.removed && len(why) == 1 && why[0] == "removed":
			continue
		case !shown:
			want = []string{"left out"}
		}
		if corrected := v.tellsOfCorrection(e); corrected != (shown && e.original != nil) {
			v.t.Fatalf("message %d (shown %t, corrected %t) is told to be corrected: %t", e.index, shown, e.original != nil, corrected)
		}
		if !slices.Equal(why, want) || shown && (e.hidden || v.standsFor(e)) {
			v.t.Fatalf("message %d (shown %t, removed %t) is explained by %v, not %v: window %+v, decisions %+v",
				e.index, shown, e.removed, why, want, v.build.Manifest.Window, v.build.Decisions)
		}
	}
}

// tellsOfCorrection says whether a decision says that the message has other words than on record.
func (v *seen) tellsOfCorrection(e *entry) bool {
	return slices.ContainsFunc(v.build.Decisions, func(d conversation.Decision) bool {
		return d.Kind == conversation.DecisionCorrected && d.First == e.index
	})
}

// reasons are what decisions say of a message.
func (v *seen) reasons(e *entry) []string {
	var out []string
	for _, d := range v.build.Decisions {
		if e.index < d.First || d.Last < e.index || d.Summary > 0 && d.Kind == conversation.DecisionClipped {
			continue // a summary that is shortened is shown all the same
		}
		switch d.Kind {
		case conversation.DecisionHidden:
			if e.hidden && !slices.Contains(out, "hidden") { // what is taken back again was taken back before
				out = append(out, "hidden")
			}
		case conversation.DecisionSummarized:
			if d.Reason == conversation.ReasonOverBudgetShare { // beside the decision of the whole summary
				if !e.hidden && !beside(v.record)[e.index] && (!isImportant(shownUnit(v.record, e)) || !v.standsFor(e)) {
					v.t.Fatalf("message %d is told to be important, and to be summarized: %+v", e.index, d)
				}
				continue
			}
			if s := v.over(e.index); s != nil && s.Summary.ID == d.Summary && v.standsFor(e) && !e.hidden {
				out = append(out, "summarized")
			}
		case conversation.DecisionLeftOut:
			if v.messages[e.index] == nil && !e.hidden && !v.standsFor(e) && !slices.Contains(out, "left out") {
				out = append(out, "left out")
			}
		case conversation.DecisionRemoved:
			out = append(out, "removed")
		case conversation.DecisionDeduplicated:
			if d.Reason == conversation.ReasonDuplicateLines {
				out = append(out, "edited")
			}
		case conversation.DecisionClipped, conversation.DecisionCompacted, conversation.DecisionCleared, conversation.DecisionPruned,
			conversation.DecisionCited:
			out = append(out, "edited")
		}
	}
	return out
}

// newestWhole demands the newest unit: whole, or with results that were clipped.
func (v *seen) newestWhole() {
	sure, perhaps := v.newest()
	if sure != perhaps {
		return // formats differ in which one it is
	}
	for _, e := range unitOf(v.record, v.record[sure]) {
		if v.messages[e.index] == nil && e.speaks() {
			v.t.Fatalf("message %d, of the newest unit, is not shown", e.index)
		}
	}
}
