package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const littleMemory = 256 << 20

func TestAdmission_LargeRequests_WaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(littleMemory)
		first, err := a.announced(t.Context(), MaxReceiveBytes)
		if err != nil {
			t.Fatal(err)
		}
		small, err := a.announced(t.Context(), 100)
		if err == nil {
			small, err = a.counted(t.Context(), small, 100, 10)
		}
		if err != nil {
			t.Fatalf("a small request waits for a large one: %v", err)
		}
		small.release()

		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		begin := time.Now()
		_, err = a.announced(ctx, MaxReceiveBytes)
		if conversation.KindOf(err) != conversation.Overloaded || time.Since(begin) != 2*time.Second {
			t.Errorf("the second ends with %v after %s", err, time.Since(begin))
		}
		begin = time.Now()
		if _, err = a.announced(t.Context(), MaxReceiveBytes); conversation.KindOf(err) != conversation.Overloaded || time.Since(begin) != maxAdmissionWait {
			t.Errorf("one without a deadline ends with %v after %s", err, time.Since(begin))
		}
		if _, err = a.announced(ctx, MaxReceiveBytes); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one whose deadline has passed: %v", err)
		}
		time.AfterFunc(time.Second, first.release)
		next, err := a.announced(t.Context(), MaxReceiveBytes)
		if err != nil {
			t.Fatalf("nobody is before it: %v", err)
		}
		next.release()
		a.reclaim.Stop()
	})
}

func TestAdmission_Counted_KeepsWhatItTakes(t *testing.T) {
	a := New(littleMemory)
	defer a.reclaim.Stop()
	var held []*grant
	for range 8 { // 1 MiB of one text each: what was granted for the worst is given back, or two would be too many
		g, err := a.announced(t.Context(), 1<<20)
		if err == nil {
			g, err = a.counted(t.Context(), g, 1<<20, 3)
		}
		if err != nil {
			t.Fatalf("%d are held: %v", len(held), err)
		}
		held = append(held, g)
	}
	for _, g := range held {
		g.release()
		g.release() // the second does nothing
	}
	if !a.requests.large.TryAcquire(a.requests.large.size) {
		t.Error("something is still held")
	}
}

func TestAdmission_FewBytesOfManyElements_AreLarge(t *testing.T) {
	a := New(littleMemory)
	defer a.reclaim.Stop()
	g, err := a.announced(t.Context(), SmallMessageBytes)
	if err == nil {
		g, err = a.counted(t.Context(), g, SmallMessageBytes, SmallMessageBytes/2)
	}
	if err != nil || g.lane != a.requests.large {
		t.Errorf("%v, %v", g, err)
	}
	g.release()
}

func TestAdmission_Search_AsManyAsProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(0)
		var last func()
		for a.searches.TryAcquire(1) {
			last = func() { a.searches.Release(1) }
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.Search(ctx); conversation.KindOf(err) != conversation.Overloaded {
			t.Errorf("one more: %v", err)
		}
		last()
		if _, err := a.Search(ctx); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
}
