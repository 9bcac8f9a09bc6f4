package plan

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestLifetimes_WriteRequested_ListIsBounded: no more is listed than an import takes.
func TestLifetimes_WriteRequested_ListIsBounded(t *testing.T) {
	for _, wanted := range []int{1, drafts.MaxRequested, drafts.MaxRequested + 5} {
		w := view.New(store.Key{}, &store.Snapshot{Info: &store.Info{}})
		d := &Attempt{Composer: &view.Composer{Loaded: w}, expiryRan: true, Turn: 3}
		for i := range wanted {
			d.upcoming = append(d.upcoming, expiry.Due{Index: int32(i)})
		}
		c := &store.Change{Slots: map[string][]byte{}}
		d.lifetimes().writeRequested(c)
		list, err := drafts.ParseRequested(c.Slots[drafts.RequestedSlot])
		if err != nil || len(list) != min(wanted, drafts.MaxRequested) || list[0].Turn != 3 {
			t.Errorf("of %d, %d are listed: %v", wanted, len(list), err)
		}
	}
}
