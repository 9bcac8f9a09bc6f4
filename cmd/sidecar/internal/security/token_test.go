//go:build unix

package security

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
)

func TestReplaceFile_OfAnotherOwnerBehindALink_BothStay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, link := filepath.Join(folder, "credentials.yaml"), filepath.Join(folder, "link")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
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
	c := TokenCommand{
		Name: "a", Namespace: "n", Role: "agent", AddTo: filepath.Join(folder, "missing", "credentials.yaml"), Out: filepath.Join(folder, "token"),
	}
	if err := c.Run(&command.Output{Stdout: io.Discard, Stderr: io.Discard}); err == nil || !strings.HasPrefix(err.Error(), "--add-to: ") {
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
