package interop

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// need skips the test if a program is missing, and says which. In CI that is a failure: a test that skips there proves nothing.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			lacking(t, program+" is not installed")
		}
	}
}

func lacking(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what + ": what needs it was not tested")
}

// python returns the interpreter of a virtual environment that holds what the clients need.
func python(t *testing.T) string {
	t.Helper()
	return virtualEnv(t, "python/requirements.txt")
}

// virtualEnv returns the interpreter of a virtual environment that holds the packages of a file.
func virtualEnv(t *testing.T, requirements string) string {
	t.Helper()
	need(t, "python3")
	if exec.Command("python3", "-c", "import venv, ensurepip").Run() != nil {
		installVenv(t)
	}
	version := run(t, exec.Command("python3", "-c", "import sys; print(sys.version)"))
	folder := cached(t, "python", version, []string{requirements}, func(folder string) {
		run(t, exec.Command("python3", "-m", "venv", folder))
		pip := exec.Command(interpreter(folder), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "2",
			"--requirement", requirements)
		if output, err := pip.CombinedOutput(); err != nil {
			t.Logf("%s", output)
			lacking(t, "the packages of test/interop/"+requirements+" could not be installed (is the network there?)")
		}
	})
	return interpreter(folder)
}

func interpreter(venv string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(venv, "Scripts", "python.exe")
	}
	return filepath.Join(venv, "bin", "python")
}

// installVenv adds what Debian leaves out of its python3, where we may.
func installVenv(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		lacking(t, "python3 has no module venv (package python3-venv)")
	}
	output, err := exec.Command("apt-get", "install", "-y", "-qq", "--no-install-recommends", "python3-venv").CombinedOutput()
	if err != nil {
		t.Logf("%s", output)
		lacking(t, "python3-venv could not be installed")
	}
}

// nodeModules returns the folder with what typescript/package-lock.json pins.
func nodeModules(t *testing.T) string {
	t.Helper()
	need(t, "node", "npm")
	files := []string{"typescript/package.json", "typescript/package-lock.json", "typescript/.npmrc"}
	version := run(t, exec.Command("node", "--version"))
	folder := cached(t, "node", version, files, func(folder string) {
		for _, file := range files {
			copyFile(t, file, filepath.Join(folder, filepath.Base(file)))
		}
		npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
		npm.Dir = folder
		run(t, npm)
	})
	return filepath.Join(folder, "node_modules")
}

// cached returns a folder that fill has filled, now or in an earlier run with the same version and files. It is filled under
// another name and renamed, so that a run that was stopped leaves nothing that looks finished.
func cached(t *testing.T, name, version string, files []string, fill func(folder string)) string {
	t.Helper()
	root, err := os.UserCacheDir()
	if err != nil {
		root = os.TempDir()
	}
	folder := filepath.Join(root, "palimpsest-interop-"+hash(t, name, version, files))
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	filling, err := os.MkdirTemp(root, "palimpsest-interop-filling-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(filling) }()
	fill(filling)
	// Another test process may have been quicker: its folder is as good.
	if err := os.Rename(filling, folder); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return folder
}

func hash(t *testing.T, name, version string, files []string) string {
	t.Helper()
	sum := sha256.New()
	sum.Write([]byte(name + version))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(content)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// copyTree copies what is in a folder into another, which may be there already.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// protos lists the public contract, as paths under the folder proto.
func protos(t *testing.T) []string {
	t.Helper()
	folder := filepath.Join(repository(t), "proto")
	found, err := filepath.Glob(filepath.Join(folder, "palimpsest", "v1", "*.proto"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no protos found: %v", err)
	}
	for i := range found {
		found[i] = strings.TrimPrefix(found[i], folder+string(filepath.Separator))
	}
	return found
}
