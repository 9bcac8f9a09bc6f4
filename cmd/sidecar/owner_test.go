//go:build unix

package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReplaceFile_OfAnotherOwnerBehindALink_BothStay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, link := filepath.Join(folder, "credentials.yaml"), filepath.Join(folder, "link")
	replace(t, path, "before")
	owner, group := os.Getuid(), os.Getgid()
	if owner == 0 {
		owner, group = 4321, 5432
	}
	err := errors.Join(os.Symlink("credentials.yaml", link), os.Chown(path, owner, group), os.Chmod(path, 0o640), replaceFile(link, []byte("after")))
	if err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "credentials.yaml" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	uid, gid := ownerOf(t, path)
	if text := read(t, path); uid != owner || gid != group || info.Mode().Perm() != 0o640 || text != "after" {
		t.Errorf("%q is of %d:%d, %v; want %d:%d", text, uid, gid, info.Mode(), owner, group)
	}
}

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
	l, err := listenUnix(path, socketOptions{mode: 0o660, group: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if _, of := ownerOf(t, path); of != group {
		t.Errorf("the socket is of group %d, want %d", of, group)
	}
}

func TestReplaceFile_LinkToNothing_Stays(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(link, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("replaceFile = %v", err)
	}
	if to, err := os.Readlink(link); err != nil || to != "nowhere" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

func TestTokenCommand_EntryCannotBeAdded_NoTokenIsLeft(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c := tokenCommand{
		Name: "a", Namespace: "n", Role: "agent", AddTo: filepath.Join(folder, "missing", "credentials.yaml"), Out: filepath.Join(folder, "token"),
	}
	if err := c.Run(newCommandLine(io.Discard, io.Discard)); err == nil || !strings.HasPrefix(err.Error(), "--add-to: ") {
		t.Errorf("Run = %v", err)
	}
	if _, err := os.Stat(c.Out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a token that opens nothing is left: %v", err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func ownerOf(t *testing.T, path string) (uid, gid int) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatal("the file's owner is not known")
	}
	return int(of.Uid), int(of.Gid)
}
