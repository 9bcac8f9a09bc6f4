package doors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAdapters_EveryFramework_Plays runs each framework with its own model classes against the fakes: test_NAME.py, and sides_NAME.py with and
// without the adapter (side_by_side.py), in the virtual environment bin/doors-NAME-venv, with the package installed from its wheel.
func TestAdapters_EveryFramework_Plays(t *testing.T) {
	t.Parallel()
	programs, err := filepath.Glob("adapters/test_*.py")
	if err != nil || len(programs) == 0 {
		t.Fatal("there are no tests of adapters", err)
	}
	for _, program := range programs {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(program), "test_"), ".py")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			python := frameworkPython(t, name)
			pytest := exec.Command(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=3", program)
			// What the provider gets with and without the adapter, and what docs/compare.md says of it.
			for _, more := range []string{"adapters/sides_" + name + ".py", "compare/compare_" + name + ".py"} {
				if exists(more) {
					pytest.Args = append(pytest.Args, more)
				}
			}
			pytest.Env = append(os.Environ(), "PYTHONPATH="+installedWheel(t, python), "PYTHONDONTWRITEBYTECODE=1",
				"PALIMPSEST_TEST_SIDECAR="+sidecar, "PALIMPSEST_TEST_FAKES="+fakes)
			t.Log(run(t, pytest))
		})
	}
}

// frameworkPython is the interpreter with the packages that adapters/requirements/NAME.txt locks, or with the newest.
func frameworkPython(t *testing.T, name string) string {
	t.Helper()
	venv := "../../bin/doors-" + name + "-venv"
	if newest != "" {
		venv = filepath.Join(newest, name)
	}
	python, err := filepath.Abs(filepath.Join(venv, "bin", "python"))
	if err != nil {
		t.Fatal(err)
	}
	if !exists(python) {
		lacking(t, "the packages of test/doors/adapters/requirements/"+name+".txt are not installed (scripts/setup-doors.sh does it)")
	}
	return python
}

// installedWheel is a folder with the package as its wheel installs it, adapters included.
func installedWheel(t *testing.T, python string) string {
	t.Helper()
	wheels, err := filepath.Glob("../../bin/packages/palimpsest_context-*.whl")
	if err != nil || len(wheels) != 1 {
		lacking(t, "there is no wheel in bin/packages (make packages builds it)")
	}
	folder := t.TempDir()
	run(t, exec.Command(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--target", folder, wheels[0]))
	return folder
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
