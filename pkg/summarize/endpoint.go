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
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"
)

// What a provider's server may take of us.
const (
	maxBodyBytes   = 1 << 20
	maxHeaderBytes = 64 << 10
	connectTime    = 10 * time.Second
	idleTime       = 30 * time.Second
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
	if err := CheckEndpoint(o.URL, o.Key != ""); err != nil {
		return nil, err
	}
	base, err := url.Parse(o.URL)
	if err != nil {
		return nil, errBadURL
	}
	header.Set("User-Agent", cmp.Or(o.UserAgent, "palimpsest"))
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json")
	return &Endpoint{
		url:    base.JoinPath(path...).String(),
		header: header,
		client: &http.Client{
			Transport:     transport(),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func transport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: connectTime}).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    connectTime,
		ResponseHeaderTimeout:  headerTime,
		IdleConnTimeout:        idleTime,
		MaxIdleConnsPerHost:    defaultParallel,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true, // answers are short, and their size would only be limited after decompression
	}
}

var errBadURL = errors.New("must be a URL such as https://host/v1 or http://localhost:11434/v1, without a user, a password or a fragment")

// CheckEndpoint returns an error that explains what is wrong with an endpoint's URL without quoting it; nil if it is valid: http or https,
// but never plain http to another machine if there is a key.
func CheckEndpoint(raw string, withKey bool) error {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return errBadURL
	}
	if withKey && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return errors.New("must be https: there is a key, and over plain http everybody on the way could read it")
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Close closes idle connections.
func (e *Endpoint) Close() { e.client.CloseIdleConnections() }

// Post sends a value as JSON and decodes the answer into another. Its errors are *Failure. If the status is a failure, it also returns the
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
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(question) != nil {
		return nil, &Failure{Reason: Internal}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, &body)
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
	f := &Failure{Reason: Status, Status: response.StatusCode, RetryAfter: retryAfter(response.Header)}
	if f.Status == http.StatusTooManyRequests {
		f.Reason = RateLimited
	}
	return f
}

// retryAfter parses a Retry-After header: seconds, or a date, which is compared with the server's own clock.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, errUntil := http.ParseTime(value)
	now, errNow := http.ParseTime(h.Get("Date"))
	if errUntil != nil || errNow != nil {
		return 0
	}
	return max(until.Sub(now), 0)
}
