package view

import (
	"context"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestLoader_RunPlan_DropsWhatWasNeverCommitted: a plan that runs again may make another edit under the number of one that it made before,
// and another message may get the index of one that was never put on record.
func TestLoader_RunPlan_DropsWhatWasNeverCommitted(t *testing.T) {
	w := New(store.Key{}, &store.Snapshot{Head: store.Head{EditSeq: 7, Messages: 5}, Info: &store.Info{}})
	r := &rendering{Units: map[unitKey]provider.UnitBlocks{{first: 1, edit: 7}: {}, {first: 2, edit: 8}: {}, {first: 3, last: 4}: {}, {first: 3, last: 5}: {}}}
	w.renderings[renderKey{format: conversation.FormatNeutral}] = r
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

// TestKeyOf_SummariesOfARange_AreToldApart: a range may be summarized again, and a unit of the same messages is no summary of them.
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
