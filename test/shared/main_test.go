package shared

import (
	"os"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// binary is the sidecar that all tests run.
var binary string

func TestMain(m *testing.M) {
	code := process.Main(m, &binary)
	dbtest.StopShared()
	os.Exit(code)
}
