package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/copies"
)

// leaveOutCopies leaves out of results what stands in the view already when they first enter one at the conversation's own budget.
func (d *Attempt) leaveOutCopies() error {
	p := &d.Settings.policy
	if !d.Settings.own || !conversation.ValueOr(p.Deduplication.On, false) {
		return nil
	}
	edits, err := copies.LeaveOut(&copies.Input{
		Composed: d.Composed, View: d.View, Loaded: d.Loaded, Kept: d.Kept, Policy: p, Counter: d.Settings.Counter, Share: d.Settings.share,
	})
	if err != nil {
		return err
	}
	return d.addEdits(edits)
}

// returnCopies makes the edits by which what the composition shows again comes back.
func (d *Attempt) returnCopies() error { return d.addEdits(copies.Returns(d.Composed, d.View)) }
