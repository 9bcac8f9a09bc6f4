package shared

import (
	"os"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// sidecarBinary is the sidecar that all tests run.
var sidecarBinary string

func TestMain(m *testing.M) {
	code := process.Main(m, &sidecarBinary)
	dbtest.StopShared()
	os.Exit(code)
}
