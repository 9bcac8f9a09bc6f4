package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/wipe"
)

// soon is more than what a round takes in the files of these tests, while others use the machine too.
const soon = 10*time.Second + testlane.Beside

func openAt(t *testing.T, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// wantGone waits until the raw file holds none of the texts any more. The store may be open.
func wantGone(t *testing.T, path string, texts ...string) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		raw, found := read(t, path), ""
		for _, text := range texts {
			if n := bytes.Count(raw, []byte(text)); n > 0 {
				found = fmt.Sprintf("%d copies of %.40q", n, text)
				break // the rest is looked for when this is gone
			}
		}
		if found == "" {
			return
		}
		if time.Since(start) > soon {
			t.Fatal(found, "are left after", soon)
		}
	}
}

func wantThere(t *testing.T, path string, texts ...string) {
	t.Helper()
	raw := read(t, path)
	for _, text := range texts {
		if !bytes.Contains(raw, []byte(text)) {
			t.Fatalf("%.40q is not in the file", text)
		}
	}
}

// intact fails unless message n is there in full, in each of its places.
func (d *diary) intact(t *testing.T, n int32) {
	t.Helper()
	if d.erased(t, n) {
		t.Fatalf("conversation %d: message %d is gone", d.conv, n)
	}
	of := conversation.Range{First: n, End: n + 1}
	snap, err := d.s.Read(t.Context(), ratioKey(d.conv), store.Query{
		Ranges: []store.MessageRange{{Range: of}}, Contents: []store.ContentRange{{ID: contentOf(n), Length: -1}},
	})
	must(t, err)
	want := secretOf(d.conv, n)
	if got := snap.Messages[0].Parts[0].Text.Inline; got != want || string(snap.Contents[0]) != want {
		t.Fatalf("conversation %d: message %d is %q, %q", d.conv, n, got, snap.Contents[0])
	}
}

func (d *diary) sweep(t *testing.T, n int32) {
	t.Helper()
	done, err := d.s.Delete(t.Context(), ratioKey(d.conv), store.Deletion{Incarnation: d.head.Incarnation, Upload: contentOf(n)})
	if err != nil || !done {
		t.Fatalf("swept: %v, %v", done, err)
	}
}

func (d *diary) bury(t *testing.T, keepHead bool) {
	t.Helper()
	c := d.next()
	c.Head.State = store.Deleted
	must(t, d.commit(t.Context(), c))
	for done := false; !done; {
		var err error
		done, err = d.s.Delete(t.Context(), ratioKey(d.conv), store.Deletion{Incarnation: d.head.Incarnation, KeepHead: keepHead})
		must(t, err)
	}
}

// checked opens a file that no process has open, and fails if bbolt finds anything wrong with it. It returns how many free pages
// are not zeroed.
func checked(t testing.TB, path string) (unwiped int) {
	t.Helper()
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for err := range tx.Check() {
		t.Error(err)
	}
	raw, size := make([]byte, db.Info().PageSize), db.Info().PageSize
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for page := pages.First; page < int(info.Size())/size; page++ {
		if !wipe.IsFree(tx, page) {
			continue
		}
		if _, err := f.ReadAt(raw, int64(page*size)); err != nil {
			t.Fatal(err)
		}
		if len(bytes.Trim(raw, "\x00")) > 0 {
			unwiped++
		}
	}
	return unwiped
}

// TestStore_Wipe_NothingErasedStaysInTheFile: this holds after an erasure, after the sweep of a content, and after the end of a
// conversation, although the store does nothing else. Other data in the same pages stays.
func TestStore_Wipe_NothingErasedStaysInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{})
	a, b := newDiary(s, 1), newDiary(s, 2)
	for range 5 {
		must(t, a.write(t.Context()), b.write(t.Context()))
	}
	secret := secretOf(1, 2)
	wantThere(t, path, secret)
	must(t, a.erase(t.Context(), 2))
	// The content is released, and there until it is swept: not in a page that is free.
	for start := time.Now(); bytes.Count(read(t, path), []byte(secret)) > 1; time.Sleep(time.Millisecond) {
		if time.Since(start) > soon {
			t.Fatal("copies are left")
		}
	}
	a.sweep(t, 2)
	wantGone(t, path, secret)
	wantThere(t, path, secretOf(1, 1), secretOf(1, 3))
	a.bury(t, true)
	wantGone(t, path, secretOf(1, 0), secretOf(1, 1), secretOf(1, 3), secretOf(1, 4))
	for n := range int32(5) {
		b.intact(t, n)
	}
	must(t, s.Close())
	if n := checked(t, path); n > 0 {
		t.Errorf("%d free pages have something in them", n)
	}
}

