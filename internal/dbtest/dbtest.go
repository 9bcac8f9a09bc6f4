// Package dbtest starts the servers of databases that tests run on: real ones, as children of the test, as a user who may do nothing else,
// on loopback and in folders of their own. It is for tests alone.
package dbtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startWithin bounds how long a server may take until it answers.
const startWithin = 30 * time.Second

// running are the servers of this process that Main ends.
type running struct {
	mu      sync.Mutex
	servers []interface{ Stop() }
}

var started running //nolint:gochecknoglobals // a process has children; tests share them

// Main runs a package's tests and ends the servers that they share. It is what TestMain calls.
func Main(m *testing.M) {
	code := m.Run()
	StopShared()
	os.Exit(code)
}

// StopShared ends the servers that tests share.
func StopShared() {
	started.mu.Lock()
	defer started.mu.Unlock()
	for _, s := range slices.Backward(started.servers) {
		s.Stop()
	}
	started.servers = nil
}

// shared starts a server once, for all tests of a process.
func shared[T any, S interface {
	*T
	Stop()
}](start func() (S, error)) func() (S, error) {
	return sync.OnceValues(func() (S, error) {
		s, err := start()
		if s != nil {
			started.mu.Lock()
			defer started.mu.Unlock()
			started.servers = append(started.servers, s)
		}
		return s, err
	})
}

// Missing leaves a test out for want of a server's program. In CI nothing is left out: there it fails.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is missing, and in CI nothing is left out", what)
	}
	t.Skipf("%s is missing: make setup-test installs it where it may", what)
}

// required is a server that was to be started: without its program the test is left out.
func required[T any](t testing.TB, server *T, err error, what string) *T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if server == nil {
		Missing(t, what)
	}
	return server
}

// forTest is required, for a server that ends with the test.
func forTest[T any, S interface {
	*T
	Stop()
}](t testing.TB, server S, err error, what string) S {
	t.Helper()
	if server != nil {
		t.Cleanup(server.Stop)
	}
	required(t, (*T)(server), err, what)
	return server
}

// program finds a program on the path or in one of the folders.
func program(name string, folders ...string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, pattern := range folders {
		found, _ := filepath.Glob(filepath.Join(pattern, name))
		if len(found) > 0 {
			slices.Sort(found)
			return found[len(found)-1]
		}
	}
	return ""
}

// server is a program that serves, and its folder.
type server struct {
	name   string
	folder string
	args   []string
	path   string

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{}
}

// newServer makes the folder of a server. Its name is short: paths of sockets end at 107 bytes.
func newServer(name, path string) (*server, error) {
	folder, err := os.MkdirTemp("", "p-"+name[:2])
	if err != nil {
		return nil, err
	}
	return &server{name: name, folder: folder, path: path}, give(folder)
}

// give has the user that servers run as own files and folders.
func give(paths ...string) error {
	who, err := nobody()
	if err != nil || who == nil {
		return err
	}
	for _, path := range paths {
		if err := os.Chown(path, int(who.Uid), int(who.Gid)); err != nil {
			return err
		}
	}
	return nil
}

// nobody is who servers run as, if this process is root: they refuse to.
func nobody() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: false}, err
}

func (s *server) command(path string, args ...string) (*exec.Cmd, error) {
	who, err := nobody()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...) //nolint:noctx // it is a program of a test, which Stop ends
	cmd.Dir, cmd.Env = s.folder, []string{"LC_ALL=C.UTF-8", "HOME=" + s.folder, "PATH=" + os.Getenv("PATH"), "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return cmd, nil
}

// start starts the program, and waits until ready says yes.
func (s *server) start(ready func(context.Context) error) error {
	log, err := os.OpenFile(filepath.Join(s.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // nobody writes it too
	if err != nil {
		return err
	}
	defer log.Close()
	cmd, err := s.command(s.path, s.args...)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	s.mu.Lock()
	s.cmd, s.done = cmd, done
	s.mu.Unlock()
	return s.await(done, ready)
}

func (s *server) await(done <-chan struct{}, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-done:
			return fmt.Errorf("%s has ended: %s", s.name, s.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w; %s", s.name, err, s.lastWords())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s *server) lastWords() string {
	log, _ := os.ReadFile(filepath.Join(s.folder, "log"))
	return string(log[max(0, len(log)-2000):])
}

// Signal sends the server a signal.
func (s *server) Signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(sig)
	}
}

// end sends a signal and waits until the server has ended.
func (s *server) end(sig syscall.Signal) {
	s.Signal(sig)
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-time.After(startWithin):
		s.Signal(syscall.SIGKILL)
		<-done
	}
}

// Kill ends the server at once, as a crash does.
func (s *server) Kill() { s.end(syscall.SIGKILL) }

// Folder is where the server's files are.
func (s *server) Folder() string { return s.folder }

func (s *server) remove() { _ = os.RemoveAll(s.folder) }

// The ports that servers are given lie below those that systems give to connections: one of these might take a port between its choice and
// the server's start, or while the server is stopped.
const (
	firstPort = 12_000
	ports     = 20_000
)

// freePort is a port of loopback that nobody listens on.
func freePort() (port int, err error) {
	for range 100 {
		port = firstPort + rand.IntN(ports)
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil { //nolint:noctx // it does not wait
			return port, l.Close()
		}
	}
	return 0, err
}
