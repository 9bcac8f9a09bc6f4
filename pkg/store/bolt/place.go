package bolt

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

// checkPlace refuses what bbolt would take for a file of its own. An empty one is never a store that began: create gives a file
// its name when it is whole. It is what a copy that failed, or a file system after a crash, leaves of a store, and bbolt would
// begin a new one in it as if nothing had been there.
func checkPlace(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return plain(err)
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

// plain says in words what the system or bbolt refuses a file for.
func plain(err error) error {
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
			return &worded{known.says, err}
		}
	}
	return err
}

// worded is a sentence in the place of a cause, whose own text says the path again, or the name of a temporary file.
type worded struct {
	says  string
	cause error
}

// Error is the sentence.
func (r *worded) Error() string { return r.says }

// Unwrap returns the cause.
func (r *worded) Unwrap() error { return r.cause }

const notOurs = "it is a file of another program, or both of its meta pages are damaged; " + wayOut

// wayOut is what every sentence about a damaged file ends with.
const wayOut = "`sidecar store check` says what is damaged, and `sidecar store salvage` copies what can be read"
