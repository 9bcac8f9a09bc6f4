package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
