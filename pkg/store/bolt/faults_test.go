package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
)

var errDisk = errors.New("the disk is gone")

// flaky is a store whose disk fails when it is told to.
type flaky struct {
	*Store
	fail atomic.Pointer[func(commit func() error) error]
}

func openFlaky(t *testing.T, o Options) *flaky {
	t.Helper()
	f := &flaky{}
	o.Commit = func(commit func() error) error {
		if fail := f.fail.Swap(nil); fail != nil {
			return (*fail)(commit)
		}
		return commit()
	}
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	f.Store = s
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *flaky) failOnce(how func(commit func() error) error) { f.fail.Store(&how) }

func (f *flaky) append(t *testing.T, conv int, n int32) error {
	t.Helper()
	return f.Commit(t.Context(), ratioKey(conv), appendChange(conv, n, "text"))
}

func (f *flaky) mustAppend(t *testing.T, conv int, n int32) {
	t.Helper()
	if err := f.append(t, conv, n); err != nil {
		t.Fatal(err)
	}
}

func (f *flaky) count(t *testing.T, conv int) int {
	t.Helper()
	snap, err := f.Read(t.Context(), ratioKey(conv), store.Query{})
	if errors.Is(err, store.ErrNotFound) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return int(snap.Head.Messages)
}

// TestStore_Commit_FaultyDisk: a commit that fails while it becomes durable may have been written or not, and reports an
// unknown outcome. In both cases the store goes on with a file that holds what it shows.
func TestStore_Commit_FaultyDisk(t *testing.T) {
	for name, tc := range map[string]struct {
		fail func(commit func() error) error
		want int
	}{
		"BeforeItStands": {func(func() error) error { return errDisk }, 1},
		"AfterItStands":  {func(commit func() error) error { return errors.Join(commit(), errDisk) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := openFlaky(t, Options{})
			f.mustAppend(t, 1, 0)
			before, err := os.Stat(f.path)
			if err != nil {
				t.Fatal(err)
			}
			f.failOnce(tc.fail)
			if err := f.append(t, 1, 1); !errors.Is(err, store.ErrOutcomeUnknown) || !errors.Is(err, errDisk) {
				t.Fatal(err)
			}
			if n := f.count(t, 1); n != tc.want {
				t.Fatalf("%d messages, wanted %d", n, tc.want)
			}
			f.mustAppend(t, 1, int32(tc.want))
			after, err := os.Stat(f.path)
			if err != nil {
				t.Fatal(err)
			}
			if os.SameFile(before, after) {
				t.Fatal("the store goes on with the file whose sync failed")
			}
			reopened(t, f, func(f *flaky) {
				if n := f.count(t, 1); n != tc.want+1 {
					t.Fatalf("%d messages after opening it again", n)
				}
			})
		})
	}
}

func reopened(t *testing.T, f *flaky, check func(*flaky)) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(f.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	check(&flaky{Store: s})
}

