package summarize

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/internal/endpoint"
)

// What a provider's server may take of us.
const (
	maxBodyBytes = 1 << 20
	// headerTime is for calls whose context has no deadline. Answers are not streamed, so a model may think before it sends the header.
	headerTime = 5 * time.Minute
)

// EndpointOptions configures the client of one provider.
type EndpointOptions struct {
	// URL is the base of the API. Its query, if any, is sent with every request.
	URL string
	// Key is sent with every request, but never unencrypted over a network; without one, its header is omitted.
	Key string
	// UserAgent names this program to the server; palimpsest by default.
	UserAgent string
}

// Endpoint is the HTTP client for one address of one provider. It posts JSON and reads JSON. Redirects are not followed, so a key never
// reaches another host. Proxies come from the environment (HTTPS_PROXY, NO_PROXY; never for loopback). Certificates are checked against the
// system's roots.
type Endpoint struct {
	url    string
	header http.Header
	client *http.Client
}

// NewEndpoint returns the endpoint at a path below the base URL, or what [CheckEndpoint] says of that. The header, which holds the key, is
// sent with every request. Close closes idle connections.
func NewEndpoint(o EndpointOptions, header http.Header, path ...string) (*Endpoint, error) {
	base, err := endpoint.Parse(o.URL, o.Key != "")
	if err != nil {
		return nil, err
	}
	header.Set("User-Agent", cmp.Or(o.UserAgent, "palimpsest"))
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json")
	return &Endpoint{
		url:    base.JoinPath(path...).String(),
		header: header,
		client: endpoint.NewClient(endpoint.Options{HeaderTime: headerTime, Parallel: defaultParallel}),
	}, nil
}

// CheckEndpoint returns an error that explains what is wrong with an endpoint's URL without quoting it; nil if it is valid: http or https,
// but never plain http to another machine if there is a key.
func CheckEndpoint(raw string, withKey bool) error {
	_, err := endpoint.Parse(raw, withKey)
	return err
}

// Close closes idle connections.
func (e *Endpoint) Close() { e.client.CloseIdleConnections() }

// Post sends a value as JSON, a json.RawMessage byte for byte, and decodes the answer into another. Its errors are *Failure. If the status is a failure, it also returns the
// start of the response, so that the client can see what was refused; that must not be shown to anyone.
//
// The response's content type is ignored: some servers send text/plain, and anything but JSON fails to decode anyway.
func (e *Endpoint) Post(ctx context.Context, question, answer any) (refusal []byte, err error) {
	response, err := e.send(ctx, question)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBodyBytes+1))
	switch {
	case err != nil:
		return nil, connectionFailure(ctx, err)
	case response.StatusCode < 200 || response.StatusCode > 299:
		return body, statusFailure(response)
	case len(body) > maxBodyBytes || !utf8.Valid(body) || json.Unmarshal(body, answer) != nil:
		return nil, &Failure{Reason: BadAnswer}
	default:
		return nil, nil
	}
}

func (e *Endpoint) send(ctx context.Context, question any) (*http.Response, error) {
	body, err := bodyOf(question)
	if err != nil {
		return nil, &Failure{Reason: Internal}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, body)
	if err != nil {
		return nil, &Failure{Reason: Internal}
	}
	request.Header = e.header.Clone()
	response, err := e.client.Do(request)
	if err != nil {
		return nil, connectionFailure(ctx, err)
	}
	return response, nil
}

// bodyOf is a question as JSON. What is JSON already is sent byte for byte: the encoder would take its white space out.
func bodyOf(question any) (io.Reader, error) {
	if raw, ok := question.(json.RawMessage); ok {
		if len(raw) == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		return bytes.NewReader(raw), nil
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	return &body, encoder.Encode(question)
}

// connectionFailure returns the failure for a broken connection. The error itself is dropped because it contains addresses.
func connectionFailure(ctx context.Context, err error) *Failure {
	var dial *net.OpError
	var slow net.Error
	switch {
	case ctx.Err() != nil:
		return &Failure{Reason: Timeout}
	case errors.As(err, &dial) && dial.Op == "dial":
		return &Failure{Reason: Unreachable}
	case errors.As(err, &slow) && slow.Timeout():
		return &Failure{Reason: Timeout}
	default:
		return &Failure{Reason: Unreachable}
	}
}

func statusFailure(response *http.Response) *Failure {
	f := &Failure{Reason: Status, Status: response.StatusCode, RetryAfter: endpoint.RetryAfter(response.Header)}
	if f.Status == http.StatusTooManyRequests {
		f.Reason = RateLimited
	}
	return f
}
