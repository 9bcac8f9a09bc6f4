package main

import (
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
		l, err := listenUnix(path, socketOptions{mode: 0o600, group: -1})
		if err != nil {
			t.Fatalf("a path of %d bytes: %v", len(path), err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := listenUnix(path+"x", socketOptions{mode: 0o600, group: -1}); err == nil || !strings.Contains(err.Error(), "at most 95 bytes") {
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
	l, err := listenUnix(path, socketOptions{mode: 0o600, group: -1})
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
	if _, err := listenUnix(path, socketOptions{mode: 0o600, group: -1}); err == nil || len(seen()) != 1 {
		t.Errorf("where it may not listen there are %q, %v", seen(), err)
	}
}
