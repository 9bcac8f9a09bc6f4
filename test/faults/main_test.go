package faults

import (
	"os"
	"testing"

	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// binary is the sidecar that all tests run.
var binary string

func TestMain(m *testing.M) { os.Exit(process.Main(m, &binary)) }
