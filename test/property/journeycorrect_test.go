package property

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// correct gives a part of some message other words, and demands that it may, and that nothing but the record knows the old ones.
func (j *journey) correct() {
	e := j.record[rapid.IntRange(0, len(j.record)-1).Draw(j.t, "corrected")]
	part := int32(rapid.IntRange(0, max(0, len(e.message.Parts)-1)).Draw(j.t, "corrected part"))
	to := engine.CorrectedPart{Part: part, Text: j.g.mark() + strings.Repeat(" anew", rapid.SampledFrom([]int{0, 3, 40, 400, 8000}).Draw(j.t, "of length"))}
	r := engine.CorrectRequest{Key: j.key, Index: &e.index, Parts: []engine.CorrectedPart{to}, Request: j.request("CorrectMessage")}
	j.listen()
	before, standing, could := j.head(), j.standing(), j.correctable(e, part)
	var got *engine.CorrectResult
	err := j.insist(func() (err error) { got, err = j.engine.Correct(ctx, r); return err })
	j.t.Logf("correct part %d of message %d: %v", part, e.index, err)
	if err != nil {
		if kind := conversation.KindOf(err); could || kind != conversation.NotCorrectable && kind != conversation.InvalidField || j.head().Version != before.Version {
			j.t.Fatalf("a correction of part %d of message %d (could be: %t) answers %v", part, e.index, could, err)
		}
		return
	}
	old := blockText(&e.message.Parts[part])
	made := j.take()
	if !could || len(made) != 1 || made[0].Kind != conversation.EditCorrect || got.Revision != before.Revision+1 || j.head().Revision != got.Revision {
		j.t.Fatalf("a correction of part %d of message %d (could be: %t) makes %+v, revision %d after %d", part, e.index, could, made, got.Revision, before.Revision)
	}
	for _, m := range marks.FindAllString(old, -1) {
		j.wrong[m] = e.index
	}
	if now := blockText(&e.message.Parts[part]); now != to.Text {
		j.t.Fatalf("part %d of message %d says %q after a correction to %q", part, e.index, now, to.Text)
	}
	var gone []int64
	for _, s := range standing {
		if !slices.ContainsFunc(j.standing(), func(o *conversation.Edit) bool { return o.Seq == s.Seq }) {
			gone = append(gone, s.Summary.ID)
		}
	}
	if !got.Duplicate && !slices.Equal(got.Dissolved, gone) {
		j.t.Fatalf("a correction of message %d dissolves %v, not %v", e.index, got.Dissolved, gone)
	}
	j.forgotten(flatAll(got.Message.Message.Parts))
	j.onRecord(e)
	clear(j.court.last)
}

// correctable says whether a part is a text, or a result that is one, with words, of which no citation ever was made.
func (j *journey) correctable(e *entry, part int32) bool {
	if e.hidden || int(part) >= len(e.message.Parts) {
		return false
	}
	p := &e.message.Parts[part]
	text := p.Kind == conversation.PartText || p.Kind == conversation.PartToolResult && p.Result.Output != conversation.OutputParts
	return text && strings.TrimSpace(blockText(p)) != "" && !slices.ContainsFunc(j.edits, func(ed conversation.Edit) bool {
		return ed.Reason == conversation.ReasonOverCitationThreshold && ed.Range.First == e.index && ed.Parts[0].Part == part
	})
}

// correct folds a correction into the model: the part has the new words and is shown in full. A message's words are shown as one.
func (e *entry) correct(ed *conversation.Edit) {
	if e.original == nil {
		e.original = conversation.CloneParts(e.message.Parts)
	}
	e.message.Parts = conversation.CloneParts(e.message.Parts)
	for _, c := range ed.Parts {
		p := &e.message.Parts[c.Part]
		delete(e.shown, c.Part)
		if p.Kind == conversation.PartToolResult {
			p.Result.Output, p.Result.Text = c.Shown.Result.Output, c.Shown.Result.Text
			continue
		}
		p.Text = c.Shown.Text
		for i := range e.shown {
			if e.message.Parts[i].Kind != conversation.PartToolResult {
				delete(e.shown, i)
			}
		}
	}
}

// forgotten demands of something that a model may see that it has no words which were corrected.
func (j *journey) forgotten(text string) {
	for _, m := range marks.FindAllString(text, -1) {
		if index, ok := j.wrong[m]; ok {
			j.t.Fatalf("%s, of message %d, was corrected, and is told again:\n%s", m, index, text)
		}
	}
}

// unsaid demands that nobody finds, or is told, what was corrected.
func (j *journey) unsaid() {
	for m := range j.wrong {
		got, err := j.engine.SearchMessages(ctx, engine.SearchMessagesRequest{
			Key: j.key, Query: m, Range: conversation.Range{End: -1}, Limit: 100, SnippetChars: 1000, Hidden: true,
		})
		if err != nil {
			j.t.Fatal(err)
		}
		for _, h := range got.Hits {
			j.forgotten(h.Snippet)
		}
	}
	got, err := j.engine.Messages(ctx, engine.MessagesRequest{
		Key: j.key, Range: conversation.Range{End: -1}, Current: true, Limit: 1000, MaxBytes: 1 << 30, Size: func(*engine.MessageInView) int { return 1 },
	})
	if err != nil {
		j.t.Fatal(err)
	}
	for i := range got.Messages {
		j.forgotten(flatAll(got.Messages[i].Message.Parts))
	}
	for _, s := range got.Summaries {
		j.forgotten(s.Text)
	}
	for _, e := range j.record {
		j.onRecord(e)
	}
}

// onRecord demands a message as it was appended.
func (j *journey) onRecord(e *entry) {
	got, err := j.engine.Message(ctx, j.key, e.index)
	if want := e.original; err != nil || want != nil && flatAll(got.Message.Parts) != flatAll(want) {
		j.t.Fatalf("message %d is on record as %v (%v), not\n%s", e.index, got, err, flatAll(want))
	}
}
