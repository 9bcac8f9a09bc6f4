package interop

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

const examples = "../../examples"

// TestExamples_EachHoldsAgainstSidecar runs the programs under examples. Each checks what it shows, turn by turn. The one in Go,
// examples/citations, is run by the tests of cmd/sidecar: it needs no other language, so it must not be skipped for the lack of one. Those that
// speak through a package are run by test/doors.
func TestExamples_EachHoldsAgainstSidecar(t *testing.T) {
	need(t, "go")
	port := freePort(t)
	address, _ := startSidecar(t, buildSidecar(t), "--openai-url", "http://127.0.0.1:"+port+"/v1")

	t.Run("python", func(t *testing.T) {
		python := python(t)
		client := filepath.Join(repository(t), "clients", "python", "src")
		for _, program := range pythonExamples(t) {
			t.Run(strings.TrimSuffix(filepath.Base(program), ".py"), func(t *testing.T) {
				t.Log(run(t, pythonProgram(python, client, program, address, port)))
			})
		}
	})
}

// pythonExamples lists the programs, but for the one that the others share.
func pythonExamples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(examples, "python", "*.py"))
	if err != nil {
		t.Fatal(err)
	}
	var programs []string
	for _, file := range files {
		if filepath.Base(file) != "agent.py" {
			programs = append(programs, file)
		}
	}
	if len(programs) == 0 {
		t.Fatal("there are no examples in Python")
	}
	return programs
}

// freePort is a port that nobody listens on: an example plays a model there.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
