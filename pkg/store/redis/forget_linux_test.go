package redis_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	fuse "github.com/hanwen/go-fuse/v2/fs"
	mount "github.com/hanwen/go-fuse/v2/fuse"
)

// forgetful is a file system whose files lose at a crash what was not synced. After SIGKILL alone, the kernel's page cache still
// has it.
type forgetful struct {
	kept string // where the files are

	mu     sync.Mutex
	synced map[uint64]int64 // sizes, by inode
}

// startForgetful mounts one, where that may be done: it needs root and /dev/fuse.
func startForgetful(t *testing.T) (f *forgetful, folder string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("there is no /dev/fuse")
	}
	f = &forgetful{kept: sharedFolder(t), synced: make(map[uint64]int64)}
	folder = sharedFolder(t)
	root, err := fuse.NewLoopbackRoot(f.kept)
	must(t, err)
	loop, ok := root.(*fuse.LoopbackNode)
	if !ok {
		t.Fatal("NewLoopbackRoot makes something else")
	}
	loop.RootData.NewNode = func(r *fuse.LoopbackRoot, _ *fuse.Inode, _ string, _ *syscall.Stat_t) fuse.InodeEmbedder { //nolint:staticcheck // it does what is needed
		return &node{LoopbackNode: fuse.LoopbackNode{RootData: r}, f: f}
	}
	server, err := fuse.Mount(folder, root, &fuse.Options{MountOptions: mount.MountOptions{DirectMountStrict: true, AllowOther: true}})
	if err != nil {
		t.Skip("mounting is not allowed here:", err)
	}
	t.Cleanup(func() { must(t, server.Unmount()) })
	return f, folder
}

// sharedFolder is a folder that the user of the server can reach.
func sharedFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "p-fu")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	must(t, os.Chmod(folder, 0o777))
	return folder
}

// node is a file or a folder.
type node struct {
	fuse.LoopbackNode

	f *forgetful
}

func (n *node) path() string {
	return filepath.Join(n.f.kept, n.Path(n.Root()))
}

// Fsync implements fuse.NodeFsyncer.
func (n *node) Fsync(context.Context, fuse.FileHandle, uint32) syscall.Errno {
	info, err := os.Stat(n.path())
	if err != nil {
		return fuse.ToErrno(err)
	}
	n.f.mu.Lock()
	defer n.f.mu.Unlock()
	n.f.synced[inode(info)] = info.Size()
	return 0
}

func inode(info fs.FileInfo) uint64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return stat.Ino
}

// forget does what a crash of the machine does. Names are kept: that is about contents.
func (f *forgetful) forget(t *testing.T) (forgotten int64) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	must(t, filepath.WalkDir(f.kept, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if size := f.synced[inode(info)]; size < info.Size() {
			forgotten += info.Size() - size
			return os.Truncate(path, size)
		}
		return nil
	}))
	return forgotten
}
