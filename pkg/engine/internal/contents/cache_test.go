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
	kept := func() (out int64) {
		for n := range int64(20) {
			if s, ok := l.get(at(n)); ok {
				out += s.bytes
			}
		}
		return out
	}
	for n := range int64(10) {
		if l.put(at(n), cacheEntry{bytes: 10}); l.bytes != kept() || 2*l.bytes > 100 {
			t.Fatalf("%d bytes are counted, %d kept", l.bytes, kept())
		}
	}
	if _, oldest := l.get(at(4)); oldest || kept() != 50 {
		t.Errorf("%d bytes are kept, the sixth newest: %t", kept(), oldest)
	}
	if l.put(at(5), cacheEntry{bytes: 20}); kept() != 50 || l.bytes != 50 { // in place of what was there
		t.Errorf("%d bytes are counted, %d kept", l.bytes, kept())
	}
	if l.put(at(11), cacheEntry{bytes: 101}); kept() != 50 {
		t.Error("what is larger than the bound drives out what is not")
	}
	if l.put(at(12), cacheEntry{bytes: 100}); kept() != 100 {
		t.Errorf("%d bytes are kept, not the one thing that takes the bound", kept())
	}
	now = now.Add(idleAfter)
	if freed := l.DropIdle(); freed != 100 || kept() != 0 || l.bytes != 0 {
		t.Errorf("%d bytes are freed, %d kept", freed, kept())
	}
}
