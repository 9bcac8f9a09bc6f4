package doors

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	typescriptExamples = "../../examples/typescript"
	// typescriptVersion is one that no sidecar is older than, and that has a predecessor.
	typescriptVersion = "v0.0.2"
	largestTarball    = 200 << 10
)

// TestTypeScript_BuiltPackage_Holds builds the package, installs it from the tarball, compiles its tests and the agents with it, strictly,
// and runs them.
func TestTypeScript_BuiltPackage_Holds(t *testing.T) {
	need(t, "node", "npm")
	tarball := typescriptTarball(t)
	project := typescriptProject(t, tarball)
	t.Run("promises", func(t *testing.T) {
		node := exec.Command("node", "--test", "--test-reporter=spec", "--test-timeout=60000", "dist/doors.test.js", "dist/channel.test.js", "dist/sizes.test.js")
		t.Log(run(t, typescriptProgram(t, project, node)))
	})
	t.Run("killed between reply and result", func(t *testing.T) { killTypeScript(t, project) })
	for _, sdk := range typescriptAgents() {
		t.Run("agent/"+sdk, func(t *testing.T) {
			t.Parallel()
			agent := exec.Command("node", "dist/agents/"+sdk+".js", t.TempDir(), "Why does billing fail, and what is the weather in Kraków?", "Say that twice.")
			if said := run(t, typescriptProgram(t, project, agent)); strings.Count(said, "FATAL billing") != 3 {
				t.Errorf("the agent said %q", said)
			}
		})
	}
	t.Run("example/monitor", func(t *testing.T) {
		t.Log(run(t, within(project, exec.Command("node", "dist/monitor.js", startSidecar(t)))))
	})
	t.Run("install to first answer", func(t *testing.T) { installTypeScript(t, project, tarball) })
}

// installTypeScript installs what an agent needs into an empty folder, without what npm has kept, until its first answer.
func installTypeScript(t *testing.T, project, tarball string) {
	folder := t.TempDir()
	for _, file := range []string{"openai.js", "tools.js"} {
		copyInto(t, filepath.Join(project, "dist", "agents", file), folder)
	}
	writeInto(t, folder, "package.json", `{"private": true, "type": "module"}`)
	began := time.Now()
	npm := exec.Command("npm", "install", "--cache", t.TempDir(), "--no-audit", "--no-fund", "--loglevel=error", tarball, "openai@7.57.0")
	if output, err := within(folder, npm).CombinedOutput(); err != nil {
		t.Logf("%s", output)
		lacking(t, "the packages could not be installed (is the network there?)")
	}
	installed := time.Since(began)
	run(t, typescriptProgram(t, folder, exec.Command("node", "openai.js", t.TempDir(), "Hello.")))
	answered := time.Since(began)
	if t.Logf("installed after %s, answered after %s", installed, answered); answered > time.Minute {
		t.Errorf("the first answer took %s", answered)
	}
}

// TestTypeScript_Agents_HaveFifteenLines counts what an author writes: imports and tools apart.
func TestTypeScript_Agents_HaveFifteenLines(t *testing.T) {
	apart := regexp.MustCompile(`^\s*(//.*|import .*)?$`)
	for _, sdk := range typescriptAgents() {
		source, err := os.ReadFile(filepath.Join(typescriptExamples, "agents", sdk+".ts"))
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.Lines(string(source)) {
			if !apart.MatchString(strings.TrimRight(line, "\n")) {
				lines++
			}
		}
		if lines == 0 || lines > 15 {
			t.Errorf("%s.ts has %d lines", sdk, lines)
		}
	}
}

// typescriptAgents are the examples, one for each of the providers' APIs.
func typescriptAgents() []string { return []string{"openai", "responses", "anthropic", "gemini"} }

// killTypeScript kills agents when their models have answered and their tools have not, and starts them again.
func killTypeScript(t *testing.T, project string) {
	address := startSidecar(t)
	first := typescriptProgram(t, project, exec.Command("node", "dist/interrupted.js", address, "kill"))
	output, _ := first.CombinedOutput()
	if status, ok := first.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the agent was to be killed, and ended with %s:\n%s", first.ProcessState, output)
	}
	run(t, typescriptProgram(t, project, exec.Command("node", "dist/interrupted.js", address)))
}

// typescriptProgram sets where a program runs, and what it talks to.
func typescriptProgram(t *testing.T, folder string, program *exec.Cmd) *exec.Cmd {
	t.Helper()
	provider := startFakes(t)
	program.Dir = folder
	program.Env = append(os.Environ(), "PALIMPSEST_BINARY="+sidecar, "MODEL=fake", "FAKES="+provider, "OPENAI_BASE_URL="+provider+"/v1", "OPENAI_API_KEY=none",
		"ANTHROPIC_BASE_URL="+provider, "ANTHROPIC_API_KEY=none", "GOOGLE_GEMINI_BASE_URL="+provider, "GEMINI_API_KEY=none")
	return program
}

// typescriptProject is a folder with the package installed from its tarball, the tests and agents compiled with it, and the SDKs above it.
func typescriptProject(t *testing.T, tarball string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Symlink(typescriptModules(t), filepath.Join(root, "node_modules")); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(root, "project")
	copyAll(t, "typescript/*.ts", project)
	copyInto(t, "typescript/tsconfig.json", project)
	copyAll(t, typescriptExamples+"/*.ts", project)
	copyAll(t, typescriptExamples+"/agents/*.ts", filepath.Join(project, "agents"))
	writeInto(t, project, "package.json", `{"private": true, "type": "module"}`)
	npm := exec.Command("npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", tarball)
	if output, err := within(project, npm).CombinedOutput(); err != nil {
		t.Logf("%s", output)
		lacking(t, "the package could not be installed (is the network there?)")
	}
	run(t, exec.Command(filepath.Join(root, "node_modules", ".bin", "tsc"), "--project", project))
	return project
}

// typescriptModules is the folder with what typescript/package-lock.json pins, or with the newest.
func typescriptModules(t *testing.T) string {
	t.Helper()
	if newest != "" {
		return filepath.Join(newest, "typescript", "node_modules")
	}
	modules, err := filepath.Abs("typescript/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(modules); err == nil {
		return modules
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	if output, err := within("typescript", npm).CombinedOutput(); err != nil {
		t.Logf("%s", output)
		lacking(t, "what test/doors/typescript/package.json names could not be installed (is the network there?)")
	}
	return modules
}

// typescriptTarball builds the package.
func typescriptTarball(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	run(t, exec.Command("../../clients/typescript/build.sh", typescriptVersion, folder))
	tarball := filepath.Join(folder, "palimpsest-context-"+strings.TrimPrefix(typescriptVersion, "v")+".tgz")
	info, err := os.Stat(tarball)
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("the tarball has %d bytes", info.Size()); info.Size() > largestTarball {
		t.Errorf("the tarball has %d bytes, more than %d", info.Size(), largestTarball)
	}
	return tarball
}
