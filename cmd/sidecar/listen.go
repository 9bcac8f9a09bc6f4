package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

const unixScheme = "unix://"

// isLocal says whether an address can be reached from this machine alone.
func isLocal(address string) bool {
	if strings.HasPrefix(address, unixScheme) {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true // not an address: listening will say so
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// listenAll listens on every address or on none.
func listenAll(ctx context.Context, addresses []string) ([]net.Listener, error) {
	var listeners []net.Listener
	for _, address := range addresses {
		l, err := listen(ctx, address)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("cannot listen on %s: %w", address, plain(err)), closeAll(listeners))
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

// plain takes the operation and the address off an error that is told with both anyway.
func plain(err error) error {
	var op *net.OpError
	if !errors.As(err, &op) {
		return err
	}
	if errors.Is(op.Err, syscall.EADDRINUSE) {
		return errors.New("address already in use; is another sidecar running?")
	}
	return op.Err
}

func closeAll(listeners []net.Listener) error {
	faults := make([]error, len(listeners))
	for i, l := range listeners {
		faults[i] = l.Close()
	}
	return errors.Join(faults...)
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	path, ok := strings.CutPrefix(address, unixScheme)
	if !ok {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	}
	if err := vacate(ctx, path); err != nil {
		return nil, err
	}
	return listenUnix(path)
}

// vacate allows a socket file to be replaced if nobody answers on it: one that a killed sidecar left behind.
func vacate(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("a file is there that is no socket")
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return errors.Join(errors.New("another process answers on this socket"), conn.Close())
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil
	default:
		return err
	}
}

// listenUnix binds under a name of its own, lets nobody but the owner in, and then takes the name it was asked for: no moment
// passes at which others could connect, and a stale file is replaced in one step.
func listenUnix(path string) (net.Listener, error) {
	unnamed := path + "." + rand.Text()[:6]
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: unnamed, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	out := &unixListener{UnixListener: l, path: path}
	if err := out.take(unnamed); err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(unnamed))
	}
	return out, nil
}

// unixListener is a listener whose file is removed with it.
type unixListener struct {
	*net.UnixListener
	path string
	file os.FileInfo
}

func (l *unixListener) take(unnamed string) error {
	if err := os.Chmod(unnamed, 0o600); err != nil {
		return err
	}
	info, err := os.Lstat(unnamed)
	if err != nil {
		return err
	}
	l.file = info
	return os.Rename(unnamed, l.path)
}

// Close stops listening and removes the file, if it is still this listener's.
func (l *unixListener) Close() error {
	err := l.UnixListener.Close()
	if now, missing := os.Lstat(l.path); missing == nil && os.SameFile(now, l.file) {
		return errors.Join(err, os.Remove(l.path))
	}
	return err
}

// addressOf is what a client dials.
func addressOf(l net.Listener) string {
	if u, ok := l.(*unixListener); ok {
		return unixScheme + u.path
	}
	return l.Addr().String()
}
