package contents

import (
	"testing"
	"time"
)

// TestCache_Put_KeepsItsBound: what is kept counts twice, and one thing alone may take the whole bound.
func TestCache_Put_KeepsItsBound(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := newCache(100, func() time.Time { return now })
	at := func(n int64) cacheKey { return cacheKey{kind: documentKind, number: n} }
	put := func(n, bytes int64) { l.ready.Put(at(n), bytes, bytes) }
	kept := func() (out int64) {
		for n := range int64(20) {
			bytes, _ := cached[int64](l, at(n))
			out += bytes
		}
		return out
	}
	for n := range int64(10) {
		if put(n, 10); l.Stats().Bytes != 2*kept() || 2*kept() > 100 {
			t.Fatalf("%d bytes are counted, %d kept", l.Stats().Bytes, kept())
		}
	}
	if _, oldest := cached[int64](l, at(4)); oldest || kept() != 50 {
		t.Errorf("%d bytes are kept, the sixth newest: %t", kept(), oldest)
	}
	if put(5, 20); kept() != 50 || l.Stats().Bytes != 100 { // in place of what was there
		t.Errorf("%d bytes are counted, %d kept", l.Stats().Bytes, kept())
	}
	if put(11, 101); kept() != 50 {
		t.Error("what is larger than the bound drives out what is not")
	}
	if put(12, 100); kept() != 100 {
		t.Errorf("%d bytes are kept, not the one thing that takes the bound", kept())
	}
	now = now.Add(idleAfter)
	if freed := l.DropIdle(); freed != 100 || kept() != 0 || l.Stats().Bytes != 0 {
		t.Errorf("%d bytes are freed, %d kept", freed, kept())
	}
}
