package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
)

// bbolt never changes a page that is in use. Each commit writes its pages to new places and frees the old ones, so that what is
// replaced or deleted stays in free pages, word for word, until a later commit happens to use them: in a store that has come to
// rest, for ever. The copies that matter are not only those that the erasing commit frees: every commit that wrote to the same
// page before left one. So after a commit that erased something (see tx.erased) the writer goes once round the whole file and
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
const (
	wipeFor     = time.Millisecond // how long one piece looks at pages
	wipeBytes   = 1 << 20          // how much one piece writes
	wipeRun     = 256 << 10        // how much is read and written at once
	wipeLook    = 1024             // pages between two looks at the clock
	wipeShare   = 4                // how much longer than a piece took the writer leaves before the next
	wipeReaders = time.Millisecond // how long a piece waits for older readers
	wipePatient = time.Second      // how long pieces are put off for older readers before one waits as long as they read
	wipeRetry   = time.Second      // how long after a failure it goes on, doubled each time
	wipeLongest = time.Minute      // and how long at most
	wipeClosing = time.Second      // how long Close goes on with it
)

// wipe does one piece of the round. A piece that fails harms nothing that is in use, so the store goes on, and the round is made
// again later. It is sick if a commit failed, as after any other.
func (s *Store) wipe() (sick bool) {
	start := time.Now()
	sick, err := s.wipePiece()
	s.wiper.rest(time.Since(start))
	if err != nil {
		s.wiper.fault()
	}
	return sick
}

func (s *Store) wipePiece() (sick bool, err error) {
	w := &s.wiper
	if !w.settled {
		if sick, err = s.settle(); err != nil {
			return sick, err
		}
	}
	if !s.outlived() {
		return false, nil
	}
	wrote, err := s.wipePages()
	if wrote > 0 {
		err = errors.Join(err, s.options.Wipe(s.db.Sync))
	}
	if err == nil {
		w.went()
	}
	return false, err
}

// settle makes both meta pages lead to the tree of the newest one, by commits that change nothing else. It looks at what is in
// the file then, instead of trusting in what such a commit writes.
func (s *Store) settle() (sick bool, err error) {
	for range 2 {
		t, err := s.db.Begin(true)
		if err != nil {
			return false, err
		}
		id := t.ID()
		if err := s.options.Wipe(t.Commit); err != nil {
			_ = t.Rollback()
			return !full(err) || s.stands(id), err
		}
		a, b := readMeta(s.file, 0), readMeta(s.file, int64(s.db.Info().PageSize))
		if a.agrees(b) {
			s.wiper.settled = true
			s.readers.turnOver()
			return false, nil
		}
	}
	return false, errors.New("the two meta pages lead to different trees")
}

// outlived says whether all read transactions from before settle have ended. In a store that is always being read they may be
// in the way of one piece after the other; then the writer, and nobody else, waits for them.
func (s *Store) outlived() bool {
	w := &s.wiper
	if s.readers.wait(wipeReaders) {
		w.waits = time.Time{}
		return true
	}
	if w.waits.IsZero() {
		w.waits = time.Now()
	}
	if time.Since(w.waits) < wipePatient {
		return false
	}
	w.waits = time.Time{}
	return s.readers.wait(math.MaxInt64)
}

// wipePages wipes free pages until the piece is long enough or the round is at its end. It returns how many bytes it wrote; they
// are not synced yet.
func (s *Store) wipePages() (wrote int, err error) {
	// A sector that cannot be read ends the process when bbolt comes to it. That must not become sooner by looking at all pages.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	t, err := s.db.Begin(true)
	if err != nil {
		return 0, err
	}
	defer func() { _ = t.Rollback() }()
	end, err := s.wipeEnd(t)
	for start := time.Now(); err == nil && wrote < wipeBytes && time.Since(start) < wipeFor && !s.wiper.over(end); {
		first, n := s.freeRun(t, s.wiper.limit(end))
		var more int
		more, err = s.wipeRun(first, n)
		wrote += more
	}
	return wrote, err
}

// wipeEnd is the page behind the last one that the round looks at.
func (s *Store) wipeEnd(t *bbolt.Tx) (int, error) {
	size := s.db.Info().PageSize
	used := int(t.Size()) / size
	if !s.wiper.tail {
		return used, nil
	}
	info, err := s.file.Stat()
	if err != nil {
		return 0, err
	}
	return max(used, (int(info.Size())+size-1)/size), nil
}

// freeRun goes on to the next free pages, and over them.
func (s *Store) freeRun(t *bbolt.Tx, limit int) (first, n int) {
	w, most := &s.wiper, wipeRun/s.db.Info().PageSize
	for look := 0; look < wipeLook && w.next < limit; look++ {
		if w.pass(t) {
			break
		}
	}
	for first = w.next; w.next < limit && n < most && isFree(t, w.next); n++ {
		w.next++
	}
	w.aligned = w.aligned || n > 0 // what comes after a free page is never the middle of anything
	return first, n
}

// pass goes on behind a page that is in use, with all that belong to it: that stands in the first of them. If the round may have
// come to the middle of some, because a commit was made since the last piece, it looks at each: what seems to stand there may be
// somebody's text. It stays before a free page, and says so.
func (w *wiper) pass(t *bbolt.Tx) (free bool) {
	free, more, ok := look(t, w.next)
	switch {
	case free:
		return true
	case !ok || !w.aligned:
		w.next, w.aligned = w.next+1, false
	default:
		w.next += 1 + more
	}
	return false
}

func isFree(t *bbolt.Tx, page int) bool {
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
func (s *Store) wipeRun(first, n int) (wrote int, err error) {
	w, size := &s.wiper, s.db.Info().PageSize
	if w.buf == nil {
		w.buf, w.zeros = make([]byte, wipeRun), make([]byte, wipeRun)
	}
	buf := w.buf[:n*size]
	_, err = s.file.ReadAt(buf, int64(first)*int64(size))
	all := w.blind || err != nil
	for len(buf) > 0 {
		clean, dirty := w.sort(buf, size, all)
		if dirty > 0 {
			if err := s.zero(int64(first)*int64(size)+int64(n*size-len(buf)+clean), dirty); err != nil {
				return wrote, err
			}
		}
		wrote, buf = wrote+dirty, buf[clean+dirty:]
	}
	return wrote, nil
}

// sort says how many bytes of some pages are clean, and how many after those are not.
func (w *wiper) sort(buf []byte, size int, all bool) (clean, dirty int) {
	isClean := func(at int) bool { return !all && bytes.Equal(buf[at:at+size], w.zeros[:size]) }
	for clean < len(buf) && isClean(clean) {
		clean += size
	}
	for clean+dirty < len(buf) && !isClean(clean+dirty) {
		dirty += size
	}
	return clean, dirty
}

func (s *Store) zero(at int64, n int) error {
	err := s.options.Wipe(func() error {
		_, err := s.file.WriteAt(s.wiper.zeros[:n], at)
		return err
	})
	if err != nil {
		return fmt.Errorf("write over pages that are free: %w", err)
	}
	return nil
}

// finishWiping ends the round before the store closes. What it does not get done is done when the file is opened again.
func (s *Store) finishWiping() {
	for start := time.Now(); s.wiper.due && time.Since(start) < wipeClosing; {
		if sick := s.wipe(); sick || s.wiper.retry > 0 {
			return
		}
	}
}
