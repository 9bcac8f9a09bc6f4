package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/wipe"
)

// TestOpen_Wipes_WhatACrashLeft, in free pages and behind the last page in use.
func TestOpen_Wipes_WhatACrashLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{Wipe: func(func() error) error { return syscall.ENOSPC }})
	d := newDiary(s, 1)
	must(t, d.write(t.Context()), d.write(t.Context()), d.erase(t.Context(), 0))
	d.sweep(t, 0)
	must(t, s.Close())
	secret := secretOf(1, 0)
	wantThere(t, path, secret)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	used := int64(max(pages.ReadMeta(f, 0).Pages, pages.ReadMeta(f, int64(os.Getpagesize())).Pages)) * int64(os.Getpagesize())
	for _, at := range []int64{used, (used+info.Size())/2 + 5, info.Size() - 1} {
		_, err = f.WriteAt([]byte(secret), at)
		must(t, err)
	}
	must(t, f.Close(), os.WriteFile(path+rewriting, []byte(secret), 0o600))
	d.s = openAt(t, path, Options{})
	if _, err := os.Stat(path + rewriting); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy that was not finished: %v", err)
	}
	wantGone(t, path, secret)
	d.intact(t, 1)
	must(t, d.s.Close())
	if n := checked(t, path); n > 0 {
		t.Errorf("%d free pages have something in them", n)
	}
}

// TestStore_Wipe_AnyMomentIsWhole stops at each step. The file as it is then can be opened with either of its meta pages, and is
// sound.
func TestStore_Wipe_AnyMomentIsWhole(t *testing.T) {
	testlane.OneCaller(t)
	path := filepath.Join(t.TempDir(), "store.db")
	var mu sync.Mutex
	var moments []moment
	s := openAt(t, path, Options{Wipe: func(step func() error) error {
		before := read(t, path)
		err := step()
		after := read(t, path)
		metas := pages.First * os.Getpagesize()
		commits := !bytes.Equal(before[:metas], after[:metas])
		mu.Lock()
		defer mu.Unlock()
		moments = append(moments, moment{before, commits}, moment{halfway(before, after), commits}, moment{after, false})
		return err
	}})
	d := newDiary(s, 1)
	must(t, d.write(t.Context()), d.write(t.Context()), d.write(t.Context()))
	for n := int32(3); n < 6; n++ {
		must(t, d.write(t.Context()), d.erase(t.Context(), n))
		d.sweep(t, n)
		time.Sleep(30 * time.Millisecond)
	}
	must(t, s.Close())
	mu.Lock()
	defer mu.Unlock()
	if len(moments) < 12 {
		t.Fatalf("%d moments", len(moments))
	}
	for i, m := range moments {
		whole(t, fmt.Sprintf("moment %d", i), m.file)
		if m.commits {
			continue // until it has, bbolt itself needs the newest meta page
		}
		for which := range pages.First {
			lost := bytes.Clone(m.file)
			clear(lost[which*os.Getpagesize()+pages.Header:][:64])
			whole(t, fmt.Sprintf("moment %d without meta page %d", i, which), lost)
		}
	}
}

// moment is a file while a step was made; commits says that it was a commit.
type moment struct {
	file    []byte
	commits bool
}

// halfway is a file of which every other sector has been written, of the pages that are data.
func halfway(before, after []byte) []byte {
	file := bytes.Clone(before)
	for at := pages.First * os.Getpagesize(); at+512 <= min(len(before), len(after)); at += 1024 {
		copy(file[at:at+512], after[at:])
	}
	return file
}

func whole(t *testing.T, what string, file []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy.db")
	must(t, os.WriteFile(path, file, 0o600))
	checked(t, path)
	s := openAt(t, path, Options{Wipe: func(func() error) error { return syscall.ENOSPC }})
	d := newDiary(s, 1)
	for n := range int32(3) {
		if head, err := s.Read(t.Context(), ratioKey(1), store.Query{}); err == nil && head.Head.Messages > n {
			d.intact(t, n)
		}
	}
	must(t, s.Close(), os.Remove(path))
	if t.Failed() {
		t.Fatal(what)
	}
}

