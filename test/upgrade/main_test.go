package upgrade

import (
	"fmt"
	"os"
	"testing"

	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// The binaries that tests run: older is upgraded to newer.
var older, newer string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	older, newer = os.Getenv("PALIMPSEST_UPGRADE_FROM"), os.Getenv("PALIMPSEST_UPGRADE_TO")
	if older != "" && newer != "" {
		return m.Run()
	}
	folder, err := os.MkdirTemp("", "palimpsest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if newer, err = process.Build(folder, "../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	older = newer
	return m.Run()
}
