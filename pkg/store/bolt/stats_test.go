package bolt

import (
	"sync"
	"testing"
	"time"
)

// commits collects what a store tells of its commits.
type commits struct {
	mu      sync.Mutex
	changes []int
	took    time.Duration
}

func (c *commits) add(changes int, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes, c.took = append(c.changes, changes), c.took+took
}

func TestStore_Stats_FileAndRoom(t *testing.T) {
	seen := &commits{}
	f := openFlaky(t, Options{MaxSize: 1 << 30, Statistics: true, OnCommit: seen.add})
	for i := range int32(3) {
		f.mustAppend(t, 1, i)
	}
	got := f.Stats()
	if got.MaxBytes != 1<<30 || got.FileBytes < 4*4096 || got.FreeBytes < 2*4096 || got.FreeBytes >= got.FileBytes || got.Queued != 0 || got.DiskFreeBytes == 0 {
		t.Errorf("the store says %+v", got)
	}
	if err := f.Close(); err != nil { // and with it the writer, who tells
		t.Fatal(err)
	}
	if len(seen.changes) != 3 || seen.changes[0] != 1 || seen.took <= 0 {
		t.Errorf("three appends were told as %v, %v", seen.changes, seen.took)
	}
}

// TestStore_Stats_CommitThatHangs_IsBusy: whoever looks must not hang with it.
func TestStore_Stats_CommitThatHangs_IsBusy(t *testing.T) {
	f := openFlaky(t, Options{})
	if busy := f.Stats().Busy; busy != 0 {
		t.Errorf("a store that rests is busy for %v", busy)
	}
	reached, release := make(chan struct{}), make(chan struct{})
	f.failOnce(func(commit func() error) error {
		close(reached)
		<-release
		return commit()
	})
	done := make(chan error, 2)
	go func() { done <- f.append(t, 1, 0) }()
	<-reached
	go func() { done <- f.append(t, 2, 0) }()
	for f.Stats().Queued == 0 {
		time.Sleep(time.Millisecond)
	}
	if f.Stats().Busy == 0 {
		t.Error("a commit that hangs is not told")
	}
	close(release)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestStore_Stats_Closed_StillAnswers(t *testing.T) {
	f := openFlaky(t, Options{Statistics: true})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := f.Stats(); got.FreeBytes != 0 || got.FileBytes == 0 {
		t.Errorf("a closed store says %+v", got)
	}
}
