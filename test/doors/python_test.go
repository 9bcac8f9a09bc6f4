package doors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPython_Package_Holds installs the wheel that `make packages` built, and runs the tests under python with it.
func TestPython_Package_Holds(t *testing.T) {
	python, wheel := pythonOfDoors(t), builtWheel(t)
	run(t, exec.Command(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--force-reinstall", wheel))
	programs, err := filepath.Glob("python/test_*.py")
	if err != nil || len(programs) == 0 {
		t.Fatal("there are no tests in Python", err)
	}
	pytest := func(t *testing.T, program string) {
		t.Helper()
		command := exec.Command(python, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--durations=5", program)
		command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1",
			"PALIMPSEST_TEST_SIDECAR="+sidecar, "PALIMPSEST_TEST_FAKES="+fakes, "PALIMPSEST_TEST_WHEEL="+wheel)
		t.Log(run(t, command))
	}
	// It measures: what runs in parallel waits until it has ended.
	t.Run("install", func(t *testing.T) { pytest(t, "python/install.py") })
	for _, program := range programs {
		t.Run(strings.TrimSuffix(filepath.Base(program), ".py"), func(t *testing.T) {
			t.Parallel()
			pytest(t, program)
		})
	}
}

// pythonOfDoors is the interpreter with what python/requirements.txt locks, or with the newest.
func pythonOfDoors(t *testing.T) string {
	t.Helper()
	if newest != "" {
		return frameworkPython(t, "python")
	}
	for _, venv := range []string{"python-gen-venv", "doors-venv"} {
		if _, err := os.Stat(filepath.Join("../../bin", venv, "bin", "python")); err != nil {
			lacking(t, "bin/"+venv+" is not there (scripts/setup-doors.sh makes it)")
		}
	}
	python, err := filepath.Abs("../../bin/doors-venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	return python
}

func builtWheel(t *testing.T) string {
	t.Helper()
	wheels, err := filepath.Glob("../../bin/packages/palimpsest_context-*.whl")
	if err != nil || len(wheels) != 1 {
		lacking(t, "there is no wheel in bin/packages (make packages builds it)")
	}
	wheel, err := filepath.Abs(wheels[0])
	if err != nil {
		t.Fatal(err)
	}
	return wheel
}
