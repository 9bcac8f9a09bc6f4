// Package deduplicate leaves out of results the lines that the view shows in another text already, and brings back what was left out where no
// view shows it any more (behaviour §21).
package deduplicate

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/dedup"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/copies"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// minRunChars is how many characters lines must have together to be named instead of shown.
const minRunChars = 40

// lineText is a text of lines that the view shows: a tool's result, or what an action gave back.
type lineText struct {
	unit   *conversation.Unit
	item   *conversation.Item
	shown  int      // position among the shown parts
	part   int32    // position in the message
	enters bool     // it is deduplicated if it can be
	hashes []uint64 // of its lines
	lines  []string // nil until they are compared
}

// LeaveOut makes an edit for each message that first enters the view with lines that stand in texts before it, at the conversation's own budget.
func LeaveOut(g *pass.Given, draft pass.Draft) (pass.Result, error) {
	p := &g.Settings.Policy
	if !g.Settings.Own || !conversation.ValueOr(p.Deduplication.On, false) {
		return pass.Result{}, nil
	}
	d := deduplication{g: g, draft: draft, policy: p}
	edits, err := d.edits()
	if err != nil {
		return pass.Result{}, err
	}
	return withEdits(g, draft, edits)
}

// Return makes the edits by which what the composition shows again comes back.
func Return(g *pass.Given, draft pass.Draft) (pass.Result, error) {
	return withEdits(g, draft, returns(draft.Composed, draft.View))
}

// withEdits makes edits, if there are any, and lays the view out behind them.
func withEdits(g *pass.Given, draft pass.Draft, edits []conversation.Edit) (pass.Result, error) {
	if len(edits) == 0 {
		return pass.Result{}, nil
	}
	s := g.Sketch(draft)
	for _, e := range edits {
		s.Add(e)
	}
	err := s.Recompose()
	return s.Result(), err
}

// deduplication is one view's, on its way.
type deduplication struct {
	g      *pass.Given
	draft  pass.Draft
	policy *conversation.Policy
	made   []conversation.Edit
	open   conversation.Edit // of the message at hand
}

func (d *deduplication) edits() ([]conversation.Edit, error) {
	texts := d.texts()
	if !slices.ContainsFunc(texts, func(t *lineText) bool { return t.enters }) {
		return nil, nil
	}
	kept, w := texts[:0], d.g.Loaded
	for _, t := range texts {
		var err error
		if t.hashes, err = w.Lines(t.item.Message, t.part); view.IgnoreMissing(err) != nil {
			return nil, err
		}
		if len(t.hashes) > 1 {
			kept = append(kept, t)
		}
	}
	if err := w.Extras.Incomplete(); err != nil {
		return nil, err
	}
	err := d.edit(kept, int(conversation.ValueOr(d.policy.Deduplication.MinLines, conversation.DefaultMinLines)))
	return d.made, err
}

// texts are all texts of lines that the view shows whole, or but for lines that they name, in its order.
func (d *deduplication) texts() []*lineText {
	var out []*lineText
	for i := range d.draft.Composed.Units {
		u := &d.draft.Composed.Units[i]
		if copies.IsCut(d.draft.Composed, i) {
			continue
		}
		for j := range u.Items {
			it := &u.Items[j]
			for k := range it.Parts {
				at := it.Position(k)
				if (it.Whole(k) || it.NamesCopies(at)) && isGivenBack(it.Message, &it.Message.Parts[at]) {
					t := &lineText{unit: u, item: it, shown: k, part: at}
					t.enters = d.enters(t)
					out = append(out, t)
				}
			}
		}
	}
	return out
}

// isGivenBack says whether a part is a tool's result or an action's, in one text that stays: what users, agents and plugins say is not.
func isGivenBack(m *conversation.Message, p *conversation.Part) bool {
	action := m.Role == conversation.RoleUser && (m.Type == conversation.TypeActionResult || m.Type == conversation.TypeSubAgentResult)
	text, one := p.OneText()
	return one && text.Bytes() >= minRunChars && (p.Kind == conversation.PartToolResult || action) &&
		p.Plugin == "" && p.Variant == conversation.BothVariants
}

