package summarize

import (
	"bytes"
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
	// headerTime is for calls whose context has no end: others end with it. Answers are not streamed, so that a model thinks
	// before the header comes.
	headerTime = 5 * time.Minute
)

// EndpointOptions is what an Endpoint is made of.
type EndpointOptions struct {
	// URL is the base that the operator configured, and Path what the API adds to it.
	URL  string
	Path []string
	// Header goes with every request: it has the key.
	Header http.Header
	// HasKey says that the header has a key: it must not cross a network in the clear.
	HasKey bool
}

// Endpoint is the HTTP side of a client: one address of one provider. It posts JSON and reads JSON. Redirects are answers like
// any other, so that a key goes to no other host. A proxy is used where the environment names one (HTTPS_PROXY, NO_PROXY;
// never for loopback). Certificates are checked against the system's.
type Endpoint struct {
	url    string
	header http.Header
	client *http.Client
}

// NewEndpoint returns an endpoint, or what [CheckEndpoint] says of its URL. Close closes its idle connections.
func NewEndpoint(o EndpointOptions) (*Endpoint, error) {
	if err := CheckEndpoint(o.URL, o.HasKey); err != nil {
		return nil, err
	}
	base, err := url.Parse(o.URL)
	if err != nil {
		return nil, errBadURL
	}
	header := o.Header.Clone()
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json")
	return &Endpoint{
		url:    base.JoinPath(o.Path...).String(),
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
		DisableCompression:     true, // answers are short, and what they unpack to would be bounded only after it was unpacked
	}
}

var errBadURL = errors.New("must be a URL such as https://host/v1 or http://localhost:11434/v1, without a user, a password or a fragment")

// CheckEndpoint returns what is wrong with an endpoint's URL, in words for whoever configured it and without the URL; nil if nothing
// is. It is http or https; but a key never goes over plain http to another machine.
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

// Post sends a value as JSON and reads the answer into another. Its errors are *Failure. With a failure of a status, it returns
// the beginning of what came with it, for a client to tell what was refused: it must be shown to nobody.
//
// The answer's content type is not asked for: some servers say text/plain, and what is no JSON fails for that.
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

// connectionFailure returns what is said of a connection that failed. The error itself has addresses in it, and stays here.
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

// retryAfter reads a pause in seconds, or a date, which it compares with the server's own clock.
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
