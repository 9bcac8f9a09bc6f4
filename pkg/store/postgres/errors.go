package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// ErrSchema says that the tables are not those of this program. Its message says what to do.
var ErrSchema = errors.New("postgres: the schema does not fit this program")

// ErrNoStore says that the schema, which the message names, has no tables although it must (Options.MustExist).
var ErrNoStore = errors.New("postgres: there is no store")

// Codes of the server's errors. The first is set by the seal's trigger (migrations).
const (
	codeSealed       = "PL001"
	codeUnique       = "23505"
	codeReadOnly     = "25006"
	codeSerialize    = "40001"
	codeDeadlock     = "40P01"
	codeDiskFull     = "53100"
	codeNoTable      = "42P01"
	codeNoSchema     = "3F000"
	classConnection  = "08"
	classResources   = "53"
	classOperator    = "57"
	classSystem      = "58"
	classLogin       = "28"
	classNoDatabase  = "3D"
	severityOfAnswer = "ERROR"
)

// answer returns the error with which the server refused a statement. It is nil if the connection failed or ended with the error:
// then it is not known how far the statement came. The driver's text is never part of an error, because it may hold values, names and
// addresses.
func answer(err error) *pgconn.PgError {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return nil
	}
	severity := cmp.Or(e.SeverityUnlocalized, e.Severity)
	if severity != severityOfAnswer || class(e) == classConnection || e.Code[:min(3, len(e.Code))] == "57P" {
		return nil
	}
	return e
}

func class(e *pgconn.PgError) string { return e.Code[:min(2, len(e.Code))] }

// errAgain marks an error after which nothing was done, because of another transaction or because nothing reached the server. The
// call may be tried again at once.
var errAgain = errors.New("nothing was done")

func refused(e *pgconn.PgError) error {
	switch {
	case e.Code == codeSealed:
		return store.ErrSealed
	case e.Code == codeUnique:
		return fmt.Errorf("%w: another one was first", store.ErrConflict)
	case e.Code == codeDiskFull:
		return store.ErrFull
	case e.Code == codeSerialize, e.Code == codeDeadlock:
		return fmt.Errorf("%w: %w: the server answered %s", store.ErrUnavailable, errAgain, e.Code)
	case unavailable(e):
		return fmt.Errorf("%w: the server answered %s", store.ErrUnavailable, e.Code)
	default:
		return fmt.Errorf("postgres: the server answered %s", e.Code)
	}
}

// unavailable reports whether a later call may succeed.
func unavailable(e *pgconn.PgError) bool {
	switch e.Code {
	case codeReadOnly, codeNoTable, codeNoSchema:
		return true
	}
	switch class(e) {
	case classConnection, classResources, classOperator, classSystem, classLogin, classNoDatabase:
		return true
	}
	return false
}

// fault turns an error of the driver into one of the contract. If the connection breaks during a commit, the outcome is unknown.
func (s *Store) fault(err error, committing bool) error {
	switch e := answer(err); {
	case err == nil, errors.Is(err, store.ErrCorrupt):
		return err
	case e != nil:
		s.learnFrom(e)
		return refused(e)
	}
	if committing && tookTooLong(err) { // the connection was good when it began; the driver closes it, and the watcher asks the server
		s.state.suspect()
	} else {
		s.state.connectionFailed()
	}
	switch {
	case pgconn.SafeToRetry(err):
		return fmt.Errorf("%w: %w: %s", store.ErrUnavailable, errAgain, reason(err))
	case committing:
		return fmt.Errorf("%w: %s", store.ErrOutcomeUnknown, reason(err))
	default:
		return fmt.Errorf("%w: %s", store.ErrUnavailable, reason(err))
	}
}

// learnFrom learns from an answer: a connection that is answered works. But a read-only server is the wrong one, and all other connections
// may lead to it too.
func (s *Store) learnFrom(e *pgconn.PgError) {
	switch {
	case e.Code == codeReadOnly:
		s.state.connectionFailed()
	case unavailable(e):
		s.state.suspect()
	}
}

// ended is fault for the end of a wait bounded by within. One caller's short deadline is no reason to drop everybody's connections.
func (s *Store) ended(waiting context.Context, err error) error {
	if err == nil || !byCallersLimit(waiting) || answer(err) != nil || errors.Is(err, store.ErrCorrupt) {
		return s.fault(err, false)
	}
	s.state.suspect()
	return fmt.Errorf("%w: %s", store.ErrUnavailable, reason(err))
}

func tookTooLong(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err)
}

// reason says why a connection failed, without addresses, names, or anything that was sent.
func reason(err error) string {
	var e *pgconn.PgError
	var errno syscall.Errno
	switch {
	case errors.As(err, &e):
		return "the server answered " + e.Code
	case tookTooLong(err):
		return "the server took too long"
	case errors.As(err, &errno):
		return errno.Error()
	default:
		return "the connection failed"
	}
}
