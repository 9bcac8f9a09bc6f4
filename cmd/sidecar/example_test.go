package main

import (
	"context"
	"os/exec"
	"testing"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
)

// TestExample_Citations_HoldsAgainstSidecar runs the program under examples/citations, which checks each thing that it shows.
func TestExample_Citations_HoldsAgainstSidecar(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	conn, ended := launch(ctx, t, config.Private(t.TempDir()))
	program := exec.CommandContext(ctx, "go", "run", "./examples/citations", "-address", conn.Target())
	program.Dir = "../.."
	output, err := program.CombinedOutput()
	if err != nil {
		t.Errorf("%v:\n%s", err, output)
	}
	t.Logf("%s", output)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
