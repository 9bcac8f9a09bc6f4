package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// clipOverShare clips single tool results that are over their share of the budget when they first enter a view, as they were
// appended or as they were corrected.
func (d fitting) clipOverShare() error {
	var large []clipTarget
	for _, t := range d.results(d.Composed.Units) {
		if (t.index >= d.Loaded.Head.Seen || d.View.CorrectedPart(t.index, t.part)) && t.weight > d.Settings.Share {
			t.limit = d.Settings.Share
			large = append(large, t)
		}
	}
	return d.clip(large, conversation.ReasonResultOverShare)
}

// clipTarget is a tool result that may be clipped.
type clipTarget struct {
	index, part int32
	weight      int64 // as shown
	limit       int64 // to clip it to
}

// results lists the tool results that units show.
func (d fitting) results(units []conversation.Unit) []clipTarget {
	var out []clipTarget
	for it := range conversation.Items(units) {
		for k := range it.Parts {
			if it.Parts[k].Kind == conversation.PartToolResult {
				out = append(out, clipTarget{index: it.Message.Index, part: it.Position(k), weight: int64(it.Parts[k].Tokens)})
			}
		}
	}
	return out
}

// clip clips results, one edit a message, and writes the view again.
func (d fitting) clip(targets []clipTarget, reason conversation.Reason) error {
	made := len(d.Edits)
	for at := 0; at < len(targets); {
		end := at + 1
		for end < len(targets) && targets[end].index == targets[at].index {
			end++
		}
		e, err := d.clipMessage(targets[at:end], reason)
		if err = d.Loaded.IgnoreMissing(err); err != nil {
			return err
		}
		if len(e.Parts) > 0 {
			d.addEdit(e)
		}
		at = end
	}
	if err := d.Loaded.Incomplete(); err != nil {
		return err
	}
	if len(d.Edits) == made {
		return nil
	}
	return d.recompose()
}

func (d fitting) clipMessage(targets []clipTarget, reason conversation.Reason) (conversation.Edit, error) {
	index := targets[0].index
	e := conversation.Edit{Kind: conversation.EditParts, Range: conversation.Range{First: index, End: index + 1}, Reason: reason}
	m, ok := d.Loaded.Message(index)
	if !ok {
		return e, conversation.Errorf(conversation.Internal, "message %d is not loaded", index)
	}
	for _, t := range targets {
		if d.Erased.IsErased(m, t.part) { // there is no original to show more or less of
			continue
		}
		// A stronger edit is always computed from the original.
		whole, err := d.Loaded.Inline(m.Parts[t.part : t.part+1])
		if err := d.Loaded.IgnoreMissing(err); err != nil {
			return e, err
		}
		if d.Loaded.Incomplete() != nil {
			continue
		}
		shown, ok := compaction.Clip(whole[0], index, t.limit, d.Settings.Counter)
		if !ok || int64(shown.Tokens) >= t.weight {
			continue
		}
		e.Before += t.weight
		e.After += int64(shown.Tokens)
		e.Parts = append(e.Parts, conversation.PartEdit{Part: t.part, Level: conversation.Shortened, Shown: shown})
	}
	return e, d.Loaded.Incomplete()
}
