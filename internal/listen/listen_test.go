package listen

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestListenUnix_LongPath_SaysSo: the longest path works, where what lies beside it has the longest name.
func TestListenUnix_LongPath_SaysSo(t *testing.T) {
	t.Parallel()
	folder := filepath.Dir(socketPath(t))
	for _, name := range []string{"s", strings.Repeat("s", 40)} {
		long := filepath.Join(folder, strings.Repeat("x", maxSocketPath-len(folder)-len(name)-2))
		if err := os.Mkdir(long, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(long, name)
		l, err := listenUnix(path, Sockets{Mode: 0o600, Group: -1})
		if err != nil {
			t.Fatalf("a path of %d bytes: %v", len(path), err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := listenUnix(path+"x", Sockets{Mode: 0o600, Group: -1}); err == nil || !strings.Contains(err.Error(), "at most 95 bytes") {
			t.Errorf("listenUnix = %v", err)
		}
	}
}

func TestBindAside_BeforeTheModeIsSet_NobodyElseReachesIt(t *testing.T) {
	t.Parallel()
	path := socketPath(t)
	l, aside, err := bindAside(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	info, err := os.Stat(filepath.Dir(aside))
	if err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(filepath.Dir(aside)) != filepath.Dir(path) {
		t.Errorf("a socket is bound at %s, in a folder of mode %v, %v", aside, info.Mode(), err)
	}
}

func TestListenUnix_Ended_LeavesNothing(t *testing.T) {
	t.Parallel()
	path := socketPath(t)
	seen := func() (names []string) {
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	l, err := listenUnix(path, Sockets{Mode: 0o600, Group: -1})
	if err != nil {
		t.Fatal(err)
	}
	if got := seen(); len(got) != 1 || got[0] != filepath.Base(path) {
		t.Errorf("while it listens there are %q", got)
	}
	if err := l.Close(); err != nil || len(seen()) != 0 {
		t.Errorf("afterwards there are %q, %v", seen(), err)
	}
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := listenUnix(path, Sockets{Mode: 0o600, Group: -1}); err == nil || len(seen()) != 1 {
		t.Errorf("where it may not listen there are %q, %v", seen(), err)
	}
}

func TestListenUnix_ModeAndUsers_LetIn(t *testing.T) {
	t.Parallel()
	me := uint32(os.Getuid())
	for name, c := range map[string]struct {
		uids []uint32
		want bool
	}{"everybody": {nil, true}, "this user": {[]uint32{me + 1, me}, true}, "another user": {[]uint32{me + 1}, false}} {
		path := socketPath(t)
		l, err := listenUnix(path, Sockets{Mode: 0o660, Group: -1, UIDs: c.uids})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Write([]byte("in"))
				_ = conn.Close()
			}
		}()
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
			t.Errorf("%v, %v", info, err)
		}
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := conn.Read(make([]byte, 2)); (n == 2) != c.want {
			t.Errorf("%s: let in is %v, want %v", name, n == 2, c.want)
		}
		_ = conn.Close()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// socketPath is short enough for a socket, wherever tests have their folders.
func socketPath(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return filepath.Join(folder, "s")
}
