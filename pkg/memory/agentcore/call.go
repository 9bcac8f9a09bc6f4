package agentcore

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ac "github.com/aws/aws-sdk-go-v2/service/bedrockagentcore"
	"github.com/aws/smithy-go"

	"github.com/palimpsest-context/palimpsest/internal/endpoint"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// maxBodyBytes is how much of an answer is read.
const maxBodyBytes = 4 << 20

// effect says what a lost answer and a 404 mean.
type effect int8

const (
	reads      effect = iota // without effect; a 404 is about the memory
	changes                  // a lost answer leaves the outcome open; a 404 is about the memory
	readsOne                 // without effect; a 404 is about one thing in the memory
	deletesOne               // a lost answer leaves the outcome open; a 404 is about one thing
)

// attempt is what became of a call's one request. From its connection on it may have been done: that it was written is known too late, when
// the service may have answered already.
type attempt struct {
	began      bool
	connected  bool
	status     int
	retryAfter time.Duration
}

type attemptKey struct{}

// call makes one request within the target's timeout. Its errors are those of package memory alone: the SDK's hold what was asked.
func call[Out any](ctx context.Context, t *Target, e effect, request func(context.Context) (*Out, error)) (*Out, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	a := &attempt{}
	out, err := request(context.WithValue(ctx, attemptKey{}, a))
	if err != nil {
		return nil, a.failure(ctx, e, err)
	}
	return out, nil
}

// operation is one of the client's methods.
type operation[In, Out any] func(context.Context, *In, ...func(*ac.Options)) (*Out, error)

// operations are those that are used. The client itself in a field, or as an interface for the SDK's paginators, would link all that it can.
type operations struct {
	createEvent   operation[ac.CreateEventInput, ac.CreateEventOutput]
	listEvents    operation[ac.ListEventsInput, ac.ListEventsOutput]
	deleteEvent   operation[ac.DeleteEventInput, ac.DeleteEventOutput]
	listSessions  operation[ac.ListSessionsInput, ac.ListSessionsOutput]
	retrieve      operation[ac.RetrieveMemoryRecordsInput, ac.RetrieveMemoryRecordsOutput]
	listRecords   operation[ac.ListMemoryRecordsInput, ac.ListMemoryRecordsOutput]
	getRecord     operation[ac.GetMemoryRecordInput, ac.GetMemoryRecordOutput]
	createRecords operation[ac.BatchCreateMemoryRecordsInput, ac.BatchCreateMemoryRecordsOutput]
	deleteRecords operation[ac.BatchDeleteMemoryRecordsInput, ac.BatchDeleteMemoryRecordsOutput]
}

func operationsOf(c *ac.Client) operations {
	return operations{
		createEvent: c.CreateEvent, listEvents: c.ListEvents, deleteEvent: c.DeleteEvent, listSessions: c.ListSessions,
		retrieve: c.RetrieveMemoryRecords, listRecords: c.ListMemoryRecords, getRecord: c.GetMemoryRecord,
		createRecords: c.BatchCreateMemoryRecords, deleteRecords: c.BatchDeleteMemoryRecords,
	}
}

// asking binds an operation to its input, for call.
func asking[In, Out any](o operation[In, Out], in *In) func(context.Context) (*Out, error) {
	return func(ctx context.Context) (*Out, error) { return o(ctx, in) }
}

// pages asks for one page after the other, up to an error. Token is the input's, next the output's.
func pages[In, Out any](ctx context.Context, t *Target, e effect, o operation[In, Out], in *In, token **string, next func(*Out) *string) iter.Seq2[*Out, error] {
	return func(yield func(*Out, error) bool) {
		for {
			out, err := call(ctx, t, e, asking(o, in))
			if !yield(out, err) || err != nil {
				return
			}
			if *token = next(out); aws.ToString(*token) == "" {
				return
			}
		}
	}
}

// items are what the pages hold, one by one, up to an error; nothing, if what they are about is not there.
func items[Out, T any](all iter.Seq2[*Out, error], of func(*Out) []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for page, err := range all {
			if errors.Is(err, memory.ErrNotFound) {
				return
			}
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range of(page) {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

func (a *attempt) failure(ctx context.Context, e effect, err error) error {
	switch {
	case a.status >= 300:
		return a.refusal(e, err)
	case a.connected && (e == changes || e == deletesOne):
		return memory.ErrOutcomeUnknown
	case ctx.Err() != nil:
		return &memory.UnavailableError{Cause: "timeout"}
	case a.status != 0:
		return &memory.UnavailableError{Cause: "answer"}
	case a.began:
		return &memory.UnavailableError{Cause: "connection"}
	default:
		return unsent(err)
	}
}

// unsent is for what the SDK did not send: it misses something in the input, or it has no credentials.
func unsent(err error) error {
	var input *smithy.InvalidParamsError
	var encoding *smithy.SerializationError
	if errors.As(err, &input) || errors.As(err, &encoding) {
		return memory.ErrRefused
	}
	return &memory.UnavailableError{Cause: "credentials"}
}

// refusal is for an answer that is none. Some of AWS's codes say more than the status, which is 400 for many.
func (a *attempt) refusal(e effect, err error) error {
	var api smithy.APIError
	var code string
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	switch {
	case slices.Contains([]string{"ThrottledException", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException"}, code):
		return &memory.UnavailableError{After: a.retryAfter, Cause: "429"}
	case slices.Contains([]string{
		"AccessDeniedException", "ExpiredTokenException", "ExpiredToken", "IncompleteSignature", "InvalidClientTokenId", "InvalidSignatureException",
		"MissingAuthenticationToken", "MissingAuthenticationTokenException", "RequestExpired", "SignatureDoesNotMatch", "UnrecognizedClientException",
	}, code):
		return memory.ErrDenied
	}
	return a.statusError(e, a.status)
}

func (a *attempt) statusError(e effect, status int) error {
	switch {
	case status == http.StatusNotFound && (e == readsOne || e == deletesOne):
		return memory.ErrNotFound
	case status == http.StatusPaymentRequired, status == http.StatusRequestTimeout, status == http.StatusConflict,
		status == http.StatusTooManyRequests, status >= 500:
		return &memory.UnavailableError{After: a.retryAfter, Cause: strconv.Itoa(status)}
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound, status < 400:
		return memory.ErrDenied // a redirect too: the endpoint is not the service's
	default:
		return memory.ErrRefused
	}
}

// sender sends what the SDK signed, and notes on the call's attempt how far that came.
type sender struct{ client *http.Client }

// Do implements the SDK's HTTP client.
func (c sender) Do(r *http.Request) (*http.Response, error) {
	a, _ := r.Context().Value(attemptKey{}).(*attempt)
	if a == nil {
		a = &attempt{}
	}
	a.began = true
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.connected = true }}
	response, err := c.client.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), trace))) //nolint:gosec // the SDK built it, on the operator's address
	if err != nil {
		return nil, err
	}
	a.status = response.StatusCode
	a.retryAfter = endpoint.RetryAfter(response.Header)
	response.Body = http.MaxBytesReader(nil, response.Body, maxBodyBytes)
	return response, nil
}
