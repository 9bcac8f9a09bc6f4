package bytecache

import (
	"testing"
	"time"
)

// TestCache_Put_OldestLeavesFirst: what is used stays, the bound counts each byte by its factor, and what is larger than the bound is not kept.
func TestCache_Put_OldestLeavesFirst(t *testing.T) {
	t.Parallel()
	c := New[string, int](100, 2, time.Now)
	c.Put("a", 1, 20)
	c.Put("b", 2, 20)
	c.Get("a")
	c.Put("c", 3, 20)
	for key, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, ok := c.Get(key); ok != want {
			t.Errorf("%s is kept: %t", key, ok)
		}
	}
	if got, want := c.Stats(), (Stats{Bytes: 80, MaxBytes: 100, Hits: 3, Misses: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if c.Put("a", 4, 101); c.Stats().Bytes != 40 {
		t.Errorf("%+v", c.Stats())
	}
	if _, ok := c.Get("a"); ok {
		t.Error("a stale value is kept where the new one is too large")
	}
}

// TestCache_DropIdle_FreesWhatWasNotUsed.
func TestCache_DropIdle_FreesWhatWasNotUsed(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	c := New[string, int](100, 1, func() time.Time { return now })
	c.Put("a", 1, 10)
	c.Put("b", 2, 20)
	now = now.Add(time.Minute)
	c.Get("a")
	if freed := c.DropIdle(time.Second); freed != 20 {
		t.Errorf("%d bytes are freed", freed)
	}
	if v, ok := c.Take("a", func(int) bool { return false }); ok || v != 0 {
		t.Error("it is taken by whom may not have it")
	}
	if _, ok := c.Take("a", func(int) bool { return true }); !ok || c.Stats().Bytes != 0 {
		t.Errorf("%+v", c.Stats())
	}
	var none *Cache[string, int]
	if _, ok := none.Get("a"); ok || none.Stats() != (Stats{}) {
		t.Error("no cache keeps something")
	}
}
