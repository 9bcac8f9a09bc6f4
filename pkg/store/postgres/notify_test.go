package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
)

// TestTeller_Burst_HoldsUpNobody: more commits at once than one payload holds. What does not fit is told next.
func TestTeller_Burst_HoldsUpNobody(t *testing.T) {
	t.Parallel()
	o := Options{DSN: dbtest.SharedPostgres(t).DSN, Schema: schemaOf(t.Name()), Notify: true}
	s, err := Open(t.Context(), o)
	must(t, err)
	ended := make(chan error, 1)
	go func() {
		for n := range 3 * tellMost {
			s.teller.tell(keyOf(n))
		}
		k := newTalk(0)
		for range 3 {
			if err := k.append(context.Background(), s); err != nil {
				ended <- err
				return
			}
			time.Sleep(2 * gather)
		}
		for s.teller.left() > 0 {
			time.Sleep(gather)
		}
		ended <- s.Close()
	}()
	select {
	case err := <-ended:
		must(t, err)
	case <-time.After(5*time.Second + testlane.Beside):
		t.Fatal("commits, what is told of them, or Close hang")
	}
}

// left is how many commits are still to be told of.
func (t *teller) left() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending)
}
