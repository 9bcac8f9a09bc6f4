package admission

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestInFlight_Enter_HoldsEachNamespaceByItself: one namespace's requests take none of another's room, room comes back with the answer, and
// a new limit takes effect at once.
func TestInFlight_Enter_HoldsEachNamespaceByItself(t *testing.T) {
	limits := map[string]int64{"a": 2, "b": 1}
	f := NewInFlight(func(namespace string) int64 { return limits[namespace] })
	enter := func(namespace string, want bool) func() {
		t.Helper()
		leave, err := f.Enter(namespace)
		if (err == nil) != want {
			t.Errorf("a request of %s: %v", namespace, err)
		}
		var e *conversation.Error
		if err != nil && (!errors.As(err, &e) || e.Kind != conversation.QuotaExceeded || e.Quota.Limit != RequestsLimit || e.Quota.RetryAfter != RetryAfter) {
			t.Errorf("the refusal is %+v", e)
		}
		return leave
	}
	enter("a", true)
	leave := enter("a", true)
	refused := enter("a", false)
	enter("b", true)
	enter("b", false)
	for range 10 {
		enter("unlimited", true)
	}
	refused() // gives nothing back
	enter("a", false)
	leave()
	enter("a", true)
	limits["a"] = 3
	enter("a", true)
	limits["a"] = 1
	enter("a", false)
	use := f.Use()
	slices.SortFunc(use, func(a, b RequestUse) int { return strings.Compare(a.Namespace, b.Namespace) })
	if want := []RequestUse{{"a", 3, 1}, {"b", 1, 1}}; !slices.Equal(use, want) {
		t.Errorf("in flight: %v, want %v", use, want)
	}
}

// TestInFlight_Enter_AtOnce: the limit is exact, and who has left is forgotten.
func TestInFlight_Enter_AtOnce(t *testing.T) {
	f := NewInFlight(func(string) int64 { return 5 })
	var now, over, entered atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range 200 {
				leave, err := f.Enter("n")
				if err != nil {
					continue
				}
				entered.Add(1)
				if n := now.Add(1); n > 5 {
					over.Store(n)
				}
				now.Add(-1)
				leave()
			}
		})
	}
	all.Wait()
	if over.Load() > 0 || entered.Load() == 0 || len(f.requests.open) > 0 {
		t.Errorf("%d entered, %d at once, left are %v", entered.Load(), over.Load(), f.requests.open)
	}
}
