//go:build linux || darwin

package bolt

import "golang.org/x/sys/unix"

// diskFree is how many bytes the file system of a folder still has for this user; -1 if it does not say.
func diskFree(folder string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize) //nolint:unconvert // it has another type on other systems
}
