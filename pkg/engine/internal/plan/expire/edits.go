package expire

import (
	"crypto/sha256"
	"slices"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
)

// applyExpiration makes the edits for something that is due, and erases what goes with it.
func (d *expiring) applyExpiration(x *expiry.Due) error {
	if x.Kind == expiry.Remove {
		return d.removeUnit(x)
	}
	return d.compact(x)
}

// removeUnit takes a unit out of the view, one edit for messages that expire by it and one for those that go with them.
func (d *expiring) removeUnit(x *expiry.Due) error {
	for i := range x.Unit.Items {
		it := &x.Unit.Items[i]
		e := conversation.Edit{
			Kind: conversation.EditRemove, Range: conversation.Range{First: it.Message.Index, End: it.Message.Index + 1},
			Reason: conversation.ReasonUnitExpired, Before: it.Tokens(),
			Erases: slices.ContainsFunc(x.Erase, func(p expiry.Place) bool { return p.Index == it.Message.Index }),
		}
		if x.Fresh[it.Message.Index] {
			e.Reason = conversation.ReasonExpired
		}
		if rest := allButKept(d.View, it); rest != nil {
			e.Kind, e.Reason, e.Parts = conversation.EditParts, conversation.ReasonExpired, rest
		}
		d.Add(e)
		if e.Kind == conversation.EditParts {
			left, _ := d.View.Beside(it.Message)
			d.Last().After = left.Tokens()
		}
	}
	for _, p := range x.Erase { // a summary may exist of a text that is removed now
		o, err := original(d.Given, &expiry.Due{Unit: x.Unit, Index: p.Index, Part: p.Part})
		if err := view.IgnoreMissing(err); err != nil {
			return err
		}
		if o != nil {
			d.Erased.Hashes = append(d.Erased.Hashes, sha256.Sum256([]byte(o.text)))
		}
	}
	d.eraseDue(x)
	return d.Given.Loaded.Extras.Incomplete()
}

// allButKept replaces, by nothing, all parts of a message but the additions that are kept for the last messages and are still in their
// time: these live by their number alone (behaviour §6). What stands in another unit stays too. It is nil if there are none.
func allButKept(v *conversation.View, it *conversation.Item) []conversation.PartEdit {
	var rest []conversation.PartEdit
	m := it.Message
	for i := range m.Parts {
		p := int32(i)
		if !it.Holds(p) {
			continue
		}
		if m.Parts[i].Retention.Kind != conversation.RetentionKeepLast || v.Masked(m.Index, p) {
			rest = append(rest, conversation.PartEdit{Part: p, Level: conversation.Cleared})
		}
	}
	if len(rest) == len(m.Parts) {
		return nil
	}
	return rest
}

func (d *expiring) eraseDue(x *expiry.Due) {
	for _, p := range x.Erase {
		positions := []int32{p.Part}
		if m, ok := d.Given.Loaded.Message(p.Index); ok && p.Part == expiry.MessageText {
			positions = expiry.TextParts(m)
		}
		d.Erased.Erase(p.Index, positions)
	}
}

// compact replaces a tool result, or a message's words, by something shorter. Without anything shorter it stays as it is: what
// is compacted to what it is already need not be erased.
func (d *expiring) compact(x *expiry.Due) error {
	o, err := original(d.Given, x)
	if err != nil {
		return err
	}
	shown, reason := d.shorterForm(x, o)
	if shown == nil {
		return nil
	}
	e := conversation.Edit{
		Kind: conversation.EditParts, Range: conversation.Range{First: x.Index, End: x.Index + 1},
		Parts: shown, Reason: reason, Before: x.Tokens(), After: weightOf(shown), Erases: x.Erases(),
	}
	d.Add(e)
	if o.Erased { // what is short enough to stay as it is beside its media stays on record too
		d.Erased.Erase(x.Index, positionsIn(shown))
		d.Erased.Hashes = append(d.Erased.Hashes, sha256.Sum256([]byte(o.text)))
	}
	return nil
}

func positionsIn(parts []conversation.PartEdit) []int32 {
	out := make([]int32, len(parts))
	for i := range parts {
		out[i] = parts[i].Part
	}
	return out
}

func weightOf(parts []conversation.PartEdit) int64 {
	n := int64(0)
	for i := range parts {
		n += int64(parts[i].Shown.Tokens)
	}
	return n
}

// originalText is what is due, in full and inline.
type originalText struct {
	compaction.Original
	positions []int32
	parts     []conversation.Part // at the positions
	text      string
}

func original(g *pass.Given, x *expiry.Due) (*originalText, error) {
	m := x.Message()
	o := &originalText{positions: x.Positions()}
	for _, p := range o.positions {
		o.parts = append(o.parts, m.Parts[p])
	}
	var err error
	if o.parts, err = g.Loaded.Extras.Inline(o.parts); err != nil {
		return nil, err
	}
	o.text = compaction.PartsText(o.parts)
	o.Original = compaction.Original{Recall: x.Recall(), Chars: utf8.RuneCountInString(o.text), Erased: len(x.Erase) > 0}
	return o, nil
}

// shorterForm finds the first form of a text that weighs less than what the view shows; what is erased has to give way in any case.
// It is nil if there is none, or if it has to wait.
func (d *expiring) shorterForm(x *expiry.Due, o *originalText) ([]conversation.PartEdit, conversation.Reason) {
	if x.Kind == expiry.Clear || clearedBefore(d.View, x, o) {
		return replacement(d.Given, o, compaction.Cleared(kindName(x), o.Original), conversation.Cleared), conversation.ReasonExpired
	}
	for _, f := range d.forms(x, o) {
		shown := replacement(d.Given, o, f.text, conversation.Shortened)
		if weightOf(shown) < x.Tokens() || x.Erases() {
			d.Notes.Degradations = append(d.Notes.Degradations, f.degraded...)
			return shown, f.reason
		}
	}
	return nil, 0
}

// clearedBefore says whether what is to be erased is behind a placeholder already, which names the original.
func clearedBefore(v *conversation.View, x *expiry.Due, o *originalText) bool {
	level, _ := v.Part(x.Index, o.positions[0])
	return level == conversation.Cleared
}

func kindName(x *expiry.Due) string {
	if x.Part == expiry.MessageText {
		return "text"
	}
	return "tool result"
}

// replacement is how the view shows a text in the place of the original: a result with that text, or words of which the first part
// holds it and the others nothing. Media become one line each.
func replacement(g *pass.Given, o *originalText, text string, level conversation.Level) []conversation.PartEdit {
	out := make([]conversation.PartEdit, 0, len(o.parts))
	placed := text == ""
	for i := range o.parts {
		e := conversation.PartEdit{Part: o.positions[i], Level: level}
		switch p := &o.parts[i]; {
		case p.Kind == conversation.PartToolResult:
			e.Shown = compaction.WithText(p.Result, text)
			g.SetWeight(&e.Shown, text)
		case p.Kind == conversation.PartMedia && level == conversation.Shortened:
			e.Shown = view.TextPart(p.Media.Line())
			g.SetWeight(&e.Shown, p.Media.Line())
		case !placed:
			e.Shown, placed = view.TextPart(text), true
			g.SetWeight(&e.Shown, text)
		case text == "": // it is short enough as it is
			continue
		}
		out = append(out, e)
	}
	return out
}
