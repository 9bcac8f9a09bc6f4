package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binaryVariable names, by an absolute path, a sidecar that is built already, for all packages of a run. `make test` sets it.
const binaryVariable = "PALIMPSEST_TEST_SIDECAR"

// Build compiles the sidecar of the repository that root, a relative path, leads to, into a folder; unless whoever runs the tests has
// built it.
func Build(folder, root string) (binary string, err error) {
	if binary = os.Getenv(binaryVariable); binary != "" {
		_, err := os.Stat(binary)
		return binary, err
	}
	binary = filepath.Join(folder, "sidecar")
	build := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", binary, "./cmd/sidecar")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the sidecar: %w\n%s", err, output)
	}
	return binary, nil
}

// Main runs the tests of a package two folders below the root. Before them it builds the sidecar, and says where.
func Main(m *testing.M, binary *string) (status int) {
	folder, err := os.MkdirTemp("", "palimpsest")
	if err == nil {
		defer func() { _ = os.RemoveAll(folder) }()
		*binary, err = Build(folder, "../..")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
