package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPythonStubs_Editor_SeesCommentsAndTypes reads the stubs as an editor does: a field has the comment of its proto, and a strict
// checker tells a client that is right from one that is not.
func TestPythonStubs_Editor_SeesCommentsAndTypes(t *testing.T) {
	need(t, "go")
	python := python(t)
	stubs := pythonStubs(t, python)

	t.Run("comments", func(t *testing.T) {
		types := read(t, filepath.Join(stubs, "palimpsest", "v1", "context_service_pb2.pyi"))
		_, types, _ = strings.Cut(types, "\nclass BuildContextRequest(")
		types, _, _ = strings.Cut(types, "\nclass ")
		if want := protoComment(t); !strings.Contains(types, "    same_turn: _builtins.bool\n    \"\"\""+want) {
			t.Errorf("BuildContextRequest.same_turn does not say %q:\n%.3000s", want, types)
		}
	})
	t.Run("types", func(t *testing.T) {
		run(t, mypy(t, python, stubs, "python/typed.py"))
	})
	t.Run("wrong type", func(t *testing.T) {
		wrong := filepath.Join(t.TempDir(), "wrong.py")
		program := strings.Replace(read(t, "python/typed.py"), "same_turn=True", `same_turn="yes"`, 1)
		if err := os.WriteFile(wrong, []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		output, err := mypy(t, python, stubs, wrong).CombinedOutput()
		if err == nil || !strings.Contains(string(output), `"same_turn"`) || !strings.Contains(string(output), "Found 1 error ") {
			t.Errorf("a text for same_turn was not refused, and it alone: %v\n%s", err, output)
		}
	})
	t.Run("running", func(t *testing.T) {
		address, _ := startSidecar(t, buildSidecar(t))
		run(t, pythonProgram(python, stubs, "python/typed.py", address))
	})
}

// protoComment is the first line of the comment of BuildContextRequest.same_turn, as the proto has it.
func protoComment(t *testing.T) string {
	t.Helper()
	proto := read(t, filepath.Join(repository(t), "proto", "palimpsest", "v1", "context_service.proto"))
	_, request, _ := strings.Cut(proto, "\nmessage BuildContextRequest {")
	comment := regexp.MustCompile(`;\n  // (.+)\n(?:  // .*\n)*  bool same_turn = `).FindStringSubmatch(request)
	if comment == nil {
		t.Fatal("the proto has no comment of BuildContextRequest.same_turn")
	}
	return comment[1]
}

func mypy(t *testing.T, python, stubs, program string) *exec.Cmd {
	t.Helper()
	command := exec.Command(python, "-m", "mypy", "--strict", "--cache-dir="+filepath.Join(filepath.Dir(stubs), "mypy"), program)
	command.Env = append(os.Environ(), "MYPYPATH="+stubs)
	return command
}
