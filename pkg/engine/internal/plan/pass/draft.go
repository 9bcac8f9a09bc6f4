package pass

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// Draft is what a build would show and commit, as of one point of its plan. It is a value: With makes the next one.
type Draft struct {
	View     *conversation.View // with the edits of this build
	Composed *view.Composition  // the view laid out and written
	Asked    Asked
	Edits    []conversation.Edit
	Erased   *erasures.Erasures
	Notes    Notes
}

// Notes are what a build says beside its context.
type Notes struct {
	Degradations []conversation.Degradation
	Deferred     []conversation.Decision // what is due, and waits
	Events       []conversation.Event    // what was tried without success
}

// Result is what a pass adds to the draft. A nil pointer leaves what the draft has.
type Result struct {
	View     *conversation.View
	Composed *view.Composition
	Asked    *Asked
	Edits    []conversation.Edit // which the pass makes
	Erased   *erasures.Erasures
	Notes    Notes
	Wants    *Wants // the plan stops, and begins anew once this is there
}

// With is the draft with the result of a pass. The driver alone calls it.
func (d Draft) With(r *Result) Draft {
	if r.View != nil {
		d.View = r.View
	}
	if r.Composed != nil {
		d.Composed = r.Composed
	}
	if r.Asked != nil {
		d.Asked = *r.Asked
	}
	if r.Erased != nil {
		d.Erased = r.Erased
	}
	d.Edits = append(slices.Clip(d.Edits), r.Edits...)
	d.Notes = d.Notes.with(&r.Notes)
	return d
}

// Len is how many notes there are.
func (n Notes) Len() int { return len(n.Degradations) + len(n.Deferred) + len(n.Events) }

func (n Notes) with(more *Notes) Notes {
	return Notes{
		Degradations: append(slices.Clip(n.Degradations), more.Degradations...),
		Deferred:     append(slices.Clip(n.Deferred), more.Deferred...),
		Events:       append(slices.Clip(n.Events), more.Events...),
	}
}

// Summarizes says whether edits summarize: what is added to a summary of the same build is not worth a wait.
func Summarizes(edits []conversation.Edit) bool {
	return slices.ContainsFunc(edits, func(e conversation.Edit) bool { return e.Kind == conversation.EditSummarize })
}
