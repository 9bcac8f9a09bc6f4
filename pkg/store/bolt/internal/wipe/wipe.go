// Package wipe writes zeros over the pages of a file of bbolt's that are in no tree.
//
// bbolt never changes a page that is in use. Each commit writes its pages to new places and frees the old ones, so that what is
// replaced or deleted stays in free pages, word for word, until a later commit happens to use them: in a store that has come to
// rest, for ever. The copies that matter are not only those that the erasing commit frees: every commit that wrote to the same
// page before left one. So after a commit that erased something the writer goes once round the whole file and
// writes zeros over what is free, in small pieces between its batches.
//
// Nothing that is needed is ever written over, at whatever moment the machine stops, because of what holds before each piece:
//   - Both meta pages on disk lead to the same tree (settle). A page that is free is in neither, whichever of the two is read
//     when the file is opened again. bbolt itself promises less: the next commit may use pages that the older meta leads to.
//   - No read transaction is open that began before that (readers). Those that begin later see the tree that both metas lead to.
//   - The writer holds the write transaction in which it asks bbolt, page by page, what is free, and no other process can: the
//     file is locked. The file is the one that bbolt opened.
//   - The list of free pages is not in the file (NoFreelistSync).
//
// So a page that is only half full of zeros is a free page, and zeros that were lost are written in the round that begins
// whenever a file is opened: then nobody knows what a crash left, also behind the last page that was ever in use (tail).
package wipe

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
)

// How much a piece does, and how long what is in its way is waited for.
const (
	pieceFor   = time.Millisecond // how long one piece looks at pages
	pieceBytes = 1 << 20          // how much one piece writes
	runBytes   = 256 << 10        // how much is read and written at once
	lookPages  = 1024             // pages between two looks at the clock
	share      = 4                // how much longer than a piece took the writer leaves before the next
	readersFor = time.Millisecond // how long a piece waits for older readers
	Patient    = time.Second      // how long pieces are put off for older readers before one waits as long as they read
	Retry      = time.Second      // how long after a failure it goes on, doubled each time
	longest    = time.Minute      // and how long at most
	finishFor  = time.Second      // how long Finish goes on with it
)

// Wiper makes the rounds. It belongs to the writer, all but its Readers.
type Wiper struct {
	// Readers are those of the file that it wipes, and of the one before.
	Readers Readers

	round
	db   *bbolt.DB
	file *os.File
	step func(func() error) error
	sick func(commit error, tx int) bool
}

// New makes a wiper of the file that bbolt opened as db, with a round due. It makes each step that reaches the disk by step. sick says
// of a commit that failed whether the file must be written anew.
func New(db *bbolt.DB, file *os.File, step func(func() error) error, sick func(commit error, tx int) bool) *Wiper {
	return &Wiper{round: newRound(), db: db, file: file, step: step, sick: sick}
}

// Renew goes on with a new file in place of one that failed.
func (w *Wiper) Renew(db *bbolt.DB, file *os.File) {
	w.round, w.db, w.file = w.renewed(), db, file
}

// Piece does one piece of the round. A piece that fails harms nothing that is in use, so the store goes on, and the round is made
// again later. It is sick if a commit failed, as after any other.
func (w *Wiper) Piece() (sick bool) {
	start := time.Now()
	sick, err := w.try()
	w.rest(time.Since(start))
	if err != nil {
		w.fault()
	}
	return sick
}

func (w *Wiper) try() (sick bool, err error) {
	if !w.settled {
		if sick, err = w.settle(); err != nil {
			return sick, err
		}
	}
	if !w.outlived() {
		return false, nil
	}
	wrote, err := w.wipePages()
	if wrote > 0 {
		err = errors.Join(err, w.step(w.db.Sync))
	}
	if err == nil {
		w.went()
	}
	return false, err
}

// settle makes both meta pages lead to the tree of the newest one, by commits that change nothing else. It looks at what is in
// the file then, instead of trusting in what such a commit writes.
func (w *Wiper) settle() (sick bool, err error) {
	for range 2 {
		t, err := w.db.Begin(true)
		if err != nil {
			return false, err
		}
		id := t.ID()
		if err := w.step(t.Commit); err != nil {
			_ = t.Rollback()
			return w.sick(err, id), err
		}
		a, b := pages.ReadMeta(w.file, 0), pages.ReadMeta(w.file, int64(w.db.Info().PageSize))
		if a.Agrees(b) {
			w.settled = true
			w.Readers.turnOver()
			return false, nil
		}
	}
	return false, errors.New("the two meta pages lead to different trees")
}

// outlived says whether all read transactions from before settle have ended. In a store that is always being read they may be
// in the way of one piece after the other; then the writer, and nobody else, waits for them.
func (w *Wiper) outlived() bool {
	if w.Readers.wait(readersFor) {
		w.waits = time.Time{}
		return true
	}
	if w.waits.IsZero() {
		w.waits = time.Now()
	}
	if time.Since(w.waits) < Patient {
		return false
	}
	w.waits = time.Time{}
	return w.Readers.wait(math.MaxInt64)
}

