// Package wipe writes zeros over the pages of a bbolt file that are in no tree.
//
// bbolt never changes a page that is in use. Each commit writes its pages to new places and frees the old ones. So what was replaced
// or deleted stays in free pages, word for word, until a later commit happens to use them; in a store without commits, that is for
// ever. The pages freed by the erasing commit are not the only copies: every earlier commit that wrote to the same page left one. So
// after a commit that erased something, the writer goes once through the whole file and writes zeros over what is free, in small
// pieces between its batches.
//
// Nothing that is needed is ever overwritten, no matter when the machine stops, because of these conditions before each piece:
//   - Both meta pages on disk lead to the same tree (settle). A free page is then in neither tree, whichever meta page is read when
//     the file is opened again. bbolt itself promises less: the next commit may use pages that the older meta page leads to.
//   - No read transaction is open that began before that (readers). Later ones see the tree that both meta pages lead to.
//   - The writer holds the write transaction in which it asks bbolt, page by page, what is free, and no other process can write: the
//     file is locked. It is the same file that bbolt opened.
//   - The list of free pages is not in the file (NoFreelistSync).
//
// So a page that is only half zeroed is a free page. Zeros that were lost are written in the round that begins whenever a file is
// opened. At that time it is not known what a crash left, not even behind the last page that was ever in use (tail).
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

// How much a piece does, and how long it waits for what is in its way.
const (
	pieceFor   = time.Millisecond // how long a piece looks at pages
	pieceBytes = 1 << 20          // how many bytes a piece writes
	runBytes   = 256 << 10        // how many bytes are read and written at a time
	lookPages  = 1024             // number of pages between two looks at the clock
	share      = 4                // the writer leaves this many times a piece's duration before the next piece
	readersFor = time.Millisecond // how long a piece waits for older readers
	Patient    = time.Second      // how long pieces are put off for older readers before a piece waits until these end
	Retry      = time.Second      // delay after a failure, doubled each time
	longest    = time.Minute      // the longest such delay
	finishFor  = time.Second      // how long Finish continues the round
)

// Wiper makes the rounds. Except for its Readers, it is used by the writer only.
type Wiper struct {
	// Readers are the readers of the file to be wiped, and of the file before.
	Readers Readers

	round
	db   *bbolt.DB
	file *os.File
	step func(func() error) error
	sick func(commit error, tx int) bool
}

// New makes a wiper of the file that bbolt opened as db, with a round due. Each step that reaches the disk is made through step. sick
// reports whether the file must be rewritten after a failed commit.
func New(db *bbolt.DB, file *os.File, step func(func() error) error, sick func(commit error, tx int) bool) *Wiper {
	return &Wiper{round: newRound(), db: db, file: file, step: step, sick: sick}
}

// Renew continues with a new file in place of one that failed.
func (w *Wiper) Renew(db *bbolt.DB, file *os.File) {
	w.round, w.db, w.file = w.renewed(), db, file
}

// Piece does one piece of the round. A failed piece harms nothing that is in use, so the store goes on, and the round is made again
// later. sick reports that a commit failed, so that the file must be rewritten as after any other failed commit.
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

// settle makes both meta pages lead to the newest tree, with commits that change nothing else. It then reads the file instead of
// relying on what such a commit writes.
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

// outlived reports whether all read transactions from before settle have ended. In a store that is always being read, older reads may
// block one piece after another; then the writer waits for them, and nobody else does.
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

// wipePages wipes free pages until the piece has taken its time or the round is at its end. It returns the number of bytes written,
// which are not synced yet.
func (w *Wiper) wipePages() (wrote int, err error) {
	// bbolt ends the process when it reads a sector that cannot be read. Looking at all pages must not make that happen sooner.
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

// roundEnd is the page after the last one that the round looks at.
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

// freeRun moves to the next run of free pages, and past it.
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
	w.aligned = w.aligned || n > 0 // the page after a free page is never the middle of a value
	return first, n
}

// pass moves past a page in use, and past its overflow pages, whose number its header holds. If the page may be the middle of a value,
// because of a commit since the last piece, pass moves by one page: what seems to be a header may be text. It stops before a free
// page, and reports that.
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

// IsFree reports whether a page is in no tree.
func IsFree(t *bbolt.Tx, page int) bool {
	free, _, _ := look(t, page)
	return free
}

// look asks bbolt whether a page is in no tree, and how many overflow pages it has. ok and free are false if its sector cannot be
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
	if err != nil || info == nil { // nil: after all pages in use
		return err == nil, 0, err == nil
	}
	return info.Type == "free", info.OverflowCount, true
}

// wipeRun writes zeros over those pages of a free run that hold anything else, or that cannot be read.
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

// sort returns how many leading bytes of the pages are clean, and how many after these are not.
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

// Finish continues the round before the store closes. The rest is done when the file is opened again.
func (w *Wiper) Finish() {
	for start := time.Now(); w.due && time.Since(start) < finishFor; {
		if sick := w.Piece(); sick || w.retry > 0 {
			return
		}
	}
}
