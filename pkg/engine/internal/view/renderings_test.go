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
