package expire

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestExpired_Write_ListIsBounded: no more is listed than an import takes.
func TestExpired_Write_ListIsBounded(t *testing.T) {
	for _, wanted := range []int{1, drafts.MaxRequested, drafts.MaxRequested + 5} {
		w := view.New(store.Key{}, &store.Snapshot{Info: &store.Info{}})
		g := &pass.Given{Composer: &view.Composer{Loaded: w}, Turn: 3}
		e := Expired{Ran: true}
		for i := range wanted {
			e.Upcoming = append(e.Upcoming, expiry.Due{Index: int32(i)})
		}
		c := &store.Change{Slots: map[string][]byte{}}
		e.Write(g, c)
		list, err := drafts.ParseRequested(c.Slots[drafts.RequestedSlot])
		if err != nil || len(list) != min(wanted, drafts.MaxRequested) || list[0].Turn != 3 {
			t.Errorf("of %d, %d are listed: %v", wanted, len(list), err)
		}
	}
}
