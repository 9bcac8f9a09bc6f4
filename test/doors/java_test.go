package doors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	// javaVersion is that of the package in the scenarios: one that no sidecar of a test is older than, unless it says so.
	javaVersion   = "v0.0.2"
	mostJavaLines = 30
	// briefJVM: programs that run for seconds gain nothing by optimizing themselves.
	briefJVM = "-XX:TieredStopAtLevel=1"
)

// TestJava_BuiltJar_Holds builds the jar, and runs the scenarios and the agent with it and with what its pom names.
func TestJava_BuiltJar_Holds(t *testing.T) {
	t.Parallel()
	need(t, "javac", "mvn")
	jar, pom := javaJar(t)
	began := time.Now()
	path := jar + string(os.PathListSeparator) + filepath.Join(javaLibraries(t, pom), "*")
	classes := javaClasses(t, path, "java/Scenarios.java", "java/JsonChecks.java", "../../examples/java/Agent.java", "../../examples/java/Tools.java")
	program := func(name string, arguments ...string) *exec.Cmd {
		command := exec.Command("java", briefJVM, "-Dfile.encoding=UTF-8", "-cp", classes+string(os.PathListSeparator)+path, name)
		command.Args = append(command.Args, arguments...)
		return command
	}
	t.Run("agent", func(t *testing.T) {
		expectAgent(t, program("Agent", "Why does billing fail?", "Say that twice."))
		t.Logf("installed, compiled and answered after %s", time.Since(began))
		expectLines(t, "../../examples/java/Agent.java", mostJavaLines)
	})
	t.Run("checks", func(t *testing.T) {
		if said := run(t, program("io.github.palimpsest_context.JsonChecks")); !strings.HasSuffix(said, "checks held\n") {
			t.Errorf("the checks said %q", said)
		}
	})
	s := &scenarios{play: func(arguments ...string) *exec.Cmd { return program("Scenarios", arguments...) }}
	s.hold(t)
	t.Run("local over loopback", func(t *testing.T) {
		t.Parallel()
		provider := startFakes(t)
		command := program("Scenarios", "toy", "local-tcp", provider, "toy", "openai")
		command.Env = append(os.Environ(), "PALIMPSEST_BINARY="+sidecar)
		run(t, command)
		expectToy(t, provider)
	})
}

// javaJar builds the jar and its pom.
func javaJar(t *testing.T) (jar, pom string) {
	t.Helper()
	folder := t.TempDir()
	if output, err := exec.Command("../../clients/java/build.sh", javaVersion, folder).CombinedOutput(); err != nil {
		t.Logf("%s", output)
		lacking(t, "the jar could not be built (is the network there?)")
	}
	name := filepath.Join(folder, "palimpsest-context-"+strings.TrimPrefix(javaVersion, "v"))
	return name + ".jar", name + ".pom"
}

// javaLibraries is a folder with what a pom names, or with the newest of it.
func javaLibraries(t *testing.T, pom string) string {
	t.Helper()
	if newest != "" {
		return filepath.Join(newest, "java")
	}
	folder := t.TempDir()
	maven := exec.Command("mvn", "--batch-mode", "--quiet", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+folder)
	maven.Env = append(os.Environ(), "MAVEN_OPTS="+briefJVM)
	if output, err := maven.CombinedOutput(); err != nil {
		t.Logf("%s", output)
		lacking(t, "what the jar needs could not be installed (is the network there?)")
	}
	return folder
}

// javaClasses compiles programs as their authors would.
func javaClasses(t *testing.T, path string, sources ...string) string {
	t.Helper()
	folder := t.TempDir()
	run(t, exec.Command("javac", append([]string{"-J" + briefJVM, "--release", "11", "-Xlint:all,-classfile", "-Werror", "-encoding", "UTF-8", "-cp", path, "-d", folder}, sources...)...))
	return folder
}
