package doors

import (
	"archive/zip"
	"bytes"
	"io"
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
	// newestGRPC and newestProtobuf are what an application may have beside the package, whose stubs are of older ones.
	newestGRPC, newestProtobuf = "1.85.1", "4.36.2"
)

// TestJava_BuiltJar_Holds builds the jar, and runs the scenarios, the checks and the agent with it and with what its pom names; the scenarios
// of streams and lists, and the checks, with the newest libraries too.
func TestJava_BuiltJar_Holds(t *testing.T) {
	t.Parallel()
	need(t, "javac", "mvn")
	jar, pom := javaJar(t)
	began := time.Now()
	path := jar + string(os.PathListSeparator) + filepath.Join(javaLibraries(t, pom), "*")
	sources, err := filepath.Glob("java/*.java")
	if err != nil {
		t.Fatal(err)
	}
	classes := javaClasses(t, path, append(sources, "../../examples/java/Agent.java", "../../examples/java/Tools.java")...)
	with := func(path, name string, arguments ...string) *exec.Cmd {
		command := exec.Command("java", briefJVM, "-Dfile.encoding=UTF-8", "-cp", classes+string(os.PathListSeparator)+path, name)
		command.Args = append(command.Args, arguments...)
		command.Env = append(os.Environ(), "PALIMPSEST_BINARY="+sidecar)
		return command
	}
	program := func(name string, arguments ...string) *exec.Cmd { return with(path, name, arguments...) }
	t.Run("agent", func(t *testing.T) {
		expectAgent(t, program("Agent", "Why does billing fail?", "Say that twice."))
		t.Logf("installed, compiled and answered after %s", time.Since(began))
		expectLines(t, "../../examples/java/Agent.java", mostJavaLines)
	})
	t.Run("checks", func(t *testing.T) {
		if said := run(t, program("io.github.palimpsest_context.JsonChecks")); !strings.HasSuffix(said, "checks held\n") {
			t.Errorf("the checks said %q", said)
		}
		t.Logf("%s", run(t, program("Checks")))
	})
	t.Run("newest libraries", func(t *testing.T) {
		t.Parallel()
		newest := javaLibraries(t, pom, "-Dgrpc.version="+newestGRPC, "-Dprotobuf.version="+newestProtobuf)
		path := jar + string(os.PathListSeparator) + filepath.Join(newest, "*")
		run(t, with(path, "Checks", "contents", "refused", "tools", "close"))
		s := &scenarios{play: func(arguments ...string) *exec.Cmd { return with(path, "Scenarios", arguments...) }}
		t.Run("stream", func(t *testing.T) { s.toy(t, "stream", "openai") })
		t.Run("local", s.local)
	})
	s := &scenarios{play: func(arguments ...string) *exec.Cmd { return program("Scenarios", arguments...) }}
	s.hold(t)
	t.Run("local over loopback", func(t *testing.T) {
		t.Parallel()
		provider := startFakes(t)
		run(t, program("Scenarios", "toy", "local-tcp", provider, "toy", "openai"))
		expectToy(t, provider)
	})
}

// javaJar builds the jar and its pom, and those of sources and Javadoc beside it.
func javaJar(t *testing.T) (jar, pom string) {
	t.Helper()
	folder := t.TempDir()
	if output, err := exec.Command("../../clients/java/build.sh", javaVersion, folder).CombinedOutput(); err != nil {
		t.Logf("%s", output)
		lacking(t, "the jar could not be built (is the network there?)")
	}
	name := filepath.Join(folder, "palimpsest-context-"+strings.TrimPrefix(javaVersion, "v"))
	for jar, entry := range map[string]string{
		name + ".jar":         "Automatic-Module-Name: io.github.palimpsest_context",
		name + "-sources.jar": "final class Conversation",
		name + "-javadoc.jar": "Conversation",
	} {
		expectEntry(t, jar, entry)
	}
	return name + ".jar", name + ".pom"
}

// expectEntry finds a text in an entry of a jar.
func expectEntry(t *testing.T, jar, text string) {
	t.Helper()
	read, err := zip.OpenReader(jar)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	for _, file := range read.File {
		entry, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(entry)
		if err == nil && bytes.Contains(content, []byte(text)) {
			return
		}
	}
	t.Errorf("%s says nowhere %q", filepath.Base(jar), text)
}

// javaLibraries is a folder with what a pom names, in versions of its own or others, or with the newest of it.
func javaLibraries(t *testing.T, pom string, versions ...string) string {
	t.Helper()
	if newest != "" {
		return filepath.Join(newest, "java")
	}
	folder := t.TempDir()
	maven := exec.Command("mvn", "--batch-mode", "--quiet", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+folder)
	maven.Args = append(maven.Args, versions...)
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
