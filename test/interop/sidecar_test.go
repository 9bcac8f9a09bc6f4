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

	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// buildSidecar compiles the binary that ships.
func buildSidecar(t *testing.T) string {
	t.Helper()
	binary, err := process.Build(t.TempDir(), "../..")
	if err != nil {
		t.Fatal(err)
	}
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

// startSidecar runs a sidecar on a free port and on a Unix socket until the test ends, and returns both targets. The socket's
// folder has a short name, because a socket's path may have about a hundred bytes.
func startSidecar(t *testing.T, binary string, flags ...string) (tcp, unix string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "palimpsest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "s.sock")
	log := start(t, binary, append([]string{"--listen", "127.0.0.1:0", "--listen", "unix://" + socket}, flags...)...)
	await(t, log, func() bool {
		tcp = portOf.FindString(log.String())
		return tcp != "" && dials("tcp", tcp) && dials("unix", socket)
	})
	return tcp, "unix://" + socket
}

var portOf = regexp.MustCompile(`127\.0\.0\.1:[1-9]\d*`)

func start(t *testing.T, binary string, flags ...string) *logged {
	t.Helper()
	log := &logged{}
	sidecar := exec.Command(binary, append([]string{"serve", "--store", "bolt", "--data-dir", t.TempDir()}, flags...)...)
	sidecar.Stdout, sidecar.Stderr = log, log
	if err := sidecar.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sidecar.Process.Signal(syscall.SIGTERM)
		if err := sidecar.Wait(); err != nil {
			t.Errorf("the sidecar ended with %v", err)
		}
		if t.Failed() {
			t.Logf("the sidecar logged:\n%s", log)
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
