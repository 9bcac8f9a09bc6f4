package bolt

import (
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// guarded runs what bbolt reads pages for, and makes an error of its panic. Open has looked at every page, but a disk can go bad
// later: bbolt then panics, or follows a number to where no memory is.
func guarded(run func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &broken{fmt.Errorf("%w: a page is damaged: %v; %s", store.ErrCorrupt, p, wayOut)}
		}
	}()
	return run()
}

// broken is what guarded makes of a panic.
type broken struct{ error }

// Unwrap gives the cause.
func (b *broken) Unwrap() error { return b.error }

// giveUp is for a commit that bbolt panicked in: it wrote nothing, but what it holds in memory is in doubt. Nothing is written any
// more until somebody has looked at the file.
func (s *Store) giveUp(err error) {
	s.outage = outage{reason: fmt.Errorf("%w: %w", store.ErrUnavailable, err), again: time.Unix(math.MaxInt32, 0)}
	s.options.OnState(s.outage.reason)
}
