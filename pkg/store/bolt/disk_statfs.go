//go:build linux || darwin

package bolt

import "golang.org/x/sys/unix"

// diskFree is how many bytes the folder's file system has left for this user; -1 if that is unknown.
func diskFree(folder string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize) //nolint:unconvert // the type differs between systems
}
