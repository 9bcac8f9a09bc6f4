// Package listen opens TCP addresses and Unix sockets. It knows nothing of what is served on them.
package listen

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
)

// UnixScheme is what addresses of Unix sockets begin with.
const UnixScheme = "unix://"

// IsLocal says whether an address can be reached from this machine alone.
func IsLocal(address string) bool {
	if strings.HasPrefix(address, UnixScheme) {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true // not an address: listening will say so
	}
	return IsLoopback(host)
}

// IsLoopback says whether a host, without a port, is this machine's loopback.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// All listens on every address or on none.
func All(ctx context.Context, addresses []string, sockets Sockets) ([]net.Listener, error) {
	var listeners []net.Listener
	for _, address := range addresses {
		l, err := On(ctx, address, sockets)
		if err != nil {
			return nil, errors.Join(err, Close(listeners))
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

// On listens on an address: host:port, or unix:///path.
func On(ctx context.Context, address string, sockets Sockets) (net.Listener, error) {
	l, err := listen(ctx, address, sockets)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", address, plain(err))
	}
	return l, nil
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

// Close closes listeners.
func Close(listeners []net.Listener) error {
	faults := make([]error, len(listeners))
	for i, l := range listeners {
		faults[i] = l.Close()
	}
	return errors.Join(faults...)
}

func listen(ctx context.Context, address string, sockets Sockets) (net.Listener, error) {
	path, ok := strings.CutPrefix(address, UnixScheme)
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

// Sockets say who may connect to Unix sockets.
type Sockets struct {
	Mode  fs.FileMode
	Group int // by number; -1: the process's own
	UIDs  []uint32
}

// GroupOf is the number of a group that is named or numbered.
func GroupOf(name string) (int, error) {
	number := name
	if g, err := user.LookupGroup(name); err == nil {
		number = g.Gid
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil {
		return 0, errors.New("there is no such group")
	}
	return int(n), nil
}

// maxSocketPath is what systems allow at least, without what bindAside adds at most.
const maxSocketPath = 103 - 8

// listenUnix binds where nobody else can go, lets nobody in but whom it should, and then takes the name it was asked for: no moment
// passes at which others could connect, and a stale file is replaced in one step.
func listenUnix(path string, o Sockets) (net.Listener, error) {
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
	options Sockets
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
func (o *Sockets) apply(path string) error {
	if o.Group >= 0 {
		if err := os.Lchown(path, -1, o.Group); err != nil {
			return fmt.Errorf("the socket cannot have the group %d: %w", o.Group, err)
		}
	}
	return os.Chmod(path, o.Mode)
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

func (o *Sockets) admits(conn *net.UnixConn) bool {
	if len(o.UIDs) == 0 {
		return true
	}
	uid, err := peerUID(conn)
	return err == nil && slices.Contains(o.UIDs, uid)
}

// Close stops listening and removes the file, if it is still this listener's.
func (l *unixListener) Close() error {
	err := l.UnixListener.Close()
	if now, missing := os.Lstat(l.path); missing == nil && os.SameFile(now, l.file) {
		return errors.Join(err, os.Remove(l.path))
	}
	return err
}

// Address is what a client dials.
func Address(l net.Listener) string {
	if u, ok := l.(*unixListener); ok {
		return UnixScheme + u.path
	}
	return l.Addr().String()
}
