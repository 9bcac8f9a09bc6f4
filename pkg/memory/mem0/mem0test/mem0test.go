// Package mem0test starts Mem0 for tests: the routes of its server over the real package, whose model answers by rules.
package mem0test

import (
	"bufio"
	"bytes"
	_ "embed" // server.py
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

//go:embed server.py
var server string

// Python names the variable that holds the interpreter with the packages of requirements.txt; `make test-memory` sets it.
const Python = "PALIMPSEST_MEM0_PYTHON"

// Secrets that the server knows. The administrator's may delete all memories of somebody at once.
const (
	AdminKey = "m0-admin-key-of-tests"
	UserKey  = "m0-user-key-of-tests"
)

const startTime = 2 * time.Minute

// Server is a running one.
type Server struct {
	*Faults
	URL    string
	Folder string // where it keeps what it keeps
}

// Start runs a server until the test ends, with nothing in it. Without an interpreter it leaves the test out, and says so.
func Start(t testing.TB) *Server {
	t.Helper()
	python := os.Getenv(Python)
	if python == "" {
		t.Skip("it runs the package mem0ai: make test-memory installs and runs it")
	}
	folder := t.TempDir()
	script := filepath.Join(folder, "server.py")
	if err := os.WriteFile(script, []byte(server), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, script, folder, AdminKey, UserKey) //nolint:gosec,noctx // whoever runs the tests names the interpreter; it ends with its input
	said := &log{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends with its input
		if cmd.Wait() != nil || t.Failed() {
			t.Logf("the server said:\n%s", said.text())
		}
	})
	killer := time.AfterFunc(startTime, func() { _ = cmd.Process.Kill() })
	defer killer.Stop()
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server did not start:\n%s", said.text())
	}
	target := &url.URL{Scheme: "http", Host: "127.0.0.1:" + strings.TrimSpace(port)}
	faults := Before(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	front := httptest.NewServer(faults)
	t.Cleanup(front.Close)
	return &Server{Faults: faults, URL: front.URL, Folder: folder}
}

// log keeps what a program says.
type log struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

// Write implements io.Writer.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes.Write(p)
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes.String()
}
