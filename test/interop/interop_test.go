package interop

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestClients_AgentLoop_OverTCPAndUnix runs agent loops in each language. Those in Python and TypeScript are whole: bad input,
// retries, a result of 5 MB, all formats, export and import. The one in Java appends, builds, expands, and reads errors.
func TestClients_AgentLoop_OverTCPAndUnix(t *testing.T) {
	need(t, "go")
	tcp, unix := startSidecar(t, buildSidecar(t))
	targets := []string{tcp, unix}

	t.Run("python", func(t *testing.T) {
		python := python(t)
		t.Log(run(t, pythonProgram(python, pythonStubs(t, python), "python/loop.py", targets...)))
	})
	t.Run("typescript", func(t *testing.T) {
		modules := nodeModules(t)
		project := typescriptProject(t, python(t), modules)
		for _, file := range []string{"client.ts", "loop.ts"} {
			copyFile(t, filepath.Join("typescript", file), filepath.Join(project, file))
		}
		program := filepath.Join(compile(t, project), "loop.js")
		t.Log(run(t, exec.Command("node", append([]string{program}, targets...)...)))
	})
	t.Run("java", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			targets = []string{tcp} // gRPC's transport for Unix sockets in Java is Linux's
		}
		t.Log(run(t, javaProgram(javaClassPath(t), "java/Loop.java", targets...)))
	})
}
