package view

import (
	"context"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestLoader_RunPlan_DropsWhatWasNeverCommitted: a plan that runs again may make another edit with the number of an earlier one, and
// another message may get the index of one that was never recorded.
func TestLoader_RunPlan_DropsWhatWasNeverCommitted(t *testing.T) {
	w := New(store.Key{}, &store.Snapshot{Head: store.Head{EditSeq: 7, Messages: 5}, Info: &store.Info{}})
	r := &unitCache{Units: map[unitKey]provider.UnitBlocks{{first: 1, edit: 7}: {}, {first: 2, edit: 8}: {}, {first: 3, last: 4}: {}, {first: 3, last: 5}: {}}}
	w.unitCaches[renderKey{format: conversation.FormatNeutral}] = r
	err := (&Loader{}).RunPlan(context.Background(), w, func() error { return ErrMissing })
	if conversation.KindOf(err) != conversation.Internal { // and not run again for ever
		t.Errorf("a plan that does not name what is missing: %v", err)
	}
	for _, never := range []unitKey{{first: 2, edit: 8}, {first: 3, last: 5}} {
		if _, stale := r.Units[never]; stale || len(r.Units) != 2 {
			t.Errorf("%d units are left, %+v among them: %t", len(r.Units), never, stale)
		}
	}
}

// TestKeyOf_SummariesOfARange_AreToldApart: a range may be summarized again, and a unit of the same messages is not a summary of them.
func TestKeyOf_SummariesOfARange_AreToldApart(t *testing.T) {
	summary := func(seq int64) *conversation.Unit {
		e := conversation.Edit{Seq: seq, Range: conversation.Range{First: 3, End: 4}, Kind: conversation.EditSummarize, Summary: &conversation.Summary{ID: seq}}
		return &conversation.Unit{Summary: &e}
	}
	message := &conversation.Unit{Items: []conversation.Item{{Message: &conversation.Message{Index: 3}, EditSeq: 7}}}
	keys := map[unitKey]bool{}
	for _, u := range []*conversation.Unit{summary(7), summary(8), message, summary(7)} {
		keys[keyOf(u, provider.UnitContext{})] = true
	}
	if len(keys) != 3 {
		t.Errorf("%d keys of three units: %v", len(keys), keys)
	}
}

// TestIsSevered_ModelsTurn_WithoutWhatCameBefore: the reasoning that an item belongs to may be in a unit of its own.
func TestIsSevered_ModelsTurn_WithoutWhatCameBefore(t *testing.T) {
	unit := func(index int32, role conversation.Role) conversation.Unit {
		return conversation.Unit{Items: []conversation.Item{{Message: &conversation.Message{Index: index, Role: role}}}}
	}
	summary := conversation.Unit{Summary: &conversation.Edit{Range: conversation.Range{First: 1, End: 4}, Summary: &conversation.Summary{}}}
	hide := func(first, end int32) conversation.Edit {
		return conversation.Edit{Kind: conversation.EditHide, Range: conversation.Range{First: first, End: end}}
	}
	const model, user = conversation.RoleAssistant, conversation.RoleUser
	for name, c := range map[string]struct {
		units []conversation.Unit
		want  bool // of the last
		out   Composition
	}{
		"first of all":         {units: []conversation.Unit{unit(0, model)}},
		"first of a view":      {units: []conversation.Unit{unit(4, model)}, want: true},
		"the user's":           {units: []conversation.Unit{unit(4, user)}},
		"behind its own":       {units: []conversation.Unit{unit(3, model), unit(4, model)}},
		"behind a gap":         {units: []conversation.Unit{unit(0, user), unit(4, model)}, want: true},
		"behind a summary":     {units: []conversation.Unit{summary, unit(4, model)}, want: true},
		"a summary":            {units: []conversation.Unit{summary}},
		"behind a rewind":      {units: []conversation.Unit{unit(0, user), unit(4, model)}, out: Composition{Hidden: []conversation.Edit{hide(1, 4)}}},
		"behind half a rewind": {units: []conversation.Unit{unit(0, user), unit(4, model)}, want: true, out: Composition{Hidden: []conversation.Edit{hide(2, 4)}}},
		"behind what the caller removed": {
			units: []conversation.Unit{unit(2, user), unit(4, model)},
			out:   Composition{TakenOut: []conversation.Edit{hide(3, 4)}},
		},
	} {
		if c.out.Units = c.units; c.out.isSevered(len(c.units)-1) != c.want {
			t.Errorf("%s: not %t", name, c.want)
		}
	}
}
