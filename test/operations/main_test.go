package operations

import (
	"fmt"
	"os"
	"testing"

	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// binary is the sidecar that all tests run; TestMain builds it.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "palimpsest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if binary, err = process.Build(folder, "../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
