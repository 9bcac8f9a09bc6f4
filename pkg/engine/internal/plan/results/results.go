// Package results shortens the tool results that a view shows.
package results

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// Target is a tool result that may be clipped.
type Target struct {
	Index, Part int32
	Weight      int64 // as shown, in tokens
	Limit       int64 // to clip it to
}

// Of lists the tool results that units show.
func Of(units []conversation.Unit) []Target {
	var out []Target
	for it := range conversation.Items(units) {
		for k := range it.Parts {
			if it.Parts[k].Kind == conversation.PartToolResult {
				out = append(out, Target{Index: it.Message.Index, Part: it.Position(k), Weight: int64(it.Parts[k].Tokens)})
			}
		}
	}
	return out
}

// Clip clips results to their limits in a sketch, one edit a message, and lays the view out again.
func Clip(s *pass.Sketch, targets []Target, reason conversation.Reason) error {
	made, w := len(s.Edits), s.Given.Loaded
	for at := 0; at < len(targets); {
		end := at + 1
		for end < len(targets) && targets[end].Index == targets[at].Index {
			end++
		}
		e, err := ClipMessage(s.Given, s.Erased, targets[at:end], reason)
		if err = view.IgnoreMissing(err); err != nil {
			return err
		}
		if len(e.Parts) > 0 {
			s.Add(e)
		}
		at = end
	}
	if err := w.Extras.Incomplete(); err != nil {
		return err
	}
	if len(s.Edits) == made {
		return nil
	}
	return s.Recompose()
}

// ClipMessage is the edit that clips results of one message; it has no parts if none of them becomes shorter.
func ClipMessage(g *pass.Given, erased *erasures.Erasures, targets []Target, reason conversation.Reason) (conversation.Edit, error) {
	index := targets[0].Index
	e := conversation.Edit{Kind: conversation.EditParts, Range: conversation.Range{First: index, End: index + 1}, Reason: reason}
	m, ok := g.Loaded.Message(index)
	if !ok {
		return e, conversation.Errorf(conversation.Internal, "message %d is not loaded", index)
	}
	for _, t := range targets {
		if erased.IsErased(m, t.Part) { // there is no original to show more or less of
			continue
		}
		// A stronger edit is always computed from the original.
		whole, err := g.Loaded.Extras.Inline(m.Parts[t.Part : t.Part+1])
		if err := view.IgnoreMissing(err); err != nil {
			return e, err
		}
		if g.Loaded.Extras.Incomplete() != nil {
			continue
		}
		shown, ok := compaction.Clip(whole[0], index, t.Limit, g.Settings.Counter)
		if !ok || int64(shown.Tokens) >= t.Weight {
			continue
		}
		e.Before += t.Weight
		e.After += int64(shown.Tokens)
		e.Parts = append(e.Parts, conversation.PartEdit{Part: t.Part, Level: conversation.Shortened, Shown: shown})
	}
	return e, g.Loaded.Extras.Incomplete()
}
