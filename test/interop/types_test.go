package interop

import (
	"cmp"
	"os"
	"testing"
)

const (
	sampledParts = "recorded,cited"
	sampleOf     = "20" // every how many recordings are played, by default
)

// TestContexts_PublishedTypes_AreKept plays records over gRPC and judges what is built of them by the types that the providers
// publish in their packages, and by the rules of their documentation (judge/judge.py). PALIMPSEST_TYPES_SAMPLE says every how many
// recordings are played, PALIMPSEST_TYPES_PARTS how.
func TestContexts_PublishedTypes_AreKept(t *testing.T) {
	need(t, "go")
	python := virtualEnv(t, "judge/requirements.txt")
	stubs := pythonStubs(t, python)
	address, _ := startSidecar(t, buildSidecar(t))
	judge := func(t *testing.T, arguments ...string) {
		t.Log(run(t, pythonProgram(python, stubs, "judge/judge.py", append(arguments, "--target", address)...)))
	}

	t.Run("made", func(t *testing.T) { judge(t, "--parts", "made") })
	t.Run("recordings", func(t *testing.T) {
		data := os.Getenv("PALIMPSEST_DATA")
		if data == "" {
			lacking(t, "PALIMPSEST_DATA names no folder with recorded conversations")
		}
		parts := cmp.Or(os.Getenv("PALIMPSEST_TYPES_PARTS"), sampledParts)
		judge(t, "--parts", parts, "--data", data, "--sample", cmp.Or(os.Getenv("PALIMPSEST_TYPES_SAMPLE"), sampleOf))
	})
}

// TestJudge_IllegalContext_Fails proves the judge: a context that a provider would refuse must not pass.
func TestJudge_IllegalContext_Fails(t *testing.T) {
	python := virtualEnv(t, "judge/requirements.txt")
	t.Log(run(t, pythonProgram(python, "", "judge/test_judge.py")))
}

// TestShapes_PublishedTypes_AreWhatFilesSay judges what test/dialects holds the sidecar to: it is of the types that the locked packages publish.
func TestShapes_PublishedTypes_AreWhatFilesSay(t *testing.T) {
	python := virtualEnv(t, "judge/requirements.txt")
	t.Log(run(t, pythonProgram(python, "", "judge/shapes.py", "../dialects/testdata")))
}
