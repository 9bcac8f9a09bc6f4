//go:build unix

package security

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// keepOwner gives a file to the owner and the group of the one whose place it is to take.
func keepOwner(f *os.File, former os.FileInfo) error {
	of, ok := former.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("the file's owner is not known")
	}
	if err := f.Chown(int(of.Uid), int(of.Gid)); err != nil {
		return fmt.Errorf("the file is as it was, because its owner %d and group %d could not be kept: run this as its owner: %w", of.Uid, of.Gid, err)
	}
	return nil
}