// enters says whether a text is deduplicated if it can be: no build has shown it, and nobody asked for it as it is.
func (d *deduplication) enters(t *lineText) bool {
	m := t.item.Message
	if m.Index < d.g.Loaded.Head.Seen || d.g.Kept.Has(m.Index) || d.draft.View.CorrectedPart(m.Index, t.part) || !t.item.Whole(t.shown) {
		return false
	}
	r := m.Parts[t.part].Result
	if r == nil {
		return true
	}
	tool := t.unit.ToolOf(r)
	excluded := conversation.ValueOr(d.policy.Deduplication.ExcludedTools, nil)
	return r.Recalled == nil && !d.policy.RecallTools().Has(tool) && !slices.Contains(excluded, tool)
}

// edit makes the edits, in the order of the texts.
func (d *deduplication) edit(texts []*lineText, minLines int) error {
	index := dedup.NewIndex(minLines, entering(texts)...)
	for _, t := range texts {
		shown := []dedup.Span{{First: 0, End: len(t.hashes)}}
		weight := t.item.Parts[t.shown].Tokens
		if t.enters {
			p, err := d.deduplicate(t, texts, index)
			if err := view.IgnoreMissing(err); err != nil {
				return err
			}
			if len(p.Copies) > 0 {
				shown, weight = spansBeside(p.Copies, len(t.hashes)), p.Shown.Tokens
				d.add(t, &p)
			}
		} else if t.item.NamesCopies(t.part) {
			shown = spansBeside(copiesOf(t), len(t.hashes))
		}
		if t.item.Message.Index >= d.g.Loaded.Head.Seen && int64(weight) > d.g.Settings.Share { // it is clipped next
			shown = nil
		}
		index.Add(t.hashes, shown...)
	}
	if err := d.g.Loaded.Extras.Incomplete(); err != nil {
		return err
	}
	d.close()
	return nil
}

// entering are the lines of the texts that are deduplicated if they can be.
func entering(texts []*lineText) [][]uint64 {
	var out [][]uint64
	for _, t := range texts {
		if t.enters {
			out = append(out, t.hashes)
		}
	}
	return out
}

// add adds a part to the edit of its message, behind that of the message before.
func (d *deduplication) add(t *lineText, p *conversation.PartEdit) {
	index := t.item.Message.Index
	if d.open.Range.First != index {
		d.close()
	}
	e := &d.open
	if len(e.Parts) == 0 {
		*e = conversation.Edit{
			Kind: conversation.EditParts, Range: conversation.Range{First: index, End: index + 1}, Reason: conversation.ReasonDuplicateLines,
		}
	}
	e.Parts = append(e.Parts, *p)
	e.Before, e.After = e.Before+int64(t.item.Parts[t.shown].Tokens), e.After+int64(p.Shown.Tokens)
}

func (d *deduplication) close() {
	if len(d.open.Parts) > 0 {
		d.made = append(d.made, d.open)
	}
	d.open = conversation.Edit{}
}

// copiesOf are the copies that a text names already.
func copiesOf(t *lineText) []conversation.Copy {
	var out []conversation.Copy
	for _, c := range t.item.Copies {
		if c.Of == t.part {
			out = append(out, c.Copy)
		}
	}
	return out
}

// spansBeside are the lines of a text beside those that are named. What an import says of lines that the text has not is passed over.
func spansBeside(copies []conversation.Copy, lines int) []dedup.Span {
	var out []dedup.Span
	at := 0
	for _, c := range copies {
		if first, end := int(c.First), int(c.End); at <= first && first < end && end <= lines {
			out, at = append(out, dedup.Span{First: at, End: first}), end
		}
	}
	return append(out, dedup.Span{First: at, End: lines})
}
