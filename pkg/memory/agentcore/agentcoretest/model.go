package agentcoretest

import (
	"bufio"
	_ "embed" // check.py
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

//go:embed testdata/check.py
var program string

// Python names the variable that holds the interpreter with the packages of requirements.txt; `make test-memory` sets it.
const Python = "PALIMPSEST_BOTOCORE_PYTHON"

// Model is AWS's model of the service, as botocore brings it, in a process of its own. Its methods are safe for concurrent use.
type Model struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

// StartModel starts the process, which ends with the test. Without an interpreter it leaves the test out, and says so.
func StartModel(t testing.TB) *Model {
	t.Helper()
	python := os.Getenv(Python)
	if python == "" {
		t.Skip("it holds requests to botocore's model of AWS: make test-memory installs and runs it")
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", program) //nolint:gosec // whoever runs the test says which
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &Model{in: in, out: bufio.NewReader(out)}
}

// verdict is what the model says.
type verdict struct {
	Operation string
	Code      string
	Message   string
}

func (m *Model) ask(t testing.TB, question any) (v verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := json.NewEncoder(m.in).Encode(question); err != nil {
		t.Errorf("the model is gone: %v", err)
		return v
	}
	line, err := m.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &v)
	}
	if err != nil {
		t.Errorf("the model does not answer: %v", err)
	}
	return v
}

// checkRequest says what is wrong with a request, as the service would.
func (m *Model) checkRequest(t testing.TB, r *http.Request, body []byte, operation string) *failure {
	headers := map[string]string{"host": r.Host}
	for name := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(r.Header[name], ",")
	}
	v := m.ask(t, map[string]any{
		"method": r.Method, "uri": r.RequestURI, "headers": headers, "body": body, "key": Key, "secret": Secret,
	})
	switch {
	case v.Code == "ValidationException":
		return invalid(v.Message)
	case v.Code != "":
		return &failure{status: http.StatusForbidden, code: v.Code, message: v.Message}
	case v.Operation != operation:
		t.Errorf("the model takes %s for %s", operation, v.Operation)
	}
	return nil
}

// checkAnswer fails the test if an answer is none of the service's.
func (m *Model) checkAnswer(t testing.TB, operation string, body []byte) {
	if m == nil {
		return
	}
	if v := m.ask(t, map[string]any{"answer": operation, "body": body}); v.Message != "" {
		t.Errorf("the server answers what AgentCore would not: %s", v.Message)
	}
}
