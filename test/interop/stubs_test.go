package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pythonStubs generates stubs, with types and comments for editors beside them, and returns their folder.
func pythonStubs(t *testing.T, python string) string {
	t.Helper()
	out := t.TempDir()
	arguments := []string{"--python_out=" + out, "--grpc_python_out=" + out}
	for plugin, entry := range map[string]string{"mypy": "main", "mypy_grpc": "grpc"} {
		program := pythonPlugin(t, python, plugin, entry)
		arguments = append(arguments, "--plugin=protoc-gen-"+plugin+"="+program, "--"+plugin+"_out=quiet:"+out)
	}
	generate(t, python, nil, append(arguments, protos(t)...))
	return out
}

// pythonPlugin writes a program that calls a plugin of mypy-protobuf. The ones that pip wrote name the folder in which the environment
// was filled, and it has another name since.
func pythonPlugin(t *testing.T, python, name, entry string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "protoc-gen-"+name)
	code := "#!" + python + "\nfrom mypy_protobuf.main import " + entry + "\n" + entry + "()\n"
	if err := os.WriteFile(program, []byte(code), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

// javaClassPath is where the compiled stubs are, and the libraries that they need. Compiling them takes long: they are kept as long
// as the protos stay as they are.
func javaClassPath(t *testing.T) string {
	t.Helper()
	need(t, "javac", "mvn")
	version := run(t, exec.Command("javac", "-version"))
	libraries := cached(t, "java libraries", version, []string{javaProject}, func(folder string) {
		if output, err := maven(t, folder, "dependency:copy-dependencies", "-DoutputDirectory=lib").CombinedOutput(); err != nil {
			t.Logf("%s", output)
			lacking(t, "what test/interop/"+javaProject+" depends on could not be installed (is the network there?)")
		}
	})
	files := []string{javaProject}
	for _, proto := range protos(t) {
		files = append(files, filepath.Join(repository(t), "proto", proto))
	}
	stubs := cached(t, "java stubs", version, files, func(folder string) {
		project := t.TempDir()
		copyTree(t, filepath.Join(repository(t), "proto"), filepath.Join(project, "proto"))
		run(t, maven(t, project, "compile"))
		copyTree(t, filepath.Join(project, "target", "classes"), folder)
	})
	return stubs + string(os.PathListSeparator) + filepath.Join(libraries, "lib", "*")
}

const javaProject = "java/pom.xml"

// maven runs goals of the project in a folder, to which it copies it.
func maven(t *testing.T, folder string, goals ...string) *exec.Cmd {
	t.Helper()
	copyFile(t, javaProject, filepath.Join(folder, filepath.Base(javaProject)))
	command := exec.Command("mvn", append([]string{"--batch-mode", "--quiet"}, goals...)...)
	command.Dir = folder
	// It compiles for seconds, in which optimizing itself does not pay: half the time.
	command.Env = append(os.Environ(), "MAVEN_OPTS="+briefJVM)
	return command
}

const briefJVM = "-XX:TieredStopAtLevel=1"

// javaProgram runs one source file.
func javaProgram(classPath, program string, arguments ...string) *exec.Cmd {
	return exec.Command("java", append([]string{briefJVM, "-Dfile.encoding=UTF-8", "-cp", classPath, program}, arguments...)...)
}

// typescriptProject lays out a folder that tsc can compile: configuration, stubs under gen/, node_modules.
func typescriptProject(t *testing.T, python, modules string) string {
	t.Helper()
	project := t.TempDir()
	for _, file := range []string{"package.json", "tsconfig.json"} {
		copyFile(t, filepath.Join("typescript", file), filepath.Join(project, file))
	}
	if err := os.Symlink(modules, filepath.Join(project, "node_modules")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(project, "gen")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(modules, ".bin", "protoc-gen-ts_proto")
	options := "outputServices=grpc-js,env=node,esModuleInterop=true,importSuffix=.js,forceLong=bigint,oneof=unions-value,useOptionals=all"
	// The shapes of an error's details are Google's; Python's package of them carries the protos.
	google := filepath.Join(strings.TrimSpace(run(t, exec.Command(python, "-c", "import google.rpc, os; print(os.path.dirname(list(google.rpc.__path__)[0]))"))), "..")
	arguments := []string{"--plugin=protoc-gen-ts_proto=" + plugin, "--ts_proto_out=" + out, "--ts_proto_opt=" + options}
	arguments = append(arguments, "google/rpc/status.proto", "google/rpc/error_details.proto")
	generate(t, python, []string{google}, append(arguments, protos(t)...))
	return project
}

// generate runs protoc, which Python's grpcio-tools holds.
func generate(t *testing.T, python string, includes, arguments []string) {
	t.Helper()
	protoc := []string{"-m", "grpc_tools.protoc", "--proto_path=" + filepath.Join(repository(t), "proto")}
	for _, include := range includes {
		protoc = append(protoc, "--proto_path="+filepath.Clean(include))
	}
	run(t, exec.Command(python, slices.Concat(protoc, arguments)...))
}

// compile runs tsc over the project and returns the folder of what it made.
func compile(t *testing.T, project string) string {
	t.Helper()
	tsc := exec.Command(filepath.Join(project, "node_modules", ".bin", "tsc"), "--project", project)
	run(t, tsc)
	return filepath.Join(project, "dist")
}

func pythonProgram(python, stubs, program string, arguments ...string) *exec.Cmd {
	command := exec.Command(python, append([]string{program}, arguments...)...)
	command.Env = append(os.Environ(), "PYTHONPATH="+stubs, "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1")
	return command
}
