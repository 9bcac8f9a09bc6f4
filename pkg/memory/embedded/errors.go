package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// contractError says in the words of package memory what failed. What the store says of it stays inside: it may quote names.
func contractError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ofContract(err):
		return err
	case errors.Is(err, store.ErrOutcomeUnknown):
		return memory.ErrOutcomeUnknown
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, ctx.Err())
	case errors.Is(err, store.ErrFull):
		return &memory.UnavailableError{Cause: "the store is full"}
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, errDamaged):
		return &memory.UnavailableError{Cause: "the index is damaged"}
	case errors.Is(err, errMoved):
		return &memory.UnavailableError{Cause: "others changed the scope at the same time"}
	default:
		return &memory.UnavailableError{Cause: "the store failed"}
	}
}

// ofContract says whether an error is one of package memory already.
func ofContract(err error) bool {
	known := []error{memory.ErrUnavailable, memory.ErrOutcomeUnknown, memory.ErrRefused, memory.ErrDenied, memory.ErrNotFound}
	return slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) })
}

var (
	errDamaged = errors.New("embedded: a slot of the index cannot be read")
	errPanic   = errors.New("embedded: reading texts panicked")
	errMoved   = errors.New("embedded: the scope moved each time")
)

func refused(why string) error { return fmt.Errorf("%w: %s", memory.ErrRefused, why) }
