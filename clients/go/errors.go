package palimpsest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// ErrOlderSidecar is what calls fail with if the sidecar is older than the
// package: it does not know all that the package asks for.
var ErrOlderSidecar = errors.New("palimpsest: older sidecar")

// Error is a call that failed.
type Error struct {
	// Code is gRPC's.
	Code codes.Code
	// Reason says why, for programs; UNSPECIFIED where gRPC itself refused.
	Reason pb.ErrorReason
	// Message says why, for people. It holds no text of the conversation.
	Message string
	// Violations are the faults of the request.
	Violations []Violation
	// Metadata says more, by reason.
	Metadata map[string]string
	// Refused is what waited to go on record and is not taken: it waits no
	// longer, and the rest goes on.
	Refused []Refused

	away bool // a sidecar of the program's own has ended
}

// Refused is something that was said and is not taken.
type Refused struct {
	Index   int // its place among what waited
	Item    *pb.BatchAppendItem
	Message string // why
}

// Violation is one fault of a request.
type Violation struct {
	Field       string // its path
	Description string
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "palimpsest: %s: %s", e.name(), e.Message)
	for _, v := range e.Violations {
		fmt.Fprintf(&b, "; %s: %s", v.Field, v.Description)
	}
	return b.String()
}

func (e *Error) name() string {
	if e.Reason == pb.ErrorReason_ERROR_REASON_UNSPECIFIED {
		return e.Code.String()
	}
	return strings.TrimPrefix(e.Reason.String(), reasonPrefix)
}

// Passing says whether the same call, under the same request id, may succeed
// a moment later.
func (e *Error) Passing() bool {
	return e.Code == codes.Unavailable || e.Code == codes.DeadlineExceeded || e.Reason == pb.ErrorReason_ERROR_REASON_CONTENTION ||
		e.Reason == pb.ErrorReason_ERROR_REASON_OVERLOADED
}

// uncertain says whether the call may have been carried out all the same.
func (e *Error) uncertain() bool {
	switch e.Code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Unknown:
		return true
	default:
		return false
	}
}

// ReasonOf is the reason that an error carries; UNSPECIFIED if it carries none.
func ReasonOf(err error) pb.ErrorReason {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Reason
	}
	return pb.ErrorReason_ERROR_REASON_UNSPECIFIED
}

// reasonPrefix is what the API's names of reasons have, and errors leave out.
const reasonPrefix = "ERROR_REASON_"

// newError reads what a call failed with.
func newError(err error) *Error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	s := status.Convert(err)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		s = status.FromContextError(err)
	}
	e := &Error{Code: s.Code(), Message: s.Message()}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			e.Reason = pb.ErrorReason(pb.ErrorReason_value[reasonPrefix+d.GetReason()])
			e.Metadata = maps.Clone(d.GetMetadata())
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				e.Violations = append(e.Violations, Violation{v.GetField(), v.GetDescription()})
			}
		}
	}
	return e
}
