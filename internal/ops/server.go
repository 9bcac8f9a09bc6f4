package ops

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// The paths.
const (
	LivePath    = "/livez"
	ReadyPath   = "/readyz"
	MetricsPath = "/metrics"
)

// What a client may hold, and for how long: nothing here is large or slow.
const (
	maxConnections    = 64
	maxHeaderBytes    = 8 << 10
	readHeaderTimeout = 2 * time.Second
	readTimeout       = 5 * time.Second
	writeTimeout      = 20 * time.Second
)

// Server answers GET and HEAD on three paths. It reads no query and no body.
type Server struct {
	http *http.Server
}

// NewServer returns a server that does not listen yet. Metrics answers /metrics.
func NewServer(h *Health, metrics http.Handler) *Server {
	routes := map[string]http.Handler{
		LivePath:    status("live", h.Live),
		ReadyPath:   status("ready", h.Ready),
		MetricsPath: metrics,
	}
	out := &http.Server{
		Handler:           guard(routes),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnState:         new(connections).follow,
		ErrorLog:          log.New(io.Discard, "", 0), // it would tell what clients send

		DisableGeneralOptionsHandler: true,
	}
	out.SetKeepAlivesEnabled(false)
	return &Server{out}
}

// Serve answers on a listener until Close, and returns nil then. It closes the listener. On a loopback address it answers those alone who
// ask for one.
func (s *Server) Serve(l net.Listener) error {
	if at, ok := l.Addr().(*net.TCPAddr); ok && at.IP.IsLoopback() {
		s.http.Handler = LocalHosts(s.http.Handler)
	}
	err := s.http.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends the server. It waits for answers on their way until ctx ends, and cuts them off then.
func (s *Server) Close(ctx context.Context) error {
	if s.http.Shutdown(ctx) == nil {
		return nil
	}
	return s.http.Close()
}

// guard lets through what the routes can answer: GET and HEAD, without a query and without a body.
func guard(routes map[string]http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		route, known := routes[r.URL.Path]
		switch {
		case !known:
			refuse(w, r, http.StatusNotFound, "there is nothing here")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, r, http.StatusMethodNotAllowed, "only GET and HEAD are answered")
		case r.URL.RawQuery != "" || r.ContentLength != 0:
			refuse(w, r, http.StatusBadRequest, "neither a query nor a body is read")
		default:
			route.ServeHTTP(w, r)
		}
	})
}

// refuse ends the connection too if there is a body: it is not read.
func refuse(w http.ResponseWriter, r *http.Request, code int, text string) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	answer(w, code, text)
}

// status answers with a word, or why it does not hold.
func status(word string, holds func() (reason string, ok bool)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if reason, ok := holds(); !ok {
			answer(w, http.StatusServiceUnavailable, "not "+word+": "+reason)
			return
		}
		answer(w, http.StatusOK, word)
	})
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // a client that is gone needs none
}
