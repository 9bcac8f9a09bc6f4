package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpen_EmptyFile_IsLeftAsItIs: bbolt would begin a store in it, and what was lost would look as if it had never
// existed.
func TestOpen_EmptyFile_IsLeftAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, os.WriteFile(path, nil, 0o600))
	s, err := Open(path, Options{})
	if err == nil {
		t.Error(s.Close())
	}
	if err == nil || !strings.Contains(err.Error(), "the file is empty") || !strings.Contains(err.Error(), "put a backup in its place") {
		t.Errorf("%v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the file was written to: %v, %v", info, err)
	}
}

// TestOpen_WrongPlaces_SayWhatIsWrong, in words.
func TestOpen_WrongPlaces_SayWhatIsWrong(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	must(t, os.WriteFile(text, []byte(strings.Repeat("no database\n", 2000)), 0o600))
	for path, want := range map[string]string{
		folder:                             "it is a folder",
		text:                               "it is a file of another program",
		filepath.Join(text, "x"):           "what should be a folder is a file",
		filepath.Join(folder, "none", "x"): "the folder does not exist",
		"/dev/null":                        "it is no regular file",
	} {
		if s, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v", path, s, err)
		}
	}
}

// TestInWords_Refusals_AreSentences: some refusals do not occur for every user and file system.
func TestInWords_Refusals_AreSentences(t *testing.T) {
	for refusal, want := range map[error]string{
		fs.ErrPermission: "this user may not read and write there",
		syscall.EACCES:   "this user may not read and write there",
		syscall.EROFS:    "the file system is read-only",
		syscall.ENOSPC:   "the disk is full",
	} {
		err := inWords(fmt.Errorf("open it: %w", refusal))
		if !errors.Is(err, refusal) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "open it") {
			t.Errorf("%v: %v", refusal, err)
		}
	}
}
