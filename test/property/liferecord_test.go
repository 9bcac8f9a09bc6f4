package property

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// erasures demands that what had to be erased in this build is, wherever it stands, and nothing else.
func (d *decision) erasures() {
	list := d.list(false)
	for _, e := range d.record {
		for _, th := range d.things(e) {
			var gone []int32
			for _, p := range th.positions {
				is := conversation.Erased(list[e.index].Message.Parts[p : p+1])
				if e.erased[p] && !is {
					d.fatalf("part %d of message %d was erased, and is back", p, e.index)
				}
				if is && !e.erased[p] {
					gone = append(gone, p)
				}
			}
			switch {
			case len(gone) == 0:
				d.missed(&th)
				continue
			case !d.aging || d.disabled() || !th.erases() || !th.due(d.build.turn) || d.immortal(e) || e.index >= d.perhaps:
				d.fatalf("part %d of message %d is erased: due in %d, erases %t", th.part, e.index, th.since, th.erases())
			}
			for _, p := range gone {
				e.erased[p], e.erasedAfter[p] = true, int64(len(d.life.edits)-len(d.edits))
			}
			d.t.Logf("erased: parts %v of message %d", gone, e.index)
		}
	}
}

// missed demands that what is not erased did not have to be.
func (d *decision) missed(th *thing) {
	if th.isErased() || !d.aging || d.disabled() || !th.erases() || !th.due(d.build.turn) || d.immortal(th.entry) || th.entry.index >= min(d.newest, d.speaker) {
		return
	}
	stored := th.entry.lives[th.part] // what a policy or a build says may come too late for what is not in view
	chars := utf8.RuneCountInString(th.text())
	if stored == nil || stored.PreserveOriginal == nil || *stored.PreserveOriginal || chars == 0 {
		return
	}
	asStored := thing{entry: th.entry, life: *stored}
	for _, life := range []*thing{th, &asStored} {
		short := life.life.Mode == conversation.ExpirationCompact && chars <= life.length() // it is left as it is
		if short || life.life.Mode == conversation.ExpirationNone || d.build.turn < life.dueAt() {
			return
		}
	}
	d.fatalf("part %d of message %d was to be erased in turn %d, and is on record", th.part, th.entry.index, th.since)
}

// list reads all messages, as they were appended or as the view shows them, by index.
func (l *life) list(current bool) map[int32]*engine.MessageInView {
	out := map[int32]*engine.MessageInView{}
	r := engine.MessagesRequest{
		Key: key, Range: conversation.Range{End: -1}, Current: current, Limit: 1000, MaxBytes: 1 << 30,
		Size: func(*engine.MessageInView) int { return 1 },
	}
	for {
		page, err := l.engine.Messages(ctx, r)
		if err != nil {
			l.t.Fatal(err)
		}
		for i := range page.Messages {
			out[page.Messages[i].Message.Index] = &page.Messages[i]
		}
		if page.Next == nil {
			return out
		}
		r.Cursor = page.Next
	}
}

// originals demands of every message what was appended, but for what was erased.
func (l *life) originals() {
	list := l.list(false)
	if len(list) != len(l.record) {
		l.t.Fatalf("%d messages are on record, %d were appended", len(list), len(l.record))
	}
	for _, e := range l.record {
		l.same(e, list[e.index].Message.Parts, "on record")
	}
}

func (l *life) same(e *entry, parts []conversation.Part, where string) {
	if len(parts) != len(e.message.Parts) {
		l.t.Fatalf("message %d has %d parts %s, not %d", e.index, len(parts), where, len(e.message.Parts))
	}
	for i := range parts {
		got, want := &parts[i], e.message.Parts[i]
		if e.erased[int32(i)] {
			want = blanked(want)
		}
		if flat(got) != flat(&want) {
			l.t.Fatalf("part %d of message %d is %s as\n%s\nand was appended as\n%s", i, e.index, where, flat(got), flat(&want))
		}
	}
}

// blanked is a part of which all contents were erased.
func blanked(p conversation.Part) conversation.Part {
	out := conversation.CloneParts([]conversation.Part{p})
	for _, c := range conversation.Contents(out) {
		if c.Inline != "" {
			*c = conversation.Content{Erased: &conversation.ErasedContent{Bytes: c.Bytes()}}
		}
	}
	return out[0]
}

// current compares the listing of the view with the model's.
func (l *life) current() {
	list := l.list(true)
	for _, e := range l.record {
		want, got := e.view(), list[e.index]
		if got == nil && len(want) == 0 {
			continue
		}
		if got == nil || len(got.Message.Parts) != len(want) {
			l.t.Fatalf("message %d is listed as %+v, the model shows %d parts", e.index, got, len(want))
		}
		for i := range want {
			if blockText(&got.Message.Parts[i]) != blockText(&want[i]) && !conversation.Erased(got.Message.Parts[i:i+1]) {
				l.t.Fatalf("part %d of message %d is listed as %s, the model shows %s", i, e.index, flat(&got.Message.Parts[i]), flat(&want[i]))
			}
		}
	}
}

