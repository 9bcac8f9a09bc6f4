package process

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build compiles the sidecar of the repository that root, a relative path, leads to, into a folder.
func Build(folder, root string) (binary string, err error) {
	binary = filepath.Join(folder, "sidecar")
	build := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", binary, "./cmd/sidecar")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the sidecar: %w\n%s", err, output)
	}
	return binary, nil
}
