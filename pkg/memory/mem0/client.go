package mem0

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/internal/endpoint"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// maxAnswer is how many bytes of an answer are read.
const maxAnswer = 4 << 20

// What an error may be beside what the contract calls it.
var (
	errTooLarge  = errors.New("the answer is too large")
	errForbidden = errors.New("403")
)

// client asks one service.
type client struct {
	http                 *http.Client
	base                 *url.URL
	header, prefix       string // how the secret is sent
	key                  func() string
	readTime, changeTime time.Duration
}

// call is a request.
type call struct {
	method string
	path   []string
	query  url.Values
	body   any
	// change: what becomes of it matters. If its answer is lost, nobody knows.
	change bool
	// single: the path names one thing, which may not be there.
	single bool
	// partly: where it fails, a part of it may have been done.
	partly bool
}

// do sends a request and decodes the answer. Its errors are those of package memory. It quotes neither the request nor the answer.
func (c *client) do(ctx context.Context, q *call, out any) error {
	limit := c.readTime
	if q.change {
		limit = c.changeTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var written atomic.Bool
	request, err := c.request(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { written.Store(true) }}), q)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return q.lost(written.Load(), broken(ctx))
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299:
		return q.refused(response, body)
	case err != nil:
		return q.lost(true, broken(ctx))
	case len(body) > maxAnswer:
		return fmt.Errorf("%w: %w", q.lost(true, ""), errTooLarge)
	case !utf8.Valid(body) || json.Unmarshal(body, out) != nil:
		return q.lost(true, "the answer is not what it should be")
	}
	return nil
}

// shrinking asks for ever less until the answer is not too large. It returns how much was asked for in the end.
func shrinking(most int, ask func(most int) error) (int, error) {
	for {
		err := ask(most)
		if most == 1 || !errors.Is(err, errTooLarge) {
			return most, err
		}
		most = max(most/4, 1)
	}
}

// broken says how a call ended that has no answer. The error itself holds addresses.
func broken(ctx context.Context) string {
	if ctx.Err() != nil {
		return "no answer in time"
	}
	return "the connection broke"
}

func (c *client) request(ctx context.Context, q *call) (*http.Request, error) {
	var body bytes.Buffer
	if q.body != nil {
		encoder := json.NewEncoder(&body)
		encoder.SetEscapeHTML(false)
		if encoder.Encode(q.body) != nil {
			return nil, memory.ErrRefused
		}
	}
	target := c.base.JoinPath(q.path...)
	target.RawQuery = q.query.Encode()
	request, err := http.NewRequestWithContext(ctx, q.method, target.String(), &body)
	if err != nil {
		return nil, memory.ErrRefused
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "palimpsest")
	if q.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.key == nil {
		return request, nil
	}
	key := c.key()
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%w: the secret has characters that no header can have", memory.ErrDenied)
	}
	if key != "" {
		request.Header.Set(c.header, c.prefix+key)
	}
	return request, nil
}

// lost is the error of a call without a whole answer.
func (q *call) lost(written bool, cause string) error {
	if q.change && written {
		return fmt.Errorf("%w: %s", memory.ErrOutcomeUnknown, cause)
	}
	return &memory.UnavailableError{Cause: cause}
}

// refused is the error of a call that the service, or what stands before it, did not answer as asked.
func (q *call) refused(response *http.Response, body []byte) error {
	status := response.StatusCode
	cause := strconv.Itoa(status)
	switch status {
	case http.StatusBadGateway:
		return q.upstream(response, body)
	case http.StatusGatewayTimeout:
		// Whoever gave up waiting is not the service, which may go on.
		return q.lost(true, cause)
	case http.StatusPaymentRequired, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return &memory.UnavailableError{After: endpoint.RetryAfter(response.Header), Cause: cause}
	case http.StatusForbidden:
		return fmt.Errorf("%w: %w", memory.ErrDenied, errForbidden)
	case http.StatusUnauthorized, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return fmt.Errorf("%w: %s", memory.ErrDenied, cause)
	case http.StatusNotFound:
		if q.single {
			return memory.ErrNotFound
		}
		return fmt.Errorf("%w: there is no such service at the address", memory.ErrDenied)
	}
	switch {
	case status >= 500 && q.partly:
		return q.lost(true, cause)
	case status >= 500:
		return &memory.UnavailableError{After: endpoint.RetryAfter(response.Header), Cause: cause}
	case status >= 400:
		return fmt.Errorf("%w: %s", memory.ErrRefused, cause)
	default: // redirects among them, which might lead anywhere
		return fmt.Errorf("%w: %s", memory.ErrDenied, cause)
	}
}

// upstream reads what a server says of the services behind it, such as its model. A gateway before it says nothing of that kind, and does
// not know how far the server came.
func (q *call) upstream(response *http.Response, body []byte) error {
	var said struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(body, &said) != nil || said.Code == "" || q.partly {
		return q.lost(true, "502")
	}
	switch said.Code {
	case "provider_bad_request": // the same text will be refused again
		return fmt.Errorf("%w: by its model", memory.ErrRefused)
	case "provider_auth_failed":
		return fmt.Errorf("%w: its model refuses its credential", memory.ErrDenied)
	default:
		return &memory.UnavailableError{After: endpoint.RetryAfter(response.Header), Cause: "502"}
	}
}
