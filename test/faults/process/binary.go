package process

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
)

// Build compiles the sidecar of the repository that root, a relative path, leads to.
func Build(t testing.TB, root string) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "sidecar")
	build := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", binary, "./cmd/sidecar")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the sidecar: %v\n%s", err, output)
	}
	return binary
}
