package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// smallDisk is a file system that is soon full.
func smallDisk(t *testing.T, mib int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if runtime.GOOS != "linux" {
		t.Skip("small disks are made on Linux alone")
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Skipf("no small disk can be made: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// TestStore_Full_DeletionFreesAndErases: for a store at its limit and one on a full disk, with values of many sizes. What is deleted is
// removed, from the file too, and there is room again.
func TestStore_Full_DeletionFreesAndErases(t *testing.T) {
	sizes := []int{100, 180, 1 << 10, 16 << 10}
	if testing.Short() { // the wiping goes on beside the appends whatever their size
		sizes = sizes[:1]
	}
	for _, kib := range sizes {
		mib := max(48, 14*kib>>10)
		t.Run(fmt.Sprintf("AtItsLimit/%dKiB", kib), func(t *testing.T) {
			fillAndDelete(t, t.TempDir(), Options{MaxSize: int64(mib) << 20}, kib<<10)
		})
		t.Run(fmt.Sprintf("OnAFullDisk/%dKiB", kib), func(t *testing.T) {
			fillAndDelete(t, smallDisk(t, mib), Options{}, kib<<10)
		})
	}
}

func fillAndDelete(t *testing.T, folder string, o Options, size int) {
	t.Helper()
	path := filepath.Join(folder, "store.db")
	s := openAt(t, path, o)
	const secret = "<what must go>"
	texts := 0
	counts := make([]int32, 3)
	for full := false; !full; {
		for conv := range counts {
			c := appendChange(conv, counts[conv], secret+string(noise(size)))
			err := s.Commit(t.Context(), ratioKey(conv), c)
			if full = errors.Is(err, store.ErrFull); full {
				break
			}
			must(t, err)
			counts[conv]++
			texts++
		}
	}
	// What is left is used up, by ever smaller appends.
	small := int32(0)
	for left := size; left > 256; {
		err := s.Commit(t.Context(), ratioKey(9), appendChange(9, small, string(noise(left))))
		if errors.Is(err, store.ErrFull) {
			left /= 2
			continue
		}
		must(t, err)
		small++
	}
	began := time.Now()
	for conv, n := range counts {
		bury(t, s, conv, n)
	}
	deadline := began.Add(testlane.Slack(time.Minute))
	for bytes.Contains(read(t, path), []byte(secret)) {
		if time.Now().After(deadline) {
			t.Fatal("what was deleted is still in the file")
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("%d values of %d bytes; deleted and wiped in %v", texts, size, time.Since(began).Round(time.Millisecond))
	bury(t, s, 9, small) // what is left between would break up the room that the largest value needs
	must(t, s.Commit(t.Context(), ratioKey(20), appendChange(20, 0, string(noise(size)))))
	must(t, s.Close())
	info, err := os.Stat(path)
	must(t, err)
	if o.MaxSize > 0 && info.Size() > o.MaxSize {
		t.Errorf("the file has %d bytes of %d", info.Size(), o.MaxSize)
	}
	checked(t, path)
}

// bury deletes a conversation of n appends, tombstone and all.
func bury(t *testing.T, s *Store, conv int, n int32) {
	t.Helper()
	c := appendChange(conv, n, "")
	c.Messages, c.Head.Messages = nil, n
	c.Head.State = store.Deleted
	must(t, s.Commit(t.Context(), ratioKey(conv), c))
	for done := false; !done; {
		var err error
		done, err = s.Delete(t.Context(), ratioKey(conv), store.Deletion{Incarnation: c.Head.Incarnation})
		must(t, err)
	}
}

// TestStore_Full_ReserveThatCannotBeLetGo: the disk fails at that moment. The outcome is unknown, and the store goes on.
func TestStore_Full_ReserveThatCannotBeLetGo(t *testing.T) {
	f := openFlaky(t, Options{})
	f.mustAppend(t, 1, 0)
	f.failOnce(func(func() error) error {
		f.failOnce(func(func() error) error { return syscall.EIO })
		return syscall.ENOSPC
	})
	c := appendChange(1, 1, "")
	c.Messages, c.Head.Messages, c.Head.State = nil, 1, store.Deleted
	if err := f.Commit(t.Context(), ratioKey(1), c); !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Fatal(err)
	}
	must(t, f.Commit(t.Context(), ratioKey(1), c))
}
