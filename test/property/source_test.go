package property

import (
	"crypto/sha256"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// research is one case of a conversation whose contents stay outside: cited at append, stored by the caller, of runs and not,
// erased with their messages, gone with their runs.
type research struct {
	*journey
	release bool     // originals go with their runs
	texts   []string // that come up again and again
	held    []*held  // every content there ever was, oldest first
	runs    map[string]*runLife
}

// held is a content as the model knows it.
type held struct {
	handle  string
	text    string
	run     string // that it goes with; empty for none
	message int32  // whose text it is; -1 if it was stored
	part    int32
	gone    bool // it was seen gone, or had to be
}

// runLife is what the model knows of a run.
type runLife struct{ used, end time.Time }

// due is when what the run holds is gone (behaviour §9): at the end of its grace, or 24 hours and the grace after its last use.
func (r *runLife) due() time.Time {
	if !r.end.IsZero() {
		return r.end
	}
	return r.used.Add(25 * time.Hour)
}

func (r *runLife) over() bool { return !time.Now().Before(r.due()) }

// forgettable says whether the name may begin a new run.
func (r *runLife) forgettable() bool { return time.Since(r.due()) >= 24*time.Hour }

// TestEngine_AnyResearch_SourcesAreKept holds contents to behaviour §9: what is stored comes back byte for byte, what is gone is
// gone for ever and for a reason, and whatever else happens to the conversation changes nothing about it.
func TestEngine_AnyResearch_SourcesAreKept(t *testing.T) {
	proptest.CheckN(t, cases/2, func(rt *rapid.T) {
		bubbled(t, func() { look(rt) })
	})
}

func look(t *rapid.T) {
	r := &research{journey: depart(t), runs: map[string]*runLife{}}
	defer r.end()
	r.setOut()
	budgets := rapid.SampledFrom([][]int32{{roomy}, {8000, 2000}, {1500, 700}}).Draw(t, "budgets")
	for range rapid.IntRange(2, 12).Draw(t, "messages") {
		r.say()
		for range rapid.SampledFrom([]int{0, 1, 1, 2}).Draw(t, "steps") {
			r.step(rapid.SampledFrom(budgets).Draw(t, "budget"))
		}
	}
	r.judge()
	r.moveHouse()
	r.judge()
	r.bytesCounted()
}

// setOut switches citations on, and draws the texts that come up more than once: two of them large enough to share their bytes.
func (r *research) setOut() {
	r.release = rapid.Bool().Draw(r.t, "release on end of run")
	r.policy.Citations = conversation.CitationsPolicy{On: new(true), ThresholdChars: new(int32(200)), ReleaseOnEndRun: &r.release}
	change := engine.UpdateRequest{Key: r.key, Change: func(i store.Info) (store.Info, error) {
		i.Policy = r.policy
		return i, nil
	}}
	if _, err := r.journey.engine.Update(ctx, change); err != nil {
		r.t.Fatal(err)
	}
	r.texts = []string{"", r.g.mark(), r.prose(33_000), r.prose(700)}
}

// prose is a text of about so many characters, with words that stand nowhere else at both ends.
func (r *research) prose(chars int) string {
	return r.g.mark() + " opens it.\n" + strings.Repeat("Some more of it, line by line.\n", chars/31) + "It ends with " + r.g.mark() + "."
}

// text draws a text to be cited: one that was there before, or a new one.
func (r *research) text() string {
	switch rapid.IntRange(0, 5).Draw(r.t, "text") {
	case 0, 1:
		return rapid.SampledFrom(r.texts).Draw(r.t, "text again")
	case 2:
		return `{"total":2,"items":[` + strings.Repeat(`{"name":"ü","url":"https://example.org/a"},`, 12) + `{"name":"` + r.g.mark() + `"}]}`
	default:
		return r.prose(rapid.SampledFrom([]int{250, 700, 3000}).Draw(r.t, "length"))
	}
}

func (r *research) step(budget int32) {
	r.forget()
	switch rapid.IntRange(0, 16).Draw(r.t, "step") {
	case 0, 1:
		r.keep()
	case 2, 3:
		r.endRun()
	case 4, 5:
		time.Sleep(rapid.SampledFrom([]time.Duration{time.Minute, time.Hour, 23 * time.Hour, 26 * time.Hour}).Draw(r.t, "silence"))
	case 6, 7:
		r.sweep()
	case 8:
		r.judge()
	case 9:
		r.search()
	case 10:
		r.back()
	case 11:
		r.unwind()
	case 12:
		r.compact()
	case 13:
		r.moveHouse()
	case 14:
		r.sameAsCold(conversation.FormatAnthropic, budget)
	default:
		r.show(budget)
	}
}

// note takes in what was committed since.
// forget lets runs be forgotten that may be: a reading does it too, when something else is overdue.
func (r *research) forget() {
	for _, run := range r.runs {
		if run.forgettable() {
			r.sweep()
			return
		}
	}
	r.note() // what was overdue may have gone with a reading
}

func (r *research) note() { r.edits = append(r.edits, r.news()...) }

// compact makes the view smaller, if it can be.
func (r *research) compact() {
	err := r.insist(func() error { _, err := r.journey.engine.Compact(ctx, engine.CompactRequest{Key: r.key}); return err })
	if err != nil && conversation.KindOf(err) != conversation.NothingToCompact {
		r.t.Fatalf("compact: %v", err)
	}
	r.note()
}

func (r *research) run() string { return rapid.SampledFrom([]string{"", "r1", "r2"}).Draw(r.t, "run") }

// say appends a message; where it carries results, or is an action's, it is likely long.
func (r *research) say() {
	r.forget()
	m := r.g.message()
	m.RunID = r.run()
	acts := m.Role == conversation.RoleUser && rapid.Bool().Draw(r.t, "acts")
	if acts {
		m.Type = conversation.TypeActionResult
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Kind == conversation.PartText && acts:
			p.Text.Inline = r.text()
		case p.Kind == conversation.PartToolResult:
			r.fill(p.Result)
		}
	}
	r.put(m)
}

