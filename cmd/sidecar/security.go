package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/listen"
	"github.com/palimpsest-context/palimpsest/internal/ops"
)

// security is what stands between the network and the server.
type security struct {
	sockets       listen.Sockets
	authenticator *access.Authenticator
	tls           *access.TLS // nil: none is spoken
}

func newSecurity(s *settings) (*security, error) {
	sockets, err := s.sockets()
	if err != nil {
		return nil, err
	}
	out := &security{sockets: sockets, authenticator: access.AllowAll(s.Namespace)}
	if s.Credentials != "" {
		if out.authenticator, err = access.LoadAuthenticator(s.Credentials, time.Now); err != nil {
			return nil, usageError{fmt.Errorf("--credentials: %w", err)}
		}
	}
	if s.TLSCert != "" {
		if out.tls, err = access.LoadTLS(s.TLSCert, s.TLSKey, s.TLSClientCA); err != nil {
			return nil, usageError{fmt.Errorf("--tls-cert: %w", err)}
		}
	}
	return out, nil
}

func (s *security) config() *tls.Config {
	if s.tls == nil {
		return nil
	}
	return s.tls.Config()
}

// open reads files again when they change, and serves profiles, until stop.
func (s *security) open(ctx context.Context, pprof string, log *zap.Logger) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	profiles, err := startPprof(ctx, pprof)
	if err != nil {
		cancel()
		return nil, err
	}
	var running sync.WaitGroup
	running.Go(func() { s.authenticator.Run(ctx, reloaded(log, "--credentials")) })
	if s.tls != nil {
		running.Go(func() { s.tls.Run(ctx, reloaded(log, "--tls-cert")) })
	}
	return func() {
		cancel()
		running.Wait()
		profiles()
	}, nil
}

func reloaded(log *zap.Logger, flag string) func(error) {
	return func(err error) {
		if err != nil {
			log.Error("a file has changed and cannot be read: what it said before stands", zap.String("flag", flag), zap.Error(err))
			return
		}
		log.Info("a file has changed and was read again", zap.String("flag", flag))
	}
}

func startPprof(ctx context.Context, address string) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := listen.On(ctx, address, listen.Sockets{})
	if err != nil {
		return nil, fmt.Errorf("--pprof: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: ops.LocalHosts(mux), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l)
	}()
	return func() {
		_ = server.Close()
		<-served
	}, nil
}
