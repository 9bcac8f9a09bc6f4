package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/copies"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// addEdit takes an edit into the build.
func (d *Attempt) addEdit(e conversation.Edit) {
	e.Seq, e.Turn, e.Time = d.Loaded.Head.EditSeq+int64(len(d.Edits))+1, d.Turn, d.Now
	d.Edits = append(d.Edits, e)
	if d.View != d.extendable { // others may hold it: the window, or a state to come back to
		d.extendable = d.View.Fold(nil)
		d.View = d.extendable
	}
	d.View.Extend(&e)
}

// addEdits takes edits into the build and lays the view out behind them, if there are any.
func (d *Attempt) addEdits(edits []conversation.Edit) error {
	for _, e := range edits {
		d.addEdit(e)
	}
	if len(edits) == 0 {
		return nil
	}
	return d.recompose()
}

// Compose lays a view out for a window, with what comes back there (behaviour §21): no line names a copy that is not shown. What comes back
// shows more than it did, so that nothing else comes back by that.
func (d *Attempt) Compose(v *conversation.View, win conversation.Window) (*view.Composition, error) {
	out, err := d.Composer.Compose(v, win)
	if err != nil {
		return nil, err
	}
	back := copies.Missing(out)
	if len(back) == 0 {
		return out, nil
	}
	return d.Composer.Compose(v.WithReturned(back), win)
}

// recompose lays the view out as it is by now.
func (d *Attempt) recompose() error { return d.layOut(d.Composed.Window) }

// moveWindow lays the view out for another window.
func (d *Attempt) moveWindow(win conversation.Window) error {
	if win.Equal(&d.Composed.Window) {
		return nil
	}
	return d.layOut(win)
}

func (d *Attempt) layOut(win conversation.Window) error {
	out, err := d.Compose(d.View, win)
	if err == nil {
		d.Composed = out
	}
	return err
}

// setWeight counts a text that a part shows.
func (d *Attempt) setWeight(p *conversation.Part, text string) {
	n, estimated := d.Settings.Counter.Count(text)
	p.Tokens, p.Estimated = int32(n), estimated
}

// leaveOutCopies leaves out of results what stands in the view already when they first enter one at the conversation's own budget.
func (d *Attempt) leaveOutCopies() error {
	p := &d.Settings.Policy
	if !d.Settings.Own || !conversation.ValueOr(p.Deduplication.On, false) {
		return nil
	}
	edits, err := copies.LeaveOut(&copies.Input{
		Composed: d.Composed, View: d.View, Loaded: d.Loaded, Kept: d.Kept, Policy: p, Counter: d.Settings.Counter, Share: d.Settings.Share,
	})
	if err != nil {
		return err
	}
	return d.addEdits(edits)
}

// returnCopies makes the edits by which what the composition shows again comes back.
func (d *Attempt) returnCopies() error { return d.addEdits(copies.Returns(d.Composed, d.View)) }
