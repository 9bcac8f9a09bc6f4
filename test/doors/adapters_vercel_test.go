package doors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const vercelTests = "adapters/vercel"

// TestAdapters_Vercel_Plays installs the package from its tarball beside the AI SDK, compiles the tests with both, strictly, and runs them: with
// the SDK's version 7, which the README shows, and with version 6.
func TestAdapters_Vercel_Plays(t *testing.T) {
	t.Parallel()
	need(t, "node", "npm")
	tarball := typescriptTarball(t)
	for version, pinned := range map[string]string{"7": vercelTests, "6": vercelTests + "/six"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			project := vercelProject(t, tarball, pinned, version == "7")
			fakes := startFakes(t)
			environment := append(os.Environ(), "PALIMPSEST_ADDRESS="+startSidecar(t), "FAKES="+fakes,
				"PALIMPSEST_BINARY="+sidecar, "OPENAI_BASE_URL="+fakes+"/v1", "OPENAI_API_KEY=none")
			if version == "6" {
				environment = append(environment, "POLICIES=none")
			}
			tests := []string{"--test", "--test-reporter=spec"}
			programs := [][]string{append(tests, "--test-timeout=600000", "dist/vercel.test.js", "dist/sides.test.js", "dist/draws.test.js")}
			switch {
			case os.Getenv("PALIMPSEST_TEST_SPEED") != "":
				programs = [][]string{append(tests, "--test-name-pattern=200 steps", "dist/sides.test.js")}
			case os.Getenv("PALIMPSEST_DRAWN") != "":
				programs = [][]string{append(tests, "dist/draws.test.js")}
			case version == "7":
				programs = append(programs, []string{"dist/readme.js"})
			}
			for _, arguments := range programs {
				node := exec.Command("node", arguments...)
				node.Env = environment
				t.Log(run(t, within(project, node)))
			}
		})
	}
}

// vercelReadme is the program that the adapter's README shows, and its tool.
func vercelReadme(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("../../clients/adapters/vercel/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```ts\n")
	program, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("the README of the adapter shows no program")
	}
	return "import { own } from \"./toy.js\";\nconst fetchLog = own.fetch_log;\n" + program + "console.log(text);\n"
}

// vercelProject is a folder with the tests, what a lock file pins or the newest, and the package.
func vercelProject(t *testing.T, tarball, pinned string, readme bool) string {
	t.Helper()
	project := t.TempDir()
	copyAll(t, vercelTests+"/*.ts", project)
	copyInto(t, vercelTests+"/tsconfig.json", project)
	copyAll(t, pinned+"/package*.json", project)
	if newest != "" && readme {
		copyAll(t, filepath.Join(newest, "vercel", "package*.json"), project)
	}
	if readme {
		writeInto(t, project, "readme.ts", vercelReadme(t))
	}
	for _, arguments := range [][]string{{"ci"}, {"install", "--no-save", tarball}} {
		npm := exec.Command("npm", append(arguments, "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")...)
		if output, err := within(project, npm).CombinedOutput(); err != nil {
			t.Logf("%s", output)
			lacking(t, "what test/doors/"+pinned+"/package.json names could not be installed (is the network there?)")
		}
	}
	if _, err := os.Stat(filepath.Join(project, "node_modules", "palimpsest-context", "dist", "vercel", "vercel.js")); err != nil {
		t.Fatal("the package has no adapter:", err)
	}
	run(t, within(project, exec.Command("node_modules/.bin/tsc", "--project", ".")))
	return project
}
