package summarize

import (
	"math"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// How long failures are cached: a build that meets one need not ask again, and a minute later a model may have recovered.
const (
	failureTTL = time.Minute
	refusalTTL = 5 * time.Second // for requests that a limit refused
)

// resultOverhead is the memory of a result besides its text, in bytes: a rough, conservative measurement.
const resultOverhead = 512

// results is an LRU cache of finished requests, bounded in bytes. Its zero value stores nothing.
type results struct {
	bound, bytes int
	kept         *simplelru.LRU[key, finished]
}

type finished struct {
	result Result
	until  time.Time // zero: for as long as there is room
	bytes  int
}

func newResults(bound int) results {
	// It is bounded by bytes, not by number; an error would mean that the number is not positive.
	kept, _ := simplelru.NewLRU[key, finished](math.MaxInt, nil)
	return results{bound: bound, kept: kept}
}

func (r *results) get(k key, now time.Time) (Result, bool) {
	if r.kept == nil {
		return Result{}, false
	}
	f, ok := r.kept.Get(k)
	if ok && !f.until.IsZero() && !now.Before(f.until) {
		r.remove(k, f)
		return Result{}, false
	}
	return f.result, ok
}

func (r *results) put(k key, result Result, until time.Time) {
	f := finished{result: result, until: until}
	f.bytes = resultOverhead + len(result.Text) + len(result.Model) + len(k.content.scope.Namespace) + len(k.content.scope.Conversation)
	if old, ok := r.kept.Peek(k); ok {
		r.remove(k, old)
	}
	if f.bytes > r.bound {
		return
	}
	r.kept.Add(k, f)
	r.bytes += f.bytes
	for r.bytes > r.bound {
		_, oldest, _ := r.kept.RemoveOldest()
		r.bytes -= oldest.bytes
	}
}

func (r *results) remove(k key, f finished) {
	r.kept.Remove(k)
	r.bytes -= f.bytes
}

// drop scans all keys: there are some ten thousand at most, and erasures are rare.
func (r *results) drop(gone func(key) bool) {
	if r.kept == nil {
		return
	}
	for _, k := range r.kept.Keys() {
		if gone(k) {
			f, _ := r.kept.Peek(k)
			r.remove(k, f)
		}
	}
}
