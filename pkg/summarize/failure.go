package summarize

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Reason says why there is no summary. The set is closed.
type Reason string

// The reasons. Those from BadAnswer to Echo are of an answer that came and was refused.
const (
	NoModel     Reason = "no_model"     // none is named, or none of those named has a provider here
	Unreachable Reason = "unreachable"  // the connection failed
	Timeout     Reason = "timeout"      // the time was over
	RateLimited Reason = "rate_limited" // the provider says to come back later
	Status      Reason = "status"       // the provider answered with the failure's HTTP status
	BadAnswer   Reason = "bad_answer"   // not the JSON that was asked for
	Truncated   Reason = "truncated"    // the same, because it was cut off at the most tokens it may have
	Empty       Reason = "empty"        // nothing that can be read
	NotShorter  Reason = "not_shorter"  // than the content
	TooLong     Reason = "too_long"     // over the cap for its target
	Echo        Reason = "echo"         // the prompt, or the content's beginning, said back
	BreakerOpen Reason = "breaker_open" // the model failed again and again, and rests
	SpendLimit  Reason = "spend_limit"  // the tokens of this minute, or of this conversation, are spent
	Busy        Reason = "busy"         // too many requests wait already
	BadTemplate Reason = "bad_template" // the prompt's template fails [CheckTemplate]
	Forgotten   Reason = "forgotten"    // the content was dropped meanwhile
	Closed      Reason = "closed"       // the desk was closed
	Internal    Reason = "internal"     // a fault in this program
)

// Failure is the error of a request or of a call. Its text never has any of the conversation, of an answer, or of a key.
type Failure struct {
	Reason Reason
	Status int    // HTTP, where a provider answered with one; or 0
	Model  string // provider/model, where the failure is one model's
	// RetryAfter is how long the provider says to wait; 0 if it does not.
	RetryAfter time.Duration
	// Earlier are the failures of models that were to be asked before this one.
	Earlier []*Failure
}

// Error says what failed, with the models' names.
func (f *Failure) Error() string {
	var b strings.Builder
	if f.Model != "" {
		fmt.Fprintf(&b, "%q: ", f.Model)
	}
	b.WriteString(string(f.Reason))
	if f.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", f.Status)
	}
	for _, e := range f.Earlier {
		b.WriteString("; before it ")
		b.WriteString(e.Error())
	}
	return b.String()
}

// ReasonOf is the reason of a result's error: "" for nil, [Internal] for an error that is no failure.
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
