package memories

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// TestWorker_At_WhileItRuns_IsKept: what becomes due while a conversation is being looked at does not wait for the sweeper.
func TestWorker_At_WhileItRuns_IsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, began := store.Key{Namespace: "n", Conversation: "c"}, time.Now()
		var ran []time.Duration
		var w *worker
		w = newWorker(1, time.Now, func(context.Context, store.Key) (time.Time, verdict) {
			ran = append(ran, time.Since(began))
			if len(ran) == 1 {
				w.at(key, time.Now().Add(2*time.Second))
			}
			return time.Time{}, verdict{reached: true}
		})
		defer w.close()
		w.at(key, began)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(ran) != 2 || ran[1] != 2*time.Second {
			t.Errorf("it ran after %v", ran)
		}
	})
}
