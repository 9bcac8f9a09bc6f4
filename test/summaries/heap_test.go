package summaries

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// maxGrowth is what a build's process may take for an answer of any length, in bytes.
const maxGrowth = 64 << 20

// TestBuild_HugeAnswer_TakesLittleMemory: of a body of 100 MB no more is read than an answer can be long. It runs beside no
// other test, so that what it measures is its own.
func TestBuild_HugeAnswer_TakesLittleMemory(t *testing.T) {
	w := served(t, faults["100 MB"])
	runtime.GC()
	before := heap()
	highest, stop := before, make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				highest = max(highest, heap())
			}
		}
	})
	if late := faulty(t, w, 300*time.Millisecond); late != "" {
		t.Error(late)
	}
	close(stop)
	watching.Wait()
	t.Logf("the heap grew by %d MiB at most", (highest-before)>>20)
	if highest-before > maxGrowth {
		t.Errorf("the heap grew by %d MiB for an answer of 100 MB", (highest-before)>>20)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
