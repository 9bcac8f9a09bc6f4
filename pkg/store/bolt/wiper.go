package bolt

import "time"

// firstPage is the first page that is no meta page.
const firstPage = 2

// wiper is how far the round has come. It belongs to the writer.
type wiper struct {
	due     bool      // a round is to be made, or goes on
	at      time.Time // when its next piece may begin
	next    int       // the page that it comes to next
	stop    int       // the page where it ends once it has been at the end of the file
	lapped  bool      // it has been there
	aligned bool      // the next page is no middle of a value that has several pages
	settled bool      // no commit came after settle
	tail    bool      // pages behind those in use may hold something: a commit failed, or nobody knows
	blind   bool      // zeros may not be on disk although they are read: write them again
	retry   time.Duration
	waits   time.Time // since when older readers have been in the way; zero if they are not
	buf     []byte
	zeros   []byte
}

// newWiper knows nothing of the file.
func newWiper() wiper {
	return wiper{due: true, tail: true, next: firstPage, stop: firstPage, aligned: true}
}

// renewed is for a new file in place of one that failed. It waits as long as the old one was to: a disk that goes on failing
// would otherwise be kept busy with one new file after the other.
func (w *wiper) renewed() wiper {
	n := newWiper()
	n.at, n.retry = w.at, w.retry
	return n
}

// want begins a round, or makes the one that goes on end no sooner than where it is now.
func (w *wiper) want() {
	w.due, w.stop, w.lapped = true, w.next, false
}

// moved is for every commit.
func (w *wiper) moved() { w.settled, w.aligned = false, false }

// failed is for a commit that failed and left its pages wherever they were to be.
func (w *wiper) failed() {
	w.moved()
	w.tail = true
	if w.due {
		w.want()
	}
}

func (w *wiper) ready() bool { return w.due && !time.Now().Before(w.at) }

// timer fires when the next piece may begin; never, if none is due.
func (w *wiper) timer() <-chan time.Time {
	if !w.due {
		return nil
	}
	return time.After(time.Until(w.at))
}

// limit is where the round goes to next without a turn.
func (w *wiper) limit(end int) int {
	if w.lapped {
		return min(end, w.stop)
	}
	return end
}

// over says whether the round is at its end. At the end of the file it turns back to the beginning.
func (w *wiper) over(end int) bool {
	if w.next < end || w.lapped {
		return w.next >= w.limit(end)
	}
	w.next, w.lapped, w.aligned = firstPage, true, true
	return w.next >= w.limit(end)
}

// went is for a piece that is on disk.
func (w *wiper) went() {
	if w.retry = 0; w.lapped && w.next >= w.stop {
		*w = wiper{at: w.at, next: w.next, aligned: w.aligned, settled: w.settled}
	}
}

func (w *wiper) rest(took time.Duration) { w.at = time.Now().Add(wipeShare * took) }

// fault puts the round off and begins it again: what was written before the disk failed may not be there.
func (w *wiper) fault() {
	w.blind = true
	w.want()
	w.retry = min(max(2*w.retry, wipeRetry), wipeLongest)
	w.at = time.Now().Add(w.retry)
}
