package doors

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const vercelTests = "adapters/vercel"

// TestAdapters_Vercel_Plays installs the package from its tarball beside the AI SDK, compiles the tests with both, strictly, and runs them.
func TestAdapters_Vercel_Plays(t *testing.T) {
	need(t, "node", "npm")
	project := vercelProject(t, typescriptTarball(t))
	node := exec.Command("node", "--test", "--test-reporter=spec", "--test-timeout=60000", "dist/vercel.test.js")
	node.Env = append(os.Environ(), "PALIMPSEST_ADDRESS="+startSidecar(t), "FAKES="+startFakes(t))
	t.Log(run(t, within(project, node)))
}

// vercelProject is a folder with the tests, what their lock file pins, and the package.
func vercelProject(t *testing.T, tarball string) string {
	t.Helper()
	project := t.TempDir()
	copyAll(t, vercelTests+"/*.ts", project)
	copyAll(t, vercelTests+"/*.json", project)
	for _, arguments := range [][]string{{"ci"}, {"install", "--no-save", tarball}} {
		npm := exec.Command("npm", append(arguments, "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")...)
		if output, err := within(project, npm).CombinedOutput(); err != nil {
			t.Logf("%s", output)
			lacking(t, "what test/doors/adapters/vercel/package.json names could not be installed (is the network there?)")
		}
	}
	if _, err := os.Stat(filepath.Join(project, "node_modules", "palimpsest-context", "dist", "vercel", "vercel.js")); err != nil {
		t.Fatal("the package has no adapter:", err)
	}
	run(t, within(project, exec.Command("node_modules/.bin/tsc", "--project", ".")))
	return project
}