// fill draws what a result says, how long it lives, and whether it was had before.
func (r *research) fill(res *conversation.ToolResult) {
	if res.Output != conversation.OutputParts && rapid.IntRange(0, 3).Draw(r.t, "long") > 0 {
		res.Output, res.Text.Inline = conversation.OutputText, r.text()
	}
	if rapid.IntRange(0, 3).Draw(r.t, "erased") == 0 {
		res.Expiration = &conversation.Expiration{Turns: new(int32(1)), Mode: conversation.ExpirationRemove, PreserveOriginal: new(bool)}
	}
	if len(r.held) > 0 && rapid.IntRange(0, 5).Draw(r.t, "recalled") == 0 {
		res.Recalled = &conversation.Recalled{ContentID: rapid.SampledFrom(r.held).Draw(r.t, "recalled from").handle}
	}
}

func (r *research) put(m conversation.Message) {
	e := &entry{
		index: int32(len(r.record)), turn: r.turn, restored: -1, shown: map[int32]shownForm{}, erased: map[int32]bool{},
		message: conversation.Message{Role: m.Role, Type: m.Type, Pinned: m.Pinned, Tags: m.Tags, RunID: m.RunID, Parts: conversation.CloneParts(m.Parts)},
	}
	before, request := r.head(), r.request("AppendMessage")
	e.seen = before.Seen
	var got *engine.AppendResult
	err := r.insist(func() (err error) {
		again := m
		again.Parts = conversation.CloneParts(m.Parts)
		got, err = r.journey.engine.Append(ctx, engine.AppendRequest{Key: r.key, Messages: []conversation.Message{again}, Request: request})
		return err
	})
	if err != nil || r.head().Revision != before.Revision+1 {
		r.t.Fatalf("append %d: %v, revision %d after %d", e.index, err, r.head().Revision, before.Revision)
	}
	r.record = append(r.record, e)
	r.cites(e, got.Citations[0])
	r.t.Logf("append %d: %s %s of run %q: %d cited", e.index, m.Role, e.sketch(), m.RunID, len(got.Citations[0]))
}

