package memory

import (
	"errors"
	"time"
)

// The errors of the contract. A target wraps them, and nothing else: their texts hold no names, texts or secrets.
var (
	// ErrUnavailable: the target did nothing, and may later: it is away, overloaded, or asks to wait.
	ErrUnavailable = errors.New("memory: unavailable")
	// ErrOutcomeUnknown: the answer to a change was lost.
	ErrOutcomeUnknown = errors.New("memory: the outcome is unknown")
	// ErrRefused: the target will never take this: too large, or malformed.
	ErrRefused = errors.New("memory: refused")
	// ErrDenied: the credential is not accepted, or what the target is configured with is not there.
	ErrDenied = errors.New("memory: denied")
	// ErrNotFound: there is nothing under this name.
	ErrNotFound = errors.New("memory: not found")
)

// UnavailableError is ErrUnavailable with the time that the target asks to wait.
type UnavailableError struct {
	After time.Duration // 0 where it does not say
	Cause string        // the kind of failure, such as "429", in words that hold nothing of the request
}

// Error implements error.
func (e *UnavailableError) Error() string {
	if e.Cause == "" {
		return ErrUnavailable.Error()
	}
	return ErrUnavailable.Error() + ": " + e.Cause
}

// Is says that it is ErrUnavailable.
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }
