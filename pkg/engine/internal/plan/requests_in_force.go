package plan

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// findRequests finds the request in force and the opening (behaviour §1). What its caller expired, removed or erased is neither.
func (d windowing) findRequests() error {
	var err error
	if d.request, err = d.requestFrom(d.Loaded.Head.Request); err != nil {
		return err
	}
	d.opening = -1
	if keep := d.Settings.Policy.Fit.KeepOpening; keep != nil && !*keep || d.Loaded.Head.Opening < 0 {
		return nil
	}
	if m, err := d.message(d.Loaded.Head.Opening); err != nil {
		return err
	} else if d.standsWhole(m) {
		d.opening = m.Index
	}
	return nil
}

// requestFrom is the newest message, from one on that has a user's own words, in which these stand whole; -1 if there is none.
func (d windowing) requestFrom(at int32) (int32, error) {
	for at >= 0 {
		m, err := d.message(at)
		switch {
		case err != nil:
			return -1, err
		case d.standsWhole(m):
			return at, nil
		case m.RequestBack == 0:
			return -1, nil
		}
		at -= m.RequestBack
	}
	return -1, nil
}

// message is a message of the window.
func (d *Attempt) message(index int32) (*conversation.Message, error) {
	if m, ok := d.Loaded.Message(index); ok {
		return m, nil
	}
	if err := d.Loaded.Require(conversation.Range{First: index, End: index + 1}); err != nil {
		return nil, err
	}
	m, ok := d.Loaded.Message(index)
	if !ok {
		return nil, conversation.Errorf(conversation.Internal, "message %d is not loaded", index)
	}
	return m, nil
}

// standsWhole says whether the user's words stand in a message as they were appended, but for bytes, whether or not a summary stands for it too.
func (d windowing) standsWhole(m *conversation.Message) bool {
	it, ok := d.View.Beside(m)
	return ok && (it.Level == conversation.Full || it.Reason == conversation.ReasonBytesReplaced) && !conversation.Erased(m.Parts)
}

// CompleteWindow completes a window by what it keeps before its start: the opening, and the request in force unless another keeps its place
// until the start moves.
func (d *Attempt) CompleteWindow(win conversation.Window) conversation.Window {
	win.Opening = -1
	if 0 <= d.opening && d.opening < win.Start && d.opening >= d.Kept.LeadingSystem {
		win.Opening = d.opening
	}
	if win.Request >= 0 {
		if m, ok := d.Loaded.Message(win.Request); !ok || !d.windowing().standsWhole(m) {
			win.Request = -1
		}
	}
	if win.Request < 0 && d.request < win.Start {
		win.Request = d.request
	}
	win.Cuts = slices.DeleteFunc(slices.Clone(win.Cuts), func(c conversation.Cut) bool { // what was brought back since is whole again
		edit, _, restored := d.View.Restored(c.Message)
		return c.Summary == 0 && restored && edit > win.Restored
	})
	return win
}

// startingAt is the window in force with its start moved: what it kept before it is found anew, and nothing is cut.
func (d windowing) startingAt(start int32) conversation.Window {
	win := d.Composed.Window
	win.Start, win.Request, win.Cuts = start, -1, nil
	return d.CompleteWindow(win)
}