// TestStore_Commit_FaultyDisk_ReadersGoOn: reading while the file is replaced never fails.
func TestStore_Commit_FaultyDisk_ReadersGoOn(t *testing.T) {
	f := openFlaky(t, Options{})
	f.mustAppend(t, 1, 0)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := f.Read(context.Background(), ratioKey(1), store.Query{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := range int32(5) {
		f.failOnce(func(func() error) error { return errDisk })
		if err := f.append(t, 1, n+1); !errors.Is(err, store.ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		f.mustAppend(t, 1, n+1)
	}
	close(stop)
	wg.Wait()
}

// TestStore_Commit_FaultyDisk_ThatStaysFaulty: without a good file nothing is written, and the store reports that. It recovers
// when the disk does.
func TestStore_Commit_FaultyDisk_ThatStaysFaulty(t *testing.T) {
	states := make(chan error, 2)
	f := openFlaky(t, Options{OnState: func(reason error) { states <- reason }})
	f.mustAppend(t, 1, 0)
	// A folder at the path of the copy stands for a disk that accepts no new files.
	if err := os.Mkdir(f.path+".rewrite", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.path+".rewrite", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.failOnce(func(func() error) error { return errDisk })
	if err := f.append(t, 1, 1); !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Fatal(err)
	}
	if reason := <-states; !errors.Is(reason, store.ErrUnavailable) {
		t.Fatalf("the store is said to be %v", reason)
	}
	if err := f.append(t, 1, 1); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Fatalf("without a good file: %v", err)
	}
	if n := f.count(t, 1); n != 1 {
		t.Fatalf("%d messages", n)
	}
	if err := os.RemoveAll(f.path + ".rewrite"); err != nil {
		t.Fatal(err)
	}
	select { // nobody has to ask for it
	case reason := <-states:
		if reason != nil {
			t.Fatalf("the store is said to be %v", reason)
		}
	case <-time.After(testlane.Slack(5 * time.Second)):
		t.Fatal("the store does not recover")
	}
	f.mustAppend(t, 1, 1)
}

// TestStore_Commit_FaultyDisk_NoRoomForACopy: the store recovers even if the disk has less room than the store takes.
func TestStore_Commit_FaultyDisk_NoRoomForACopy(t *testing.T) {
	for name, tc := range map[string]struct {
		fail func(commit func() error) error
		want int
	}{
		"BeforeItStands": {func(func() error) error { return syscall.EIO }, 1},
		"AfterItStands":  {func(commit func() error) error { return errors.Join(commit(), syscall.EIO) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := openFlaky(t, Options{OnState: func(reason error) { t.Errorf("the store is said to be %v", reason) }})
			f.mustAppend(t, 1, 0)
			must(t, os.Symlink("/dev/full", f.path+rewriting))
			f.failOnce(tc.fail)
			if err := f.append(t, 1, 1); !errors.Is(err, store.ErrOutcomeUnknown) {
				t.Fatal(err)
			}
			f.mustAppend(t, 1, int32(tc.want))
			a, b := pages.ReadMeta(f.file, 0), pages.ReadMeta(f.file, int64(os.Getpagesize()))
			if a.Tx == b.Tx || max(a.Tx, b.Tx) < 6 {
				t.Errorf("the meta pages were not written again: %v, %v", a, b)
			}
			reopened(t, f, func(f *flaky) {
				if n := f.count(t, 1); n != tc.want+1 {
					t.Fatalf("%d messages after opening it again", n)
				}
			})
		})
	}
}

// TestStore_Commit_FullDisk: nothing is written, and the store goes on.
func TestStore_Commit_FullDisk(t *testing.T) {
	f := openFlaky(t, Options{})
	f.mustAppend(t, 1, 0)
	f.failOnce(func(func() error) error { return syscall.ENOSPC })
	if err := f.append(t, 1, 1); !errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Fatal(err)
	}
	f.mustAppend(t, 1, 1)
}

// TestStore_Commit_MaxSize: a store that is full refuses what does not fit, and takes what does.
func TestStore_Commit_MaxSize(t *testing.T) {
	const size = 40 << 20
	f := openFlaky(t, Options{MaxSize: size})
	big := appendChange(1, 0, strings.Repeat("\x01\x80", 8<<20))
	big.Messages[0].Parts[0].Text.Inline = string(noise(30 << 20))
	if err := f.Commit(t.Context(), ratioKey(1), big); !errors.Is(err, store.ErrFull) {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var refused atomic.Int32
	for conv := range 64 {
		wg.Go(func() {
			c := appendChange(conv, 0, string(noise(1<<20)))
			if err := f.Commit(t.Context(), ratioKey(conv), c); errors.Is(err, store.ErrFull) {
				refused.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := refused.Load(); n == 0 || n == 64 {
		t.Fatalf("%d of 64 refused", n)
	}
	kept := 0
	for conv := range 64 {
		kept += f.count(t, conv)
	}
	if kept != 64-int(refused.Load()) {
		t.Fatalf("%d kept, %d refused", kept, refused.Load())
	}
	if info, err := os.Stat(f.path); err != nil || info.Size() > size {
		t.Fatalf("the file has %d bytes: %v", info.Size(), err)
	}
}

func noise(n int) []byte {
	out := make([]byte, n)
	x := uint64(n) | 1
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = byte(x)
	}
	return out
}

// TestStore_Read_CorruptValues: bbolt has no checksums over its pages. Reading reports damage to any byte of a value.
func TestStore_Read_CorruptValues(t *testing.T) {
	f := openFlaky(t, Options{})
	for n := range int32(3) {
		f.mustAppend(t, 1, n)
	}
	damage(t, f, messageKey(ratioID(1), 1), func(v []byte) { v[len(v)-1] ^= 1 })
	q := store.Query{Ranges: []store.MessageRange{{}}}
	q.Ranges[0].End = 3
	if _, err := f.Read(t.Context(), ratioKey(1), q); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("a damaged message: %v", err)
	}
	q.Ranges[0].End = 1
	if _, err := f.Read(t.Context(), ratioKey(1), q); err != nil {
		t.Fatalf("a message beside it: %v", err)
	}
	damage(t, f, headKey(ratioID(1)), func(v []byte) { v[9] ^= 0x10 })
	if _, err := f.Read(t.Context(), ratioKey(1), store.Query{}); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("a damaged head: %v", err)
	}
	if err := f.append(t, 1, 3); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("an append to a damaged head: %v", err)
	}
	f.mustAppend(t, 2, 0)
}

// TestStore_Read_CorruptPlaces: a good message under another index is damage too.
func TestStore_Read_CorruptPlaces(t *testing.T) {
	f := openFlaky(t, Options{})
	for n := range int32(2) {
		f.mustAppend(t, 1, n)
	}
	err := f.submit(t.Context(), store.Key{}, func(t *tx) error {
		return t.record().Put(messageKey(ratioID(1), 1), bytes.Clone(t.record().Get(messageKey(ratioID(1), 0))))
	})
	if err != nil {
		t.Fatal(err)
	}
	q := store.Query{Ranges: []store.MessageRange{{}}}
	q.Ranges[0].End = 2
	if _, err := f.Read(t.Context(), ratioKey(1), q); !errors.Is(err, store.ErrCorrupt) {
		t.Fatal(err)
	}
}

func damage(t *testing.T, f *flaky, key []byte, how func([]byte)) {
	t.Helper()
	err := f.submit(t.Context(), store.Key{}, func(t *tx) error {
		value := bytes.Clone(t.record().Get(key))
		how(value)
		return t.record().Put(key, value)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStore_Batch_SpoilerHarmsNobody: a request that fails while it writes affects no other request.
func TestStore_Batch_SpoilerHarmsNobody(t *testing.T) {
	f := openFlaky(t, Options{})
	hold := make(chan struct{})
	f.failOnce(func(commit func() error) error { <-hold; return commit() })
	var wg sync.WaitGroup
	wg.Go(func() { f.mustAppend(t, 0, 0) }) // the others gather behind it
	time.Sleep(10 * time.Millisecond)
	spoiled := errors.New("spoiled")
	for i := range 20 {
		wg.Go(func() {
			if i%5 != 0 {
				if err := f.append(t, i, 0); err != nil {
					t.Error(err)
				}
				return
			}
			err := f.submit(t.Context(), store.Key{}, func(t *tx) error {
				return errors.Join(t.record().Put(fmt.Append(nil, "half ", i), []byte{1}), spoiled)
			})
			if !errors.Is(err, spoiled) {
				t.Error(err)
			}
		})
	}
	time.Sleep(10 * time.Millisecond)
	close(hold)
	wg.Wait()
	_ = f.view(t.Context(), func(x *tx) error {
		if keys := keysUnder(x.record(), []byte("half "), 9, nil); len(keys) > 0 {
			t.Errorf("half a change is there: %q", keys)
		}
		return nil
	})
}

// TestOpen_Locked_SaysWhatToDo: the message names the file, who has it and the way out, and comes in time.
func TestOpen_Locked_SaysWhatToDo(t *testing.T) {
	f := openFlaky(t, Options{})
	start := time.Now()
	_, err := Open(f.path, Options{LockTimeout: 60 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), f.path) || !strings.Contains(err.Error(), fmt.Sprintf("process %d has it open; stop that one", os.Getpid())) {
		t.Fatal(err)
	}
	if took := time.Since(start); took > testlane.Slack(5*time.Second) {
		t.Fatalf("it took %v", took)
	}
}

// TestOpen_Files_ThatAreNotOurs are refused, and left as they are.
func TestOpen_Files_ThatAreNotOurs(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database\n"), 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign, later := filepath.Join(folder, "foreign"), filepath.Join(folder, "later")
	db, err := bbolt.Open(foreign, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := fill(later, Options{}.withDefaults()); err != nil {
		t.Fatal(err)
	}
	if db, err = bbolt.Open(later, 0o600, nil); err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(t *bbolt.Tx) error { return t.Bucket(bucketMeta).Put([]byte("layout"), []byte("2")) })
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, foreign, later, folder, filepath.Join(folder, "none", "x")} {
		if s, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v", path, s, err)
		}
	}
}

// TestOpen_CutFile_IsRefused: a file that lost its end says so, wherever it was cut, instead of ending the process later.
func TestOpen_CutFile_IsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	used := pages.ReadMeta(bytes.NewReader(whole), 0)
	for _, size := range []int{8209, 3 * os.Getpagesize(), int(used.Pages)*int(used.PageSize) - 1} {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(path, Options{}); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("cut to %d of %d bytes: %v, %v", size, len(whole), s, err)
		}
	}
}

// TestOpen_Creation_IsAllOrNothing: what a crash leaves of a creation is not taken for a store, and many processes may create
// at once.
func TestOpen_Creation_IsAllOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(path+".new-1", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := create(path, Options{}.withDefaults()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(path + ".new-*")
	if err != nil || len(left) != 1 {
		t.Fatalf("left behind: %v, %v", left, err)
	}
}

// TestPublish_ExistingFile_Stays: if two processes create a store at once, the later one must not replace a file to which the
// earlier one may have written already.
func TestPublish_ExistingFile_Stays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	for _, text := range []string{"first", "second"} {
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(publish(path+".new", path), os.Remove(path+".new")); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "first" {
		t.Fatalf("%s, %v", got, err)
	}
}
