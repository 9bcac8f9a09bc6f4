package summarize

import (
	"time"

	"github.com/palimpsest-context/palimpsest/internal/bytecache"
)

// How long failures are cached: a build that meets one need not ask again, and a minute later a model may have recovered.
const (
	failureTTL = time.Minute
	refusalTTL = 5 * time.Second // for requests that a limit refused
)

// resultOverhead is the memory of a result besides its text, in bytes: a rough, conservative measurement.
const resultOverhead = 512

// results is a cache of finished requests, bounded in bytes. Its zero value stores nothing.
type results struct {
	kept *bytecache.Cache[key, finished]
}

type finished struct {
	result Result
	until  time.Time // zero: for as long as there is room
}

func newResults(bound int, clock func() time.Time) results {
	return results{kept: bytecache.New[key, finished](int64(bound), 1, clock)}
}

func (r *results) get(k key, now time.Time) (Result, bool) {
	f, ok := r.kept.Get(k)
	if ok && !f.until.IsZero() && !now.Before(f.until) {
		r.kept.Drop(k)
		return Result{}, false
	}
	return f.result, ok
}

func (r *results) put(k key, result Result, until time.Time) {
	size := resultOverhead + len(result.Text) + len(result.Model) + len(k.content.scope.Namespace) + len(k.content.scope.Conversation)
	r.kept.Put(k, finished{result: result, until: until}, int64(size))
}

// drop scans all keys: there are some ten thousand at most, and erasures are rare.
func (r *results) drop(gone func(key) bool) { r.kept.DropIf(gone) }
