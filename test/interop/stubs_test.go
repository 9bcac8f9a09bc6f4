package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pythonStubs generates stubs and returns their folder.
func pythonStubs(t *testing.T, python string) string {
	t.Helper()
	out := t.TempDir()
	generate(t, python, nil, append([]string{"--python_out=" + out, "--grpc_python_out=" + out}, protos(t)...))
	return out
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
