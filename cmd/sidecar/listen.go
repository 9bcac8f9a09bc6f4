package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/ops"
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
	return ops.IsLoopback(host)
}

// listenAll listens on every address or on none.
func listenAll(ctx context.Context, addresses []string, sockets socketOptions) ([]net.Listener, error) {
	var listeners []net.Listener
	for _, address := range addresses {
		l, err := listen(ctx, address, sockets)
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

func listen(ctx context.Context, address string, sockets socketOptions) (net.Listener, error) {
	path, ok := strings.CutPrefix(address, unixScheme)
	if !ok {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	}
	if err := vacate(ctx, path); err != nil {
		return nil, err
	}
	return listenUnix(path, sockets)
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

// socketOptions say who may connect to Unix sockets.
type socketOptions struct {
	mode  fs.FileMode
	group int // -1: the process's own
	uids  []uint32
}

// sockets are the options of Unix sockets.
func (s *settings) sockets() (socketOptions, error) {
	out := socketOptions{mode: fs.FileMode(s.SocketMode), group: -1, uids: s.SocketUIDs}
	if s.SocketGroup == "" {
		return out, nil
	}
	number := s.SocketGroup
	if g, err := user.LookupGroup(s.SocketGroup); err == nil {
		number = g.Gid
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil {
		return out, usageError{fmt.Errorf("--socket-group %s: there is no such group", s.SocketGroup)}
	}
	out.group = int(n)
	return out, nil
}

// maxSocketPath is what systems allow at least, without what bindAside adds at most.
const maxSocketPath = 103 - 8

// listenUnix binds where nobody else can go, lets nobody in but whom it should, and then takes the name it was asked for: no moment
// passes at which others could connect, and a stale file is replaced in one step.
func listenUnix(path string, o socketOptions) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("a Unix socket's path has at most %d bytes, and this one has %d", maxSocketPath, len(path))
	}
	l, aside, err := bindAside(path)
	if err != nil {
		return nil, err
	}
	out := &unixListener{UnixListener: l, path: path, options: o}
	if err := out.take(aside); err != nil {
		return nil, errors.Join(err, l.Close(), os.RemoveAll(filepath.Dir(aside)))
	}
	if err := os.Remove(filepath.Dir(aside)); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// bindAside binds in a new folder beside a path, which is the process's own: until the socket has its mode, the umask alone says who may
// connect.
func bindAside(path string) (l *net.UnixListener, aside string, err error) {
	folder := filepath.Join(filepath.Dir(path), "."+rand.Text()[:6])
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, "", err
	}
	aside = filepath.Join(folder, "s")
	l, err = net.ListenUnix("unix", &net.UnixAddr{Name: aside, Net: "unix"})
	if err != nil {
		return nil, "", errors.Join(err, os.Remove(folder))
	}
	l.SetUnlinkOnClose(false)
	return l, aside, nil
}

// unixListener is a listener whose file is removed with it.
type unixListener struct {
	*net.UnixListener
	path    string
	options socketOptions
	file    os.FileInfo
}

func (l *unixListener) take(aside string) error {
	if err := l.options.apply(aside); err != nil {
		return err
	}
	info, err := os.Lstat(aside)
	if err != nil {
		return err
	}
	l.file = info
	return os.Rename(aside, l.path)
}

// apply gives a socket to its group first: the mode lets that group in.
func (o *socketOptions) apply(path string) error {
	if o.group >= 0 {
		if err := os.Lchown(path, -1, o.group); err != nil {
			return fmt.Errorf("the socket cannot have the group %d: %w", o.group, err)
		}
	}
	return os.Chmod(path, o.mode)
}

// Accept returns the next connection of a user who may connect.
func (l *unixListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if l.options.admits(conn) {
			return conn, nil
		}
		_ = conn.Close()
	}
}

func (o *socketOptions) admits(conn *net.UnixConn) bool {
	if len(o.uids) == 0 {
		return true
	}
	uid, err := peerUID(conn)
	return err == nil && slices.Contains(o.uids, uid)
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