// wipePages wipes free pages until the piece is long enough or the round is at its end. It returns how many bytes it wrote; they
// are not synced yet.
func (w *Wiper) wipePages() (wrote int, err error) {
	// A sector that cannot be read ends the process when bbolt comes to it. That must not become sooner by looking at all pages.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	t, err := w.db.Begin(true)
	if err != nil {
		return 0, err
	}
	defer func() { _ = t.Rollback() }()
	end, err := w.roundEnd(t)
	for start := time.Now(); err == nil && wrote < pieceBytes && time.Since(start) < pieceFor && !w.over(end); {
		first, n := w.freeRun(t, w.limit(end))
		var more int
		more, err = w.wipeRun(first, n)
		wrote += more
	}
	return wrote, err
}

// roundEnd is the page behind the last one that the round looks at.
func (w *Wiper) roundEnd(t *bbolt.Tx) (int, error) {
	size := w.db.Info().PageSize
	used := int(t.Size()) / size
	if !w.tail {
		return used, nil
	}
	info, err := w.file.Stat()
	if err != nil {
		return 0, err
	}
	return max(used, (int(info.Size())+size-1)/size), nil
}

// freeRun goes on to the next free pages, and over them.
func (w *Wiper) freeRun(t *bbolt.Tx, limit int) (first, n int) {
	most := runBytes / w.db.Info().PageSize
	for look := 0; look < lookPages && w.next < limit; look++ {
		if w.pass(t) {
			break
		}
	}
	for first = w.next; w.next < limit && n < most && IsFree(t, w.next); n++ {
		w.next++
	}
	w.aligned = w.aligned || n > 0 // what comes after a free page is never the middle of anything
	return first, n
}

// pass goes on behind a page that is in use, with all that belong to it: that stands in the first of them. If the round may have
// come to the middle of some, because a commit was made since the last piece, it looks at each: what seems to stand there may be
// somebody's text. It stays before a free page, and says so.
func (r *round) pass(t *bbolt.Tx) (free bool) {
	free, more, ok := look(t, r.next)
	switch {
	case free:
		return true
	case !ok || !r.aligned:
		r.next, r.aligned = r.next+1, false
	default:
		r.next += 1 + more
	}
	return false
}

// IsFree says whether a page is in no tree.
func IsFree(t *bbolt.Tx, page int) bool {
	free, _, _ := look(t, page)
	return free
}

// look asks bbolt whether a page is in no tree, and how many more belong to it. It is not ok, nor free, if its sector cannot be
// read.
func look(t *bbolt.Tx, page int) (free bool, more int, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, fault := r.(interface{ Addr() uintptr }); !fault {
				panic(r)
			}
		}
	}()
	info, err := t.Page(page)
	if err != nil || info == nil { // nil: behind all that are in use
		return err == nil, 0, err == nil
	}
	return info.Type == "free", info.OverflowCount, true
}

// wipeRun writes zeros over those of some free pages that have anything else in them, or that cannot be read.
func (w *Wiper) wipeRun(first, n int) (wrote int, err error) {
	size := w.db.Info().PageSize
	if w.buf == nil {
		w.buf, w.zeros = make([]byte, runBytes), make([]byte, runBytes)
	}
	buf := w.buf[:n*size]
	_, err = w.file.ReadAt(buf, int64(first)*int64(size))
	all := w.blind || err != nil
	for len(buf) > 0 {
		clean, dirty := w.sort(buf, size, all)
		if dirty > 0 {
			if err := w.zero(int64(first)*int64(size)+int64(n*size-len(buf)+clean), dirty); err != nil {
				return wrote, err
			}
		}
		wrote, buf = wrote+dirty, buf[clean+dirty:]
	}
	return wrote, nil
}

// sort says how many bytes of some pages are clean, and how many after those are not.
func (w *Wiper) sort(buf []byte, size int, all bool) (clean, dirty int) {
	isClean := func(at int) bool { return !all && bytes.Equal(buf[at:at+size], w.zeros[:size]) }
	for clean < len(buf) && isClean(clean) {
		clean += size
	}
	for clean+dirty < len(buf) && !isClean(clean+dirty) {
		dirty += size
	}
	return clean, dirty
}

func (w *Wiper) zero(at int64, n int) error {
	err := w.step(func() error {
		_, err := w.file.WriteAt(w.zeros[:n], at)
		return err
	})
	if err != nil {
		return fmt.Errorf("write over pages that are free: %w", err)
	}
	return nil
}

// Finish ends the round before the store closes. What it does not get done is done when the file is opened again.
func (w *Wiper) Finish() {
	for start := time.Now(); w.due && time.Since(start) < finishFor; {
		if sick := w.Piece(); sick || w.retry > 0 {
			return
		}
	}
}
