package bolt

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

// checkPlace refuses an empty file, which bbolt would accept as a new one. An empty file is never a store that was just begun,
// because create gives a file its name when it is complete. It is what a failed copy, or a file system after a crash, leaves of
// a store, and bbolt would begin an empty store in it.
func checkPlace(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return inWords(err)
	case info.IsDir():
		return errors.New("it is a folder, and the store is a file")
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	case info.Size() == 0:
		return errors.New("the file is empty, and a store never is: what was in it is lost; " +
			"put a backup in its place, or remove it to begin with an empty store")
	default:
		return nil
	}
}

// inWords says in words why the system or bbolt refuses a file.
func inWords(err error) error {
	for _, known := range []struct {
		is   error
		says string
	}{
		{fs.ErrPermission, "this user may not read and write there: change the owner or the mode of the folder and the file"},
		{syscall.EROFS, "the file system is read-only: mount it for writing"},
		{syscall.ENOTDIR, "what should be a folder is a file"},
		{fs.ErrNotExist, "the folder does not exist"},
		{syscall.ENOSPC, "the disk is full"},
		{berrors.ErrInvalid, notOurs},
		{berrors.ErrChecksum, notOurs},
		{berrors.ErrVersionMismatch, "it was written by another version of bbolt"},
	} {
		if errors.Is(err, known.is) {
			return &wordedError{known.says, err}
		}
	}
	return err
}

// wordedError is an error with a sentence in place of its cause's text, which repeats the path or names a temporary file.
type wordedError struct {
	says  string
	cause error
}

// Error returns the sentence.
func (r *wordedError) Error() string { return r.says }

// Unwrap returns the cause.
func (r *wordedError) Unwrap() error { return r.cause }

const notOurs = "it is a file of another program, or both of its meta pages are damaged; " + remedy

// remedy is the end of every sentence about a damaged file.
const remedy = "`sidecar store check` says what is damaged, and `sidecar store salvage` copies what can be read"
