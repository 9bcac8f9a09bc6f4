// Package security is what stands between the network and the server, and the command that makes tokens.
package security

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/internal/access"
	"github.com/palimpsest-context/palimpsest/internal/listen"
	"github.com/palimpsest-context/palimpsest/internal/ops"
)

// Security is what stands between the network and the server.
type Security struct {
	Sockets       listen.Sockets
	Authenticator *access.Authenticator
	tls           *access.TLS // nil: none is spoken
}

// New reads what settings name: files of credentials and of certificates.
func New(s *config.Settings) (*Security, error) {
	sockets, err := s.Sockets()
	if err != nil {
		return nil, err
	}
	out := &Security{Sockets: sockets, Authenticator: access.AllowAll(s.Namespace)}
	if s.Credentials != "" {
		if out.Authenticator, err = access.LoadAuthenticator(s.Credentials, time.Now); err != nil {
			return nil, command.Usage(fmt.Errorf("--credentials: %w", err))
		}
	}
	if s.TLSCert != "" {
		if out.tls, err = access.LoadTLS(s.TLSCert, s.TLSKey, s.TLSClientCA); err != nil {
			return nil, command.Usage(fmt.Errorf("--tls-cert: %w", err))
		}
	}
	return out, nil
}

// Config is what TLS listeners show; nil where no TLS is spoken.
func (s *Security) Config() *tls.Config {
	if s.tls == nil {
		return nil
	}
	return s.tls.Config()
}

// Open reads files again when they change, and serves profiles, until stop.
func (s *Security) Open(ctx context.Context, pprof string, log *zap.Logger) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	profiles, err := startPprof(ctx, pprof)
	if err != nil {
		cancel()
		return nil, err
	}
	var running sync.WaitGroup
	running.Go(func() { s.Authenticator.Run(ctx, reloaded(log, "--credentials")) })
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