// TestStore_Wipe_FaultyDisk: whichever step fails, the store goes on and nothing is lost. What was erased is wiped when the disk
// works again.
func TestStore_Wipe_FaultyDisk(t *testing.T) {
	for name, fail := range map[string]func(step func() error) error{
		"BeforeTheStep": func(func() error) error { return errDisk },
		"AfterTheStep":  func(step func() error) error { return errors.Join(step(), errDisk) },
		"Full":          func(func() error) error { return syscall.ENOSPC },
	} {
		for nth := range int64(3) { // commit, write, sync: what each round has
			t.Run(fmt.Sprintf("%s/%d", name, nth), func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "store.db")
				var steps, armed atomic.Int64
				s := openAt(t, path, Options{Wipe: func(step func() error) error {
					steps.Add(1)
					if armed.Add(-1) == 0 {
						return fail(step)
					}
					return step()
				}})
				d := newDiary(s, 1)
				var secrets []string
				for n := range int32(8) {
					must(t, d.write(t.Context()))
					secrets = append(secrets, secretOf(1, n))
				}
				quiet(t, &steps)
				armed.Store(nth + 1)
				for n := range int32(6) {
					must(t, d.erase(t.Context(), n))
					d.sweep(t, n)
				}
				for start := time.Now(); armed.Load() > 0; time.Sleep(time.Millisecond) {
					if time.Since(start) > soon {
						t.Fatal("no step failed")
					}
				}
				quiet(t, &steps)
				wantGone(t, path, secrets[:6]...)
				d.intact(t, 6)
				d.intact(t, 7)
				must(t, s.Close())
				checked(t, path)
			})
		}
	}
}

// TestStore_Wipe_ZerosThatWereNotSynced: they are written again, because reading them says nothing about the disk.
func TestStore_Wipe_ZerosThatWereNotSynced(t *testing.T) {
	var steps, syncs, armed atomic.Int64
	path := filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{Wipe: func(step func() error) error {
		steps.Add(1)
		before := begin(t, path)
		err := step()
		if armed.Load() > 0 && bytes.Equal(before, begin(t, path)) && syncs.Add(1) == 1 {
			return errDisk // it changed nothing that is read: the sync
		}
		return err
	}})
	d := newDiary(s, 1)
	must(t, d.write(t.Context()), d.write(t.Context()))
	quiet(t, &steps)
	armed.Store(1)
	must(t, d.erase(t.Context(), 0))
	for syncs.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	before := steps.Load()
	for start := time.Now(); steps.Load() < before+2; time.Sleep(time.Millisecond) {
		if time.Since(start) > soon {
			t.Fatal("nothing is written again")
		}
	}
}

// begin reads what is in use of a small file: quickly, so that all of it is wiped in one piece.
func begin(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	data := make([]byte, 128<<10)
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return data[:n]
}

// TestStore_Wipe_DiskThatKeepsFailing: it is not kept busy with one new file after another.
func TestStore_Wipe_DiskThatKeepsFailing(t *testing.T) {
	var steps atomic.Int64
	s := openAt(t, filepath.Join(t.TempDir(), "store.db"), Options{Wipe: func(func() error) error { steps.Add(1); return errDisk }})
	d := newDiary(s, 1)
	for n := range int32(10) {
		must(t, d.write(t.Context()), d.erase(t.Context(), n))
	}
	time.Sleep(500 * time.Millisecond)
	if n := steps.Load(); n > 5 {
		t.Fatalf("%d tries", n)
	}
}