// erasedMarks are the words that must occur nowhere any more: what was erased, but for what compaction left of it.
func (l *life) erasedMarks() map[string]bool {
	out, left := map[string]bool{}, map[string]bool{}
	for i := range l.edits { // the erasing build's, and later ones'
		for _, p := range l.edits[i].Parts {
			if e := l.record[l.edits[i].Range.First]; e.erased[p.Part] && l.edits[i].Seq > e.erasedAfter[p.Part] {
				for _, m := range marks.FindAllString(blockText(&p.Shown), -1) {
					left[m] = true
				}
			}
		}
	}
	for _, e := range l.record {
		for p := range e.erased {
			for _, m := range marks.FindAllString(blockText(&e.message.Parts[p]), -1) {
				out[m] = true
			}
		}
	}
	for m := range left {
		delete(out, m)
	}
	return out
}

// manifests demands every earlier build again, byte for byte, from a cold engine; but none that showed what was erased since.
func (l *life) manifests() {
	cold, gone := l.newEngine(0), l.erasedMarks()
	anything := slices.ContainsFunc(l.record, func(e *entry) bool { return len(e.erased) > 0 })
	for _, b := range l.builds {
		again, err := cold.Manifest(ctx, key, b.Manifest.Seq, conversation.FormatUnspecified)
		showed := ""
		for _, m := range marks.FindAllString(string(b.shown), -1) {
			if gone[m] {
				showed = m
			}
		}
		switch {
		case err == nil && showed != "":
			l.t.Fatalf("manifest %d rebuilds, and showed %s, which was erased", b.Manifest.Seq, showed)
		case conversation.KindOf(err) == conversation.ManifestNotRebuildable && anything:
			continue
		case err != nil:
			l.t.Fatalf("manifest %d: %v", b.Manifest.Seq, err)
		}
		text := slices.Concat(again.System, []byte{0}, again.MessagesJSON)
		if b.Manifest.Format == conversation.FormatNeutral {
			text = neutralJSON(again.Messages)
		}
		if again.SHA256 != b.Manifest.SHA256 || !bytes.Equal(text, b.shown) {
			l.t.Fatalf("manifest %d rebuilds to other bytes", b.Manifest.Seq)
		}
	}
}

// export is everything on record.
func (l *life) export() []engine.Record {
	var out []engine.Record
	if err := l.engine.Export(ctx, key, func(r engine.Record) error { out = append(out, r); return nil }); err != nil {
		l.t.Fatal(err)
	}
	return out
}

// forgotten looks for what was erased in everything that can be had.
func (l *life) forgotten() {
	gone := l.erasedMarks()
	if len(gone) == 0 {
		return
	}
	for _, r := range l.export() {
		l.hasNot(gone, "the export", r)
	}
	for _, m := range l.list(false) {
		l.hasNot(gone, "a message", m)
	}
	for _, m := range l.list(true) {
		l.hasNot(gone, "a message as it is shown", m)
	}
	for _, e := range l.record {
		if out, err := l.engine.Expand(ctx, engine.ExpandRequest{Key: key, Index: &e.index, ReturnOnly: true}); err == nil {
			l.hasNot(gone, "an expansion", out)
		}
	}
}

func (l *life) hasNot(gone map[string]bool, where string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, m := range marks.FindAllString(string(text), -1) {
		if gone[m] {
			l.t.Fatalf("%s, which was erased, stands in %s:\n%s", m, where, text)
		}
	}
}

// copied takes the conversation through an export and an import, which builds the same.
func (l *life) copied(f conversation.Format, budget int32) {
	records := l.export()
	other := engine.Key{Namespace: key.Namespace, Conversation: "copy"}
	_, err := l.engine.Import(ctx, other, func() (*engine.Record, error) {
		if len(records) == 0 {
			return nil, io.EOF
		}
		r := records[0]
		records = records[1:]
		return &r, nil
	})
	if err != nil {
		l.t.Fatalf("import: %v", err)
	}
	r := l.request(f, budget)
	r.DryRun = true
	original, err := l.engine.Build(ctx, r)
	r.Key = other
	again, againErr := l.engine.Build(ctx, r)
	if conversation.KindOf(err) != conversation.KindOf(againErr) {
		l.t.Fatalf("the original builds (%v), its copy (%v)", err, againErr)
	}
	if !l.summed && !bytes.Equal(written(original), written(again)) {
		l.t.Fatalf("the original builds\n%s\nits copy\n%s", written(original), written(again))
	}
}

