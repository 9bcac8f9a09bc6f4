package summarize

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Reason says why there is no summary. The set is closed.
type Reason string

// The reasons.
const (
	NoModel     Reason = "no_model"     // no model is named, or none of them has a client
	Unreachable Reason = "unreachable"  // the connection failed
	Timeout     Reason = "timeout"      // the time is up
	RateLimited Reason = "rate_limited" // the provider asks to retry later
	Status      Reason = "status"       // the provider answered with the failure's HTTP status
	BadAnswer   Reason = "bad_answer"   // the response violates the provider's API, or is not the requested JSON
	Truncated   Reason = "truncated"    // the same, because it was cut off at the token limit
	Empty       Reason = "empty"        // no visible text
	NotShorter  Reason = "not_shorter"  // than the content
	TooLong     Reason = "too_long"     // over the cap for its target
	ToolCall    Reason = "tool_call"    // the model called a tool
	Echo        Reason = "echo"         // repeats the prompt or the start of the content
	BreakerOpen Reason = "breaker_open" // the model failed repeatedly and is paused
	SpendLimit  Reason = "spend_limit"  // the token budget of the minute or the conversation is used up
	Quota       Reason = "quota"        // the calls or the spend of the namespace's minute are used up
	Busy        Reason = "busy"         // too many requests are pending, or no slot was free in time
	BadTemplate Reason = "bad_template" // the prompt's template fails CheckTemplate
	Forgotten   Reason = "forgotten"    // the content was forgotten in the meantime
	Closed      Reason = "closed"       // the service was closed
	Internal    Reason = "internal"     // a bug in this program
)

// Failure is the error of a request or a call. Its text never contains conversation text, answers or keys.
type Failure struct { //nolint:errname // it is how a request ended, and the package's name says of what
	Reason Reason
	Status int    // HTTP, where a provider answered with one; or 0
	Model  string // provider/model, where the failure is one model's
	// RetryAfter is the pause that the provider asks for; 0 if it names none.
	RetryAfter time.Duration
	// Earlier are the failures of the models that were tried or skipped before this one.
	Earlier []*Failure
}

// Error returns what failed, with the names of the models.
func (f *Failure) Error() string {
	var b strings.Builder
	for _, e := range f.Earlier {
		b.WriteString(e.Error())
		b.WriteString("; ")
	}
	if f.Model != "" {
		fmt.Fprintf(&b, "%q: ", f.Model)
	}
	b.WriteString(string(f.Reason))
	if f.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", f.Status)
	}
	return b.String()
}

// ReasonOf returns the reason of a result's error: "" for nil, [Internal] for any other error. If several models failed, it is the last
// one's.
func ReasonOf(err error) Reason {
	var f *Failure
	switch {
	case err == nil:
		return ""
	case errors.As(err, &f):
		return f.Reason
	default:
		return Internal
	}
}

// IsRetryable reports whether a request failed because of a rate or spend limit, ours or the provider's, so that it may succeed later.
func IsRetryable(err error) bool {
	switch ReasonOf(err) {
	case Busy, SpendLimit, Quota, RateLimited:
		return true
	default:
		return false
	}
}

// chainFailures combines at least one failure into one.
func chainFailures(failures []*Failure) *Failure {
	last := *failures[len(failures)-1]
	last.Earlier = failures[:len(failures)-1]
	return &last
}

func (f *Failure) withModel(model string) *Failure {
	named := *f
	named.Model = model
	return &named
}

// contextReason returns why a context ended.
func contextReason(ctx context.Context) Reason {
	var f *Failure
	if errors.As(context.Cause(ctx), &f) {
		return f.Reason
	}
	return Timeout
}

// asFailure converts an error of a Model to a failure and drops everything else that it says.
func asFailure(ctx context.Context, err error) *Failure {
	var f *Failure
	switch {
	case ctx.Err() != nil:
		return &Failure{Reason: contextReason(ctx)}
	case errors.As(err, &f):
		return f
	default:
		return &Failure{Reason: Unreachable}
	}
}

// isExempt reports whether a failure says nothing about the model's health. One conversation whose content is refused must not open the
// breaker for all others.
func (f *Failure) isExempt() bool {
	switch f.Reason {
	case Forgotten, Closed:
		return true
	case Status:
		return f.Status == http.StatusBadRequest || f.Status == http.StatusRequestEntityTooLarge || f.Status == http.StatusUnprocessableEntity
	default:
		return false
	}
}

// exemptError marks a failure that the breaker must not count.
type exemptError struct{ error }
