//go:build unix

package listen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestListenUnix_FolderOfAGroup_TheSocketIsItsToo: volumes of Kubernetes hand down their group.
func TestListenUnix_FolderOfAGroup_TheSocketIsItsToo(t *testing.T) {
	t.Parallel()
	path, group := socketPath(t), os.Getgid()
	if os.Getuid() == 0 {
		group = 5432
	}
	folder := filepath.Dir(path)
	if err := errors.Join(os.Chown(folder, -1, group), os.Chmod(folder, 0o770|fs.ModeSetgid)); err != nil {
		t.Fatal(err)
	}
	l, err := listenUnix(path, Sockets{Mode: 0o660, Group: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if is, ok := info.Sys().(*syscall.Stat_t); !ok || int(is.Gid) != group {
		t.Errorf("the socket is of group %d, want %d", is.Gid, group)
	}
}
