// Package doors tests the clients' packages and the adapters: built, installed from the built files, and let loose on fake providers that
// refuse what the providers refuse.
package doors

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// Programs that all tests run.
var sidecar, fakes string

func TestMain(m *testing.M) { os.Exit(withFakes(m)) }

func withFakes(m *testing.M) (status int) {
	folder, err := os.MkdirTemp("", "palimpsest")
	if err == nil {
		defer func() { _ = os.RemoveAll(folder) }()
		fakes = filepath.Join(folder, "fakes")
		err = exec.Command("go", "build", "-o", fakes, "./fakes").Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the fakes:", err)
		return 1
	}
	return process.Main(m, &sidecar)
}

// newest is the folder with what scripts/test-doors-newest.sh has installed: the newest versions that the registries serve, by adapter and
// client, which are tested in place of the locked ones. It is empty where those are tested.
var newest = os.Getenv("PALIMPSEST_DOORS_NEWEST")

// startFakes runs the fake providers until the test ends, and returns their URL.
func startFakes(t *testing.T) string {
	t.Helper()
	command := exec.Command(fakes, "-listen", "127.0.0.1:0")
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

// need skips the test if a program is missing, and says which. In CI that is a failure: a test that skips there proves nothing.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			lacking(t, program+" is not installed")
		}
	}
}

func lacking(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what + ": what needs it was not tested")
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

// within sets the folder in which a program runs.
func within(folder string, program *exec.Cmd) *exec.Cmd {
	program.Dir = folder
	return program
}

// startSidecar runs a sidecar until the test ends, and returns its address.
func startSidecar(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "doors") // a socket's path may have about a hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "s.sock")
	command := exec.Command(sidecar, "serve", "--store", "memory", "--listen", "unix://"+socket)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
		_ = os.RemoveAll(folder)
	})
	return "unix://" + socket
}

func copyInto(t *testing.T, file, folder string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeInto(t, folder, filepath.Base(file), string(content))
}

func copyAll(t *testing.T, pattern, folder string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files: %v", pattern, err)
	}
	for _, file := range files {
		copyInto(t, file, folder)
	}
}

func writeInto(t *testing.T, folder, name, content string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