// expand asks for something back.
func (l *life) expand(returnOnly bool) {
	e := l.record[rapid.IntRange(0, len(l.record)-1).Draw(l.t, "expanded")]
	r := engine.ExpandRequest{Key: key, Index: &e.index, ReturnOnly: returnOnly}
	if !returnOnly && rapid.Bool().Draw(l.t, "expanded with an id") {
		r.Request = engine.Request{RPC: "ExpandMessage", ID: fmt.Sprintf("x%d", len(l.edits))}
	}
	before := l.version()
	got, err := l.engine.Expand(ctx, r)
	if returnOnly {
		if l.version() != before {
			l.t.Fatalf("a look at message %d commits", e.index)
		}
		l.returned(e, got, err)
		return
	}
	l.t.Logf("expand %d: %v", e.index, err)
	if err != nil {
		l.notRestored(e, err)
		return
	}
	l.returned(e, got, nil)
	if r.Request.ID != "" {
		again, err := l.engine.Expand(ctx, r)
		if err != nil || !again.Duplicate || again.Revision != got.Revision {
			l.t.Fatalf("a retried expansion answers %+v (%v)", again, err)
		}
	}
	l.restored(e)
}

// returned demands the original, or that it was erased.
func (l *life) returned(e *entry, got *engine.ExpandResult, err error) {
	if conversation.KindOf(err) == conversation.OriginalErased && len(e.erased) > 0 {
		return
	}
	if err != nil {
		l.t.Fatalf("expand %d: %v", e.index, err)
	}
	l.same(e, got.Message.Message.Parts, "returned")
}

// restored takes in the edit that an expansion made.
func (l *life) restored(e *entry) {
	d := &decision{life: l, build: &build{BuildResult: &engine.BuildResult{}}}
	edits := d.news()
	own, u := d.unitOf(e), broughtBack(l.record, e)
	want := []conversation.Range{{First: own[0].index, End: own[len(own)-1].index + 1}}
	for _, e := range u[len(own):] {
		want = append(want, conversation.Range{First: e.index, End: e.index + 1})
	}
	if !slices.EqualFunc(edits, want, func(e conversation.Edit, r conversation.Range) bool {
		return e.Kind == conversation.EditRestore && e.Range == r && e.Turn == l.turn
	}) {
		l.t.Fatalf("an expansion of message %d makes the edits %+v, not of %+v", e.index, edits, want)
	}
	if l.ample && !slices.ContainsFunc(u, func(e *entry) bool { return !e.full() }) {
		l.t.Fatalf("an expansion of message %d, which is in view in full, makes an edit", e.index)
	}
	for i := range edits {
		fold(l.record, &edits[i])
		l.edits = append(l.edits, edits[i])
	}
}

// notRestored demands that a refusal is right.
func (l *life) notRestored(e *entry, err error) {
	u := broughtBack(l.record, e)
	erased := slices.ContainsFunc(u, func(e *entry) bool { return len(e.erased) > 0 })
	full := !slices.ContainsFunc(u, func(e *entry) bool { return !e.full() })
	switch kind := conversation.KindOf(err); {
	case kind == conversation.OriginalErased && erased:
	case kind == conversation.NotEdited && (full || len(l.builds) == 0):
	case kind == conversation.ExpansionTooLarge && !l.ample:
	default:
		l.t.Fatalf("an expansion of message %d (erased %t, in full %t) is refused: %v", e.index, erased, full, err)
	}
}

// neutralJSON is a neutral context as the judge reads it.
func neutralJSON(messages []provider.Message) []byte {
	type said struct {
		Role  string          `json:"role"`
		Parts []validate.Item `json:"parts"`
	}
	out := make([]said, len(messages))
	for i := range messages {
		out[i].Role = messages[i].Role.String()
		for j := range messages[i].Parts {
			out[i].Parts = append(out[i].Parts, item(&messages[i].Parts[j]))
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return text
}

// flat is everything that a part says, for comparison.
func flat(p *conversation.Part) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d/%+v|", p.Kind, p.Variant, p.Retention)
	for _, c := range conversation.Contents([]conversation.Part{*p}) {
		switch {
		case c.Erased != nil:
			fmt.Fprintf(&b, "erased %d bytes|", c.Erased.Bytes)
		default:
			fmt.Fprintf(&b, "%q|", c.Inline)
		}
	}
	switch p.Kind {
	case conversation.PartToolCall:
		fmt.Fprintf(&b, "%s %s", p.Call.CallID, p.Call.Name)
	case conversation.PartToolResult:
		fmt.Fprintf(&b, "%s %d %d", p.Result.CallID, p.Result.State, p.Result.Output)
	case conversation.PartMedia:
		fmt.Fprintf(&b, "%s %s", p.Media.MIMEType, p.Media.URI)
	}
	return b.String()
}
