package faults

import (
	"bytes"
	bytesof "encoding/binary"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// structureFlips is how many files with damaged structure are tried by default, each by a process of its own; `make faults` tries forty
// times as many.
const structureFlips = 50

// aim is where bytes of a data file are that bbolt believes: both meta pages, and what is at the beginning of each other page, its
// header and its entries.
func aim(r *rand.Rand, file []byte) int {
	page := os.Getpagesize()
	if r.IntN(4) == 0 {
		return r.IntN(2)*page + r.IntN(80)
	}
	for {
		at := (2 + r.IntN(len(file)/page-2)) * page
		head := file[at : at+16]
		if flags := bytesof.NativeEndian.Uint16(head[8:]); flags != 1 && flags != 2 {
			continue
		}
		return at + r.IntN(16+16*min(200, max(1, int(bytesof.NativeEndian.Uint16(head[10:])))))
	}
}

// TestCorrupt_FlippedStructure_IsRefusedOrHonest flips bytes of what bbolt believes. The sidecar says what to do and ends, or serves:
// then nothing is wrong, and nothing acknowledged is gone.
func TestCorrupt_FlippedStructure_IsRefusedOrHonest(t *testing.T) {
	t.Parallel()
	k, r := keptOf(t, 4), rand.New(rand.NewPCG(proptest.Seed(t), 0))
	used := k.file[:len(bytes.TrimRight(k.file, "\x00"))/os.Getpagesize()*os.Getpagesize()]
	refused := 0
	tries := structureFlips * max(1, min(40, roundsOf(t)/defaultRounds))
	for i := range tries {
		file := bytes.Clone(k.file)
		at := aim(r, used)
		file[at] ^= byte(1 + r.IntN(255))
		f, said := k.overMarked(t, file)
		switch {
		case strings.Contains(said, "goroutine ") || strings.Contains(said, "panic"):
			t.Fatalf("flip %d, of byte %d: a trace: %.2000s", i, at, said)
		case f == nil && !strings.Contains(said, "sidecar store salvage"):
			t.Fatalf("flip %d, of byte %d: the sidecar ended with %.500s", i, at, said)
		case f == nil:
			refused++
		default:
			if _, err := f.honest(); err != nil {
				t.Fatalf("flip %d, of byte %d: %v", i, at, err)
			}
			f.sidecar.Kill()
		}
	}
	t.Logf("%d of %d refused", refused, tries)
}

// overMarked starts a sidecar over a damaged file, with the mark that lay beside it. It returns nil if the sidecar did not serve,
// and what it said.
func (k *kept) overMarked(t *testing.T, file []byte) (f *fixture, said string) {
	t.Helper()
	f = &fixture{t: t, folder: t.TempDir(), ledger: k.ledger}
	for name, data := range map[string][]byte{path(f.folder): file, path(f.folder) + ".last": k.mark} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sidecar, err := process.Launch(binary, f.folder)
	if err != nil {
		t.Fatal(err)
	}
	if sidecar.Ready() != nil {
		if ended := sidecar.Ended(); ended == nil {
			t.Errorf("the sidecar neither serves nor fails: %.200s", sidecar.Log())
		}
		return nil, sidecar.Log()
	}
	f.call(sidecar)
	return f, sidecar.Log()
}