// TestStore_Settle_ListInTheFile: a file in which bbolt wrote its list of free pages has a meta page that needs that list, until
// both have been written without.
func TestStore_Settle_ListInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, create(path, Options{}.withDefaults()))
	db, err := bbolt.Open(path, fileMode, nil)
	must(t, err)
	for range 2 {
		must(t, db.Update(func(t *bbolt.Tx) error { return t.Bucket(bucketMeta).Put([]byte("layout"), []byte(layout)) }))
	}
	must(t, db.Close())
	var wrote atomic.Int64
	s := openAt(t, path, Options{Wipe: func(step func() error) error {
		before := begin(t, path)
		err := step()
		after, size := begin(t, path), os.Getpagesize()
		if bytes.Equal(before[:pages.First*size], after[:pages.First*size]) && !bytes.Equal(before, after) {
			wrote.Add(1)
			a, b := pages.ReadMeta(bytes.NewReader(after), 0), pages.ReadMeta(bytes.NewReader(after), int64(size))
			if !a.Agrees(b) || a.Freelist != 1<<64-1 {
				t.Errorf("written to with %+v and %+v", a, b)
			}
		}
		return err
	}})
	must(t, s.Close())
	if wrote.Load() == 0 {
		t.Error("nothing was wiped")
	}
	checked(t, path)
}

// TestStore_Wipe_NotInAFileThatFailed: after a commit with an unknown outcome, the meta page on disk may be the older one. Pages
// that are only free in the newer tree are left alone until there is a new file.
func TestStore_Wipe_NotInAFileThatFailed(t *testing.T) {
	var steps atomic.Int64
	var full atomic.Bool
	states := make(chan error, 2)
	f := openFlaky(t, Options{OnState: func(reason error) { states <- reason }, Wipe: func(step func() error) error {
		steps.Add(1)
		if full.Load() {
			return syscall.ENOSPC
		}
		return step()
	}})
	d := newDiary(f.Store, 1)
	must(t, d.write(t.Context()), d.write(t.Context()), d.write(t.Context()))
	must(t, os.Mkdir(f.path+rewriting, 0o700), os.WriteFile(filepath.Join(f.path+rewriting, "x"), nil, 0o600))
	quiet(t, &steps)
	full.Store(true)
	must(t, d.erase(t.Context(), 1))
	quiet(t, &steps) // put off for a second
	var before atomic.Int64
	f.failOnce(func(commit func() error) error {
		full.Store(false)
		before.Store(steps.Load())
		time.Sleep(4*wipe.Retry + 200*time.Millisecond) // the next piece may begin by then
		return errors.Join(commit(), errDisk)
	})
	if err := d.erase(t.Context(), 0); !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Fatal(err)
	}
	if err := f.append(t, 7, 0); err == nil {
		t.Fatal("written to a file that failed")
	}
	time.Sleep(100 * time.Millisecond)
	if n := steps.Load() - before.Load(); n > 0 {
		t.Fatalf("%d steps", n)
	}
	must(t, os.RemoveAll(f.path+rewriting))
	if !d.erased(t, 0) || !d.erased(t, 1) {
		t.Fatal("not erased")
	}
	for reason := <-states; reason != nil; {
		reason = <-states // it tries again by itself
	}
	d.sweep(t, 0)
	d.sweep(t, 1)
	wantGone(t, f.path, secretOf(1, 0), secretOf(1, 1))
	d.intact(t, 2)
}

// TestIsFree_UnreadableSector: the process must not end. A file that was cut off stands for the sector.
func TestIsFree_UnreadableSector(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, create(path, Options{}.withDefaults()))
	db, file, err := openFile(path, Options{}.withDefaults())
	must(t, err)
	defer db.Close()
	info, err := file.Stat()
	must(t, err)
	tx, err := db.Begin(true)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	last := int(tx.Size())/db.Info().PageSize - 1
	must(t, file.Truncate(int64(last*db.Info().PageSize)))
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if wipe.IsFree(tx, last) {
		t.Error("it counts as free")
	}
	must(t, file.Truncate(info.Size()))
}
