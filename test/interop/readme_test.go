package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The address that the examples dial.
const readmeAddress = "127.0.0.1:7171"

// TestReadme_Examples_RunAgainstSidecar runs the first programs of README and docs/clients.md as they stand, but for the address.
func TestReadme_Examples_RunAgainstSidecar(t *testing.T) {
	need(t, "go")
	address, _ := startSidecar(t, buildSidecar(t))

	t.Run("go", func(t *testing.T) {
		program := writeExample(t, "go", address, filepath.Join(t.TempDir(), "main.go"))
		command := exec.Command("go", "run", program)
		command.Dir = repository(t)
		expectContext(t, run(t, command))
	})
	t.Run("python", func(t *testing.T) {
		python := python(t)
		program := writeExample(t, "python", address, filepath.Join(t.TempDir(), "example.py"))
		expectContext(t, run(t, pythonProgram(python, pythonStubs(t, python), program)))
	})
	t.Run("typescript", func(t *testing.T) {
		modules := nodeModules(t)
		project := typescriptProject(t, python(t), modules)
		writeExample(t, "ts", address, filepath.Join(project, "example.ts"))
		expectContext(t, run(t, exec.Command("node", filepath.Join(compile(t, project), "example.js"))))
	})
}

func expectContext(t *testing.T, output string) {
	t.Helper()
	for _, want := range []string{`"role":"user"`, "Kraków"} {
		if !strings.Contains(strings.ReplaceAll(output, `": "`, `":"`), want) {
			t.Errorf("the example printed no context with %s:\n%s", want, output)
		}
	}
}

// writeExample writes the one code block of a language that README and docs/clients.md have, beside those taken from examples, to a file.
func writeExample(t *testing.T, language, address, file string) string {
	t.Helper()
	pages := read(t, "../../README.md") + read(t, "../../docs/clients.md")
	blocks := strings.Split(taken.ReplaceAllString(pages, ""), "\n```"+language+"\n")
	if len(blocks) != 2 {
		t.Fatalf("README.md and docs/clients.md have %d blocks of %s, not one", len(blocks)-1, language)
	}
	code, _, _ := strings.Cut(blocks[1], "\n```")
	if !strings.Contains(code, readmeAddress) {
		t.Fatalf("the example in %s does not dial %s", language, readmeAddress)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(code, readmeAddress, address)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
