package bolt

import (
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// guarded runs a function in which bbolt reads pages, and turns its panic into an error. Open has looked at every page, but a disk
// can go bad later. Then bbolt panics, or follows a number to an address without memory.
func guarded(run func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &brokenPageError{fmt.Errorf("%w: a page is damaged: %v; %s", store.ErrCorrupt, p, remedy)}
		}
	}()
	return run()
}

// brokenPageError is the error that guarded makes from a panic.
type brokenPageError struct{ error }

// Unwrap returns the cause.
func (b *brokenPageError) Unwrap() error { return b.error }

// giveUp is called after a commit in which bbolt panicked. The commit wrote nothing, but what bbolt holds in memory is in doubt.
// The store writes nothing more until somebody has looked at the file.
func (s *Store) giveUp(err error) {
	s.outage = outage{reason: fmt.Errorf("%w: %w", store.ErrUnavailable, err), again: time.Unix(math.MaxInt32, 0)}
	s.options.OnState(s.outage.reason)
}
