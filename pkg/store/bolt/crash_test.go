package bolt

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// These make the test binary a process that appends to this file, or erases in it, until it is killed.
const (
	crashFile    = "PALIMPSEST_TEST_CRASH_FILE"
	crashErasing = "PALIMPSEST_TEST_CRASH_ERASING"
	crashRound   = "PALIMPSEST_TEST_CRASH_ROUND" // the first of its conversations
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		appendForEver(path)
		os.Exit(1)
	}
	if path := os.Getenv(crashErasing); path != "" {
		eraseForEver(path, os.Getenv(crashRound))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// appendForEver prints each append once it is acknowledged.
func appendForEver(path string) {
	s, err := Open(path, Options{})
	if err != nil {
		panic(err)
	}
	for conv := range 8 {
		go func() {
			for n := int32(0); ; n++ {
				if err := s.Commit(context.Background(), ratioKey(conv), appendChange(conv, n, "text")); err != nil {
					panic(err)
				}
				fmt.Println(conv, n)
			}
		}()
	}
	select {}
}

// TestStore_Crash_KeepsWhatWasAcknowledged kills the process at a random moment.
func TestStore_Crash_KeepsWhatWasAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashFile+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := readAcknowledged(t, out, 500, func() { _ = child.Process.Kill() })
	_ = child.Wait() // it was killed
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for conv, n := range acknowledged {
		q := store.Query{Ranges: []store.MessageRange{{}}}
		q.Ranges[0].End = 1 << 30
		snap, err := s.Read(t.Context(), ratioKey(conv), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(snap.Messages) <= n || len(snap.Messages) != int(snap.Head.Messages) {
			t.Errorf("%d messages, the head says %d, and %d was acknowledged", len(snap.Messages), snap.Head.Messages, n)
		}
	}
}

// readAcknowledged calls kill after some lines, and reads on to the end.
func readAcknowledged(t *testing.T, out interface{ Read([]byte) (int, error) }, after int, kill func()) map[int]int {
	t.Helper()
	last := make(map[int]int)
	lines := bufio.NewScanner(out)
	for count := 0; lines.Scan(); count++ {
		conv, n, ok := strings.Cut(lines.Text(), " ")
		c, errConv := strconv.Atoi(conv)
		i, errN := strconv.Atoi(n)
		if !ok || errConv != nil || errN != nil {
			continue // cut by the kill
		}
		last[c] = max(last[c], i)
		if count == after {
			kill()
		}
	}
	if len(last) == 0 {
		t.Fatal("nothing was acknowledged")
	}
	return last
}
