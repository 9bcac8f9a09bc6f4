package pass

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Asked is what a window keeps before its start of what the user asked for (behaviour §1): the request in force, and the opening, if it is
// kept. Each is a message, or -1 for none.
type Asked struct{ Request, Opening int32 }

// FindAsked finds both in a view. What its caller expired, removed or erased is neither.
func FindAsked(g *Given, v *conversation.View) (Asked, error) {
	a := Asked{Request: -1, Opening: -1}
	var err error
	if a.Request, err = requestFrom(g, v, g.Loaded.Head.Request); err != nil {
		return a, err
	}
	if !conversation.ValueOr(g.Settings.Policy.Fit.KeepOpening, true) || g.Loaded.Head.Opening < 0 {
		return a, nil
	}
	if m, err := g.Message(g.Loaded.Head.Opening); err != nil {
		return a, err
	} else if standsWhole(v, m) {
		a.Opening = m.Index
	}
	return a, nil
}

// requestFrom is the newest message, from one on that has a user's own words, in which these stand whole; -1 if there is none.
func requestFrom(g *Given, v *conversation.View, at int32) (int32, error) {
	for at >= 0 {
		m, err := g.Message(at)
		switch {
		case err != nil:
			return -1, err
		case standsWhole(v, m):
			return at, nil
		case m.RequestBack == 0:
			return -1, nil
		}
		at -= m.RequestBack
	}
	return -1, nil
}

// standsWhole says whether a view shows the user's words in a message as they were appended, but for bytes, whether or not a summary stands
// for it too.
func standsWhole(v *conversation.View, m *conversation.Message) bool {
	it, ok := v.Beside(m)
	return ok && (it.Level == conversation.Full || it.Reason == conversation.ReasonBytesReplaced) && !conversation.Erased(m.Parts)
}

// IsEarlier says whether a message is a window's request and neither the request in force nor the opening, which have shares of their own.
func (a Asked) IsEarlier(request int32) bool { return request != a.Request && request != a.Opening }

// Complete is a window with what it keeps before its start: the opening, and the request in force unless another keeps its place until the
// start moves.
func (a Asked) Complete(g *Given, v *conversation.View, win conversation.Window) conversation.Window {
	win.Opening = -1
	if 0 <= a.Opening && a.Opening < win.Start && a.Opening >= g.Kept.LeadingSystem {
		win.Opening = a.Opening
	}
	if win.Request >= 0 {
		if m, ok := g.Loaded.Message(win.Request); !ok || !standsWhole(v, m) {
			win.Request = -1
		}
	}
	if win.Request < 0 && a.Request < win.Start {
		win.Request = a.Request
	}
	win.Cuts = slices.DeleteFunc(slices.Clone(win.Cuts), func(c conversation.Cut) bool { // what was brought back since is whole again
		edit, _, restored := v.Restored(c.Message)
		return c.Summary == 0 && restored && edit > win.Restored
	})
	return win
}
