package citations

import (
	"os"
	"testing"

	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// binary is the sidecar that tests of speed and memory run.
var binary string

func TestMain(m *testing.M) { os.Exit(process.Main(m, &binary)) }
