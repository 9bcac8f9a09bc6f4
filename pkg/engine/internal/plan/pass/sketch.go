package pass

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Sketch is a pass at work on a draft of its own: what it adds is seen by what it does next. The draft that it began with stays as it is.
type Sketch struct {
	Given *Given
	Draft
	before int  // edits of the draft that it began with
	own    bool // nobody else holds the view
}

// Sketch begins the work of a pass.
func (g *Given) Sketch(d Draft) *Sketch {
	s := &Sketch{Given: g, Draft: d, before: len(d.Edits)}
	s.Edits, s.Notes = slices.Clip(d.Edits), Notes{}
	return s
}

// Add makes an edit.
func (s *Sketch) Add(e conversation.Edit) {
	e.Seq, e.Turn, e.Time = s.Given.Loaded.Head.EditSeq+int64(len(s.Edits))+1, s.Given.Turn, s.Given.Now
	s.Edits = append(s.Edits, e)
	if !s.own {
		s.View, s.own = s.View.Fold(nil), true
	}
	s.View.Extend(&e)
}

// Last is the edit that was made last.
func (s *Sketch) Last() *conversation.Edit { return &s.Edits[len(s.Edits)-1] }

// OverLimit is by how much the sketch exceeds the budget, in tokens before the factor.
func (s *Sketch) OverLimit() int64 { return s.Given.OverLimit(s.Composed) }

// Weight is what the sketch weighs with what is always sent, in tokens before the factor.
func (s *Sketch) Weight() int64 { return s.Given.Weight(s.Composed) }

// Recompose lays the view out as it is by now.
func (s *Sketch) Recompose() error { return s.LayOut(s.Composed.Window) }

// MoveWindow lays the view out for another window.
func (s *Sketch) MoveWindow(win conversation.Window) error {
	if win.Equal(&s.Composed.Window) {
		return nil
	}
	return s.LayOut(win)
}

// LayOut lays the view out for a window.
func (s *Sketch) LayOut(win conversation.Window) error {
	out, err := s.Given.Compose(s.View, win)
	if err == nil {
		s.Composed = out
	}
	return err
}

// StartingAt is the window in force with its start moved: what it keeps before that is found anew, and nothing is cut.
func (s *Sketch) StartingAt(start int32) conversation.Window {
	win := s.Composed.Window
	win.Start, win.Request, win.Cuts = start, -1, nil
	return s.Asked.Complete(s.Given, s.View, win)
}

// Keep is the sketch as it is, to go back to.
func (s *Sketch) Keep() Draft {
	s.own, s.Edits = false, slices.Clip(s.Edits)
	return s.Draft
}

// GoBack undoes what was made since, but for the notes, and returns the edits that it undoes.
func (s *Sketch) GoBack(to Draft) (undone []conversation.Edit) {
	undone, to.Notes = s.Edits[len(to.Edits):], s.Notes
	s.Draft, s.own = to, false
	return undone
}

// Result is what the pass gives back.
func (s *Sketch) Result() Result {
	return Result{View: s.View, Composed: s.Composed, Asked: &s.Asked, Edits: s.Edits[s.before:], Erased: s.Erased, Notes: s.Notes}
}