// TestStore_Wipe_LongValues: values with pages of their own are wiped in their stored form.
func TestStore_Wipe_LongValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{})
	d := newDiary(s, 1)
	must(t, d.write(t.Context()), d.write(t.Context()))
	long := map[string][]byte{ // one that is stored as it is, one that is compressed, and a chunk
		"noise": noise(100_000), "words": []byte(strings.Repeat(fmt.Sprintf("%x, said the witness. ", noise(3000)), 3)), "chunk": noise(store.ChunkBytes),
	}
	upload := contentOf(100)
	must(t, s.Stage(t.Context(), ratioKey(1), &store.Upload{Incarnation: d.head.Incarnation, ID: upload, Data: long["chunk"]}))
	c := d.next()
	c.Head.Messages, c.Uploads = 4, []conversation.ID{upload}
	c.Messages = []conversation.Message{
		d.message(2, conversation.Content{Inline: string(long["noise"])}, c.Head.Version),
		d.message(3, conversation.Content{Inline: string(long["words"])}, c.Head.Version),
	}
	must(t, d.commit(t.Context(), c))
	var pieces []string // of each page of what is stored
	must(t, s.view(t.Context(), func(x *tx) error {
		for _, v := range [][]byte{
			x.record().Get(messageKey(d.head.Incarnation, 2)), x.record().Get(messageKey(d.head.Incarnation, 3)),
			x.chunks().Get(chunkKey(d.head.Incarnation, upload, 0)),
		} {
			for at := 0; at+64 < len(v); at += 2048 {
				pieces = append(pieces, string(v[at:at+64]))
			}
		}
		return nil
	}))
	wantThere(t, path, pieces...)
	c = d.next()
	gone := conversation.Content{Erased: &conversation.ErasedContent{Bytes: 1}}
	c.ReplaceMessages = []conversation.Message{d.message(2, gone, 3), d.message(3, gone, 3)}
	c.Release = []conversation.ID{upload}
	must(t, d.commit(t.Context(), c))
	done, err := s.Delete(t.Context(), ratioKey(1), store.Deletion{Incarnation: d.head.Incarnation, Upload: upload})
	if err != nil || !done {
		t.Fatalf("swept: %v, %v", done, err)
	}
	wantGone(t, path, pieces...)
	d.intact(t, 0)
	d.intact(t, 1)
}

// TestStore_Wipe_CommitsThatEraseNothing: they cost nothing: after the round of opening there is no other.
func TestStore_Wipe_CommitsThatEraseNothing(t *testing.T) {
	var steps atomic.Int64
	s := openAt(t, filepath.Join(t.TempDir(), "store.db"), Options{Wipe: func(step func() error) error { steps.Add(1); return step() }})
	quiet(t, &steps)
	d := newDiary(s, 1)
	before := steps.Load()
	for range 20 {
		must(t, d.write(t.Context()))
	}
	quiet(t, &steps)
	if n := steps.Load() - before; n > 0 {
		t.Fatalf("%d steps for commits that erase nothing", n)
	}
	must(t, d.erase(t.Context(), 0))
	quiet(t, &steps)
	if steps.Load() == before {
		t.Fatal("no step for one that does")
	}
}

// quiet waits until nothing has been wiped for a while.
func quiet(t *testing.T, steps *atomic.Int64) {
	t.Helper()
	for last := int64(-1); last != steps.Load(); time.Sleep(300 * time.Millisecond) {
		last = steps.Load()
	}
}

// TestStore_Wipe_ReadersSeeWhatTheyBeganWith: a page that a read transaction can see is not overwritten, whether the transaction
// began before the erasure or during the round.
func TestStore_Wipe_ReadersSeeWhatTheyBeganWith(t *testing.T) {
	t.Run("Briefly", func(t *testing.T) { readsWhileErased(t, 200*time.Millisecond, soon) })
	t.Run("Long", func(t *testing.T) { readsWhileErased(t, wipe.Patient+500*time.Millisecond, 200*time.Millisecond) })
}

