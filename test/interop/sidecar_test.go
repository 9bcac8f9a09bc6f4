package interop

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// buildSidecar compiles the binary that ships.
func buildSidecar(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "sidecar")
	build := exec.Command("go", "build", "-o", binary, "./cmd/sidecar")
	build.Dir = repository(t)
	run(t, build)
	return binary
}

func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// run runs a command to its end and fails with what it wrote.
func run(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, output)
	}
	return string(output)
}

// startTCP runs a sidecar on a free port until the test ends, and returns its address.
func startTCP(t *testing.T, binary string) string {
	t.Helper()
	log := start(t, binary, "127.0.0.1:0")
	var address string
	await(t, log, func() bool {
		address = portOf.FindString(log.String())
		return address != "" && dials("tcp", address)
	})
	return address
}

// startUnix runs a sidecar on a Unix socket until the test ends, and returns its target. The folder's name is short, because
// a socket's path may have about a hundred bytes.
func startUnix(t *testing.T, binary string) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "palimpsest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "s.sock")
	log := start(t, binary, "unix://"+socket)
	await(t, log, func() bool { return dials("unix", socket) })
	return "unix://" + socket
}

var portOf = regexp.MustCompile(`127\.0\.0\.1:[1-9]\d*`)

func start(t *testing.T, binary, listen string) *logged {
	t.Helper()
	log := &logged{}
	sidecar := exec.Command(binary, "serve", "--listen", listen, "--store", "bolt", "--data-dir", t.TempDir())
	sidecar.Stdout, sidecar.Stderr = log, log
	if err := sidecar.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sidecar.Process.Signal(syscall.SIGTERM)
		_ = sidecar.Wait()
		if t.Failed() {
			t.Logf("the sidecar on %s logged:\n%s", listen, log)
		}
	})
	return log
}

func await(t *testing.T, log *logged, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ready() {
			return
		}
	}
	t.Fatalf("the sidecar is not ready after 20 s; it logged:\n%s", log)
}

func dials(network, address string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	connection, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		_ = connection.Close()
	}
	return err == nil
}

// logged is a buffer that a child process writes while the test reads it.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
