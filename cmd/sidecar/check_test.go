package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/stores"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
)

// TestStoreCommands_SayByTheirExitCode whether anything is damaged.
func TestStoreCommands_SayByTheirExitCode(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, stores.File)
	kept, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checks(t, exitFailed, "process "+strconv.Itoa(os.Getpid())+" has it open", "store", "check", "--data-dir", folder)
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	checks(t, exitOK, "0 damages", "store", "check", "--data-dir", folder)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(file[2*os.Getpagesize():])
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	checks(t, exitFailed, "the list of the buckets", "store", "check", "--data-dir", folder)
	checks(t, exitFailed, "the store is damaged", "store", "salvage", "--data-dir", folder, "--to", filepath.Join(folder, "new"))
	checks(t, exitOK, "0 damages", "store", "check", "--data-dir", filepath.Join(folder, "new"))
	if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, file) {
		t.Errorf("the damaged store was written to: %v", err)
	}
}

func checks(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	if got := run(t.Context(), args, &out, &out); got != code || !strings.Contains(out.String(), says) {
		t.Errorf("%v exits with %d: %s", args, got, &out)
	}
}
