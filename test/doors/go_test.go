package doors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goVersion is that of the module in a program that uses it: one that no sidecar of a test is older than, unless it says so.
const goVersion = "v0.0.2"

// mostGoLines are as many as an agent in Go may have.
const mostGoLines = 25

// TestGo_Module_Holds builds the scenarios and the agent as programs of another module, and runs them.
func TestGo_Module_Holds(t *testing.T) {
	t.Parallel()
	programs := goPrograms(t)
	s := &scenarios{play: func(arguments ...string) *exec.Cmd {
		return exec.Command(filepath.Join(programs, "scenarios"), arguments...)
	}}
	s.hold(t)
	t.Run("agent", func(t *testing.T) {
		agent := exec.Command(filepath.Join(programs, "agent"), "Why does billing fail?", "Say that twice.")
		expectAgent(t, agent)
		expectLines(t, "../../examples/go/agent.go", mostGoLines)
	})
}

// TestGo_Module_ImportsLittle holds what the package brings into a program: the API, gRPC, and what these need.
func TestGo_Module_ImportsLittle(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "../../clients/go")
	for dependency := range strings.FieldsSeq(run(t, list)) {
		inside := strings.HasPrefix(dependency, "github.com/palimpsest-context/palimpsest/")
		ours := strings.HasPrefix(dependency, "github.com/palimpsest-context/palimpsest/gen/") ||
			strings.HasPrefix(dependency, "github.com/palimpsest-context/palimpsest/clients/")
		if inside && !ours || !inside && !strings.HasPrefix(dependency, "google.golang.org/") && !strings.HasPrefix(dependency, "golang.org/x/") {
			t.Errorf("the package imports %s", dependency)
		}
	}
}

// goPrograms builds programs of a module of their own, which has this one from a folder.
func goPrograms(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	copyAll(t, "go/*.go", filepath.Join(folder, "scenarios"))
	copyAll(t, "../../examples/go/*.go", filepath.Join(folder, "agent"))
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	writeInto(t, folder, "go.sum", string(sums))
	const module = "github.com/palimpsest-context/palimpsest"
	writeInto(t, folder, "go.mod", "module program\n\ngo 1.26\n\nrequire "+module+" "+goVersion+"\n\nreplace "+module+" => "+root+"\n")
	if newest != "" {
		t.Log(run(t, within(folder, exec.Command("go", "get", "google.golang.org/grpc@latest", "google.golang.org/protobuf@latest"))))
	}
	run(t, within(folder, exec.Command("go", "build", "-mod=mod", "-buildvcs=false", "-o", "bin/", "./scenarios", "./agent")))
	return filepath.Join(folder, "bin")
}
