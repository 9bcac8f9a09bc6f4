// Package endpoint is what all clients of HTTP services share: which addresses they may have, how they connect, how long a service asks to
// wait. Redirects are never followed, so that a secret never reaches another host.
package endpoint

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	maxHeaderBytes = 64 << 10
	connectTime    = 10 * time.Second
	idleTime       = 30 * time.Second
)

// errBadURL quotes nothing, since an address may hold a password.
var errBadURL = errors.New("must be a URL such as https://host/v1 or http://localhost:11434/v1, without a user, a password or a fragment")

// Parse reads a base URL. Its errors say what is wrong without quoting it: it is http or https, but where it carries a secret never plain
// http to another machine.
func Parse(raw string, secret bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return nil, errBadURL
	}
	if secret && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return nil, errors.New("must be https: there is a key, and over plain http everybody on the way could read it")
	}
	return u, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Options configures a client.
type Options struct {
	HeaderTime time.Duration // how long a service may take until its answer begins
	Parallel   int           // connections that are kept open
}

// NewClient returns a client that follows no redirect. Proxies come from the environment (HTTPS_PROXY, NO_PROXY; never for loopback).
// Certificates are checked against the system's roots. Answers are not compressed, since their size would only be limited afterwards.
func NewClient(o Options) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: connectTime}).DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    connectTime,
			ResponseHeaderTimeout:  o.HeaderTime,
			IdleConnTimeout:        idleTime,
			MaxIdleConnsPerHost:    o.Parallel,
			MaxResponseHeaderBytes: maxHeaderBytes,
			DisableCompression:     true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// RetryAfter reads the header of that name: seconds, or a date, which is compared with the server's own clock. It is 0 where there is none.
func RetryAfter(h http.Header) time.Duration {
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