// cites takes in what an append has cited.
func (r *research) cites(e *entry, cited []engine.Cited) {
	r.cited(e)
	for _, p := range r.edits {
		if p.Range.First != e.index || p.Kind != conversation.EditParts {
			continue
		}
		c, part := p.Parts[0].Shown.Citation, p.Parts[0].Part
		h := &held{handle: c.ContentID, text: blockText(&e.message.Parts[part]), message: e.index, part: part}
		if !slices.ContainsFunc(cited, func(o engine.Cited) bool { return o.Citation.ContentID == h.handle }) {
			r.t.Fatalf("the answer tells of %+v, not of %s", cited, h.handle)
		}
		if run := r.runs[e.message.RunID]; r.release && e.message.RunID != "" && (run == nil || !run.over()) { // one that is over takes nothing
			h.run = e.message.RunID
			r.use(h.run)
		}
		r.held = append(r.held, h)
	}
}

// use notes that a run was used. One that is over stays over.
func (r *research) use(id string) {
	if run := r.runs[id]; run == nil {
		r.runs[id] = &runLife{used: time.Now()}
	} else if !run.over() {
		run.used = time.Now()
	}
}

// keep stores a content.
func (r *research) keep() {
	text, id, request := r.text(), r.run(), r.request("StoreContent")
	before := r.head()
	sum := sha256.Sum256([]byte(text))
	var got *engine.StoreContentResult
	err := r.insist(func() (err error) {
		left := []byte(text)
		got, err = r.journey.engine.StoreContent(ctx, engine.StoreContentRequest{
			Key: r.key, RunID: id, Request: request, SHA256: &sum,
			Next: func() ([]byte, error) {
				if len(left) == 0 {
					return nil, io.EOF
				}
				n := min(len(left), 20_000)
				piece := left[:n]
				left = left[n:]
				return piece, nil
			},
		})
		return err
	})
	r.t.Logf("store %d bytes in run %q: %v", len(text), id, err)
	run := r.runs[id]
	if ended := run != nil && (run.over() || !run.end.IsZero()); ended && conversation.KindOf(err) == conversation.RunEnded {
		return
	} else if ended {
		r.t.Fatalf("run %q is over, and takes a content: %v", id, err)
	}
	if err != nil || r.head().Revision != before.Revision+1 || got.Revision != before.Revision+1 {
		r.t.Fatalf("storing in run %q answers %+v (%v), revision %d after %d", id, got, err, r.head().Revision, before.Revision)
	}
	r.held = append(r.held, &held{handle: got.Cited.Citation.ContentID, text: text, run: id, message: -1})
	if id != "" {
		r.use(id)
	}
	r.note()
}

// endRun ends a run, perhaps again.
func (r *research) endRun() {
	id := rapid.SampledFrom([]string{"r1", "r2"}).Draw(r.t, "run that ends")
	grace := rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(r.t, "grace")
	r.gone()
	before, request := r.head(), r.request("EndRun")
	var got *engine.EndRunResult
	err := r.insist(func() (err error) {
		got, err = r.journey.engine.EndRun(ctx, engine.EndRunRequest{Key: r.key, RunID: id, Grace: &grace, Request: request})
		return err
	})
	r.t.Logf("end run %q in %s: %+v %v", id, grace, got, err)
	if err != nil || got.Revision != before.Revision+1 || r.head().Revision != got.Revision {
		r.t.Fatalf("ending run %q answers %+v (%v), revision was %d", id, got, err, before.Revision)
	}
	left := int32(0)
	for _, h := range r.held {
		if h.run == id && !h.gone {
			left++
		}
	}
	if run := r.runs[id]; run == nil || !run.over() {
		r.runs[id] = &runLife{used: time.Now(), end: time.Now().Add(grace)}
	}
	if got.Scheduled != left {
		r.t.Fatalf("ending run %q schedules %d contents, and %d can be had", id, got.Scheduled, left)
	}
}