// readsWhileErased reads for a while after an erasure, and a bit longer if that is how long a commit takes.
func readsWhileErased(t *testing.T, reads, longer time.Duration) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{})
	d := newDiary(s, 1)
	must(t, d.write(t.Context()), d.write(t.Context()))
	began, end := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := s.view(t.Context(), func(x *tx) error {
			close(began)
			<-end
			m, err := (&reader{tx: x}).message(messageKey(d.head.Incarnation, 0), x.record().Get(messageKey(d.head.Incarnation, 0)))
			if err == nil && m.Parts[0].Text.Inline != secretOf(1, 0) {
				err = fmt.Errorf("it reads %q", m.Parts[0].Text.Inline)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-began
	must(t, d.erase(t.Context(), 0))
	d.sweep(t, 0)
	time.Sleep(reads)
	wrote := make(chan struct{})
	wg.Go(func() {
		defer close(wrote)
		must(t, d.write(t.Context()))
	})
	select {
	case <-wrote:
	case <-time.After(longer): // the writer waits by now, for this reader
	}
	close(end)
	wg.Wait()
	wantGone(t, path, secretOf(1, 0))
}

// TestStore_Wipe_AmongReadersAndWriters: nobody who reads or writes notices.
func TestStore_Wipe_AmongReadersAndWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{})
	const conversations, messages = 4, 40
	for conv := range conversations {
		d := newDiary(s, conv)
		for range 4 {
			must(t, d.write(t.Context()))
		}
	}
	var writers, others sync.WaitGroup
	stop := make(chan struct{})
	for conv := range conversations {
		others.Go(func() {
			r := rand.New(rand.NewPCG(uint64(conv), 1))
			for d := newDiary(s, conv); ; {
				select {
				case <-stop:
					return
				default:
					d.intact(t, int32(r.IntN(4)))
				}
			}
		})
		writers.Go(func() {
			d := newDiary(s, conv)
			d.erased(t, 0) // loads the head
			for n := int32(4); n < messages; n++ {
				must(t, d.write(t.Context()), d.erase(t.Context(), n))
				d.sweep(t, n)
			}
		})
	}
	writers.Wait()
	close(stop)
	others.Wait()
	var secrets []string
	for conv := range conversations {
		for n := int32(4); n < messages; n++ {
			secrets = append(secrets, secretOf(conv, n))
		}
	}
	wantGone(t, path, secrets...)
	must(t, s.Close())
	if n := checked(t, path); n > 0 {
		t.Errorf("%d free pages have something in them", n)
	}
}

// TestStore_Wipe_AnyWorkload: afterwards bbolt finds nothing wrong, everything that was not erased is there, and all free pages
// are zeroed once the last operation was an erasure.
func TestStore_Wipe_AnyWorkload(t *testing.T) {
	checks := 40
	if testing.Short() { // any workload shows the race detector what the wiper does beside a caller
		checks = 8
	}
	proptest.CheckN(t, checks, func(r *rapid.T) {
		folder, err := os.MkdirTemp("", "wipe-*")
		must(t, err)
		defer func() { must(t, os.RemoveAll(folder)) }()
		path := filepath.Join(folder, "store.db")
		s := openAt(t, path, Options{})
		live := map[int]map[int32]bool{} // message -> erased
		diaries := map[int]*diary{}
		steps := rapid.SliceOfN(rapid.IntRange(0, 19), 1, 30).Draw(r, "steps")
		for i, step := range append(steps, 0, 10, 18) {
			conv := (step + i) % 3
			d := diaries[conv]
			switch {
			case step < 10 || d == nil:
				if d == nil {
					conv += 3 * i // a name of its own
					d = newDiary(s, conv)
					diaries[conv%3], live[conv%3] = d, map[int32]bool{}
				}
				live[conv%3][d.head.Messages] = false
				must(t, d.write(t.Context()))
			case step < 16:
				n := int32((step * i) % len(live[conv]))
				must(t, d.erase(t.Context(), n))
				live[conv][n] = true
				if step%2 == 0 {
					d.sweep(t, n)
				}
			case step < 17:
				d.bury(t, i%2 == 0)
				delete(diaries, conv)
				delete(live, conv)
			case step < 18:
				time.Sleep(3 * time.Millisecond)
			default:
				must(t, s.Close())
				checked(t, path)
				s = openAt(t, path, Options{})
				for _, d := range diaries {
					d.s = s
				}
			}
			for conv, d := range diaries {
				for n, erased := range live[conv] {
					if erased != d.erased(t, n) {
						t.Fatalf("message %d: erased is not %v", n, erased)
					}
				}
			}
		}
		for conv, d := range diaries {
			for n, erased := range live[conv] {
				if !erased {
					d.intact(t, n)
				}
			}
		}
		must(t, s.Close())
		if n := checked(t, path); n > 0 {
			t.Fatalf("%d free pages have something in them", n)
		}
	})
}
