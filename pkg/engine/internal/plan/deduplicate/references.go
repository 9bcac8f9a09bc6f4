package deduplicate

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/dedup"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// deduplicate is what is shown of a text in place of lines that stand before them; it names no copies if it is not worth it. Those that the
// index has are the first of texts.
func (d *deduplication) deduplicate(t *lineText, texts []*lineText, index *dedup.Index) (conversation.PartEdit, error) {
	edit := conversation.PartEdit{Part: t.part, Level: conversation.Shortened}
	if err := d.read(t); err != nil {
		return edit, err
	}
	var references []string
	runs := index.Find(t.hashes, func(r dedup.Run) bool {
		of := t
		if r.Copy != dedup.Own {
			of = texts[r.Copy]
		}
		reference, ok := d.reference(t, of, &r)
		if ok {
			references = append(references, reference)
		}
		return ok
	})
	if err := d.g.Loaded.Extras.Incomplete(); err != nil || len(runs) == 0 {
		return edit, err
	}
	var out []string
	at := 0
	for i, r := range runs {
		out, at = append(append(out, t.lines[at:r.First]...), references[i]), r.End
	}
	text := strings.Join(append(out, t.lines[at:]...), "\n")
	if edit.Shown = view.TextPart(text); t.item.Message.Parts[t.part].Result != nil {
		edit.Shown = compaction.WithText(t.item.Message.Parts[t.part].Result, text)
	}
	n, estimated := d.g.Settings.Counter.Count(text)
	edit.Shown.Tokens, edit.Shown.Estimated = int32(n), estimated
	if int32(n) >= t.item.Parts[t.shown].Tokens || int64(n) > d.g.Settings.Share {
		return edit, nil
	}
	for _, r := range runs {
		of := t
		if r.Copy != dedup.Own {
			of = texts[r.Copy]
		}
		edit.Copies = append(edit.Copies, copyOf(&r, of))
	}
	return edit, nil
}

func copyOf(r *dedup.Run, of *lineText) conversation.Copy {
	return conversation.Copy{First: int32(r.First), End: int32(r.End), Message: of.item.Message.Index, Part: of.part, At: int32(r.At)}
}

// reference is the line that stands for a run; false if it is not worth it, or the lines are not the same.
func (d *deduplication) reference(t, of *lineText, r *dedup.Run) (string, bool) {
	if err := d.read(of); err != nil {
		return "", false
	}
	run := t.lines[r.First:r.End]
	if !slices.Equal(run, of.lines[r.At:r.At+len(run)]) {
		return "", false
	}
	text := strings.Join(run, "\n")
	if len(text) < minRunChars {
		return "", false
	}
	m := t.item.Message
	recall := conversation.ExpandCall(m.Index)
	if result := m.Parts[t.part].Result; result != nil {
		recall = result.Recall(m.Index)
	}
	c := copyOf(r, of)
	line := dedup.Reference(&c, len(of.item.Message.Parts) > 1, run[0], recall)
	n, _ := d.g.Settings.Counter.Count(line)
	weight, _ := d.g.Settings.Counter.Count(text)
	return line, n < weight
}

// read reads the lines of a text.
func (d *deduplication) read(t *lineText) error {
	if t.lines != nil {
		return nil
	}
	text, _ := t.item.Message.Parts[t.part].OneText()
	texts, err := d.g.Loaded.Extras.Texts(text)
	if err == nil {
		t.lines = strings.Split(texts[0], "\n")
	}
	return err
}