// sweep does what is due. It is nobody's business: the revision stays.
func (r *research) sweep() {
	before := r.head()
	for range 2 { // what a run held goes first; it itself may be forgotten by the next
		if err := r.insist(func() error { return r.journey.engine.Sweep(ctx) }); err != nil {
			r.t.Fatalf("sweep: %v", err)
		}
	}
	if after := r.head(); after.Revision != before.Revision || after.Turn != before.Turn || !after.UpdateTime.Equal(before.UpdateTime) {
		r.t.Fatalf("a sweep makes %+v of %+v", after, before)
	}
	r.note()
	r.gone()
	for id, run := range r.runs {
		if run.forgettable() {
			delete(r.runs, id) // it is forgotten: who uses the name again begins a new run
		}
	}
	for i, s := range r.list() {
		if h := r.held[i]; s.Expired != h.gone {
			r.t.Fatalf("%s, of run %q, is listed as expired: %t, gone: %t, once all was swept", h.handle, h.run, s.Expired, h.gone)
		}
	}
	r.t.Log("sweep")
}

// show builds, and judges what is shown.
func (r *research) show(budget int32) {
	f := rapid.SampledFrom([]conversation.Format{conversation.FormatAnthropic, conversation.FormatOpenAIChat, conversation.FormatNeutral}).Draw(r.t, "format")
	request := r.buildRequest(f, budget)
	before := r.head()
	var got *engine.BuildResult
	err := r.insist(func() (err error) { got, err = r.journey.engine.Build(ctx, request); return err })
	r.t.Logf("build in turn %d: %v", r.turn, err)
	if err != nil {
		if r.head().Revision != before.Revision {
			r.t.Fatal("a refused build commits")
		}
		return
	}
	if got.Revision > before.Revision+1 {
		r.t.Fatalf("a build moves the revision to %d, from %d", got.Revision, before.Revision)
	}
	r.turn = got.Turn
	r.note()
	b := &build{BuildResult: got, turn: got.Turn, shown: written(got)}
	if got.Duplicate {
		delete(r.court.last, f)
	}
	r.court.legal(f, int32(got.Manifest.Budget), b)
	r.addsUp(b)
}

// addsUp demands that what citing is said to save is what its decisions say.
func (r *research) addsUp(b *build) {
	saved := int64(0)
	for _, d := range b.Decisions {
		if d.Kind != conversation.DecisionCited {
			continue
		}
		if d.After >= d.Before || d.Before <= 0 {
			r.t.Fatalf("a citation of %d tokens stands for %d", d.After, d.Before)
		}
		saved += d.Before - d.After
	}
	if b.Tokens.SavedByCiting != saved {
		r.t.Fatalf("citing saves %d tokens, and is said to save %d: %+v", saved, b.Tokens.SavedByCiting, b.Decisions)
	}
}

// back brings a message back, or is told that it is gone.
func (r *research) back() {
	e := rapid.SampledFrom(r.record).Draw(r.t, "expanded")
	x := engine.ExpandRequest{Key: r.key, Index: &e.index, ReturnOnly: rapid.Bool().Draw(r.t, "return only"), Request: r.request("ExpandMessage")}
	if x.ReturnOnly {
		x.Request = engine.Request{}
	}
	var got *engine.ExpandResult
	err := r.insist(func() (err error) { got, err = r.journey.engine.Expand(ctx, x); return err })
	r.t.Logf("expand %d (%t): %v", e.index, x.ReturnOnly, err)
	r.note()
	switch kind := conversation.KindOf(err); {
	case err == nil:
		r.originals() // its run may have been over, with other parts that stay
		r.whole(e, got.Message.Message.Parts)
	case kind == conversation.OriginalErased, kind == conversation.ContentExpired:
		r.justErased(e)
	case kind == conversation.NotEdited, kind == conversation.ExpansionTooLarge:
	default:
		r.t.Fatalf("an expansion of message %d is refused: %v", e.index, err)
	}
}

// unwind takes some messages back. Their contents can still be had.
func (r *research) unwind() {
	from := max(0, len(r.record)-rapid.IntRange(1, 4).Draw(r.t, "taken back"))
	err := r.insist(func() error {
		_, err := r.journey.engine.Rewind(ctx, engine.RewindRequest{Key: r.key, From: int32(from)})
		return err
	})
	r.t.Logf("rewind to %d: %v", from, err)
	if err != nil && conversation.KindOf(err) != conversation.AlreadyRewound {
		r.t.Fatal(err)
	}
	for _, e := range r.record[from:] {
		e.hidden = true
	}
	r.note()
	r.pairAnew()
	clear(r.court.last)
}
