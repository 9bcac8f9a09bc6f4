package wipe

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
)

// round is the progress of a round.
type round struct {
	due     bool      // a round is to be made, or is in progress
	at      time.Time // when its next piece may begin
	next    int       // the next page to look at
	stop    int       // the page at which it ends after it has been at the end of the file
	lapped  bool      // it has been at the end of the file
	aligned bool      // the next page is not in the middle of a value that takes several pages
	settled bool      // no commit came after settle
	tail    bool      // pages after those in use may hold something: a commit failed, or this is not known
	blind   bool      // zeros that are read may not be on disk: write them again
	retry   time.Duration
	waits   time.Time // since when older readers have been in the way; zero if none are
	buf     []byte
	zeros   []byte
}

// newRound returns a round that knows nothing about the file.
func newRound() round {
	return round{due: true, tail: true, next: pages.First, stop: pages.First, aligned: true}
}

// renewed returns a round for a new file in place of one that failed. It keeps the old round's waiting time: otherwise a
// disk that keeps failing would be kept busy with one new file after another.
func (r *round) renewed() round {
	n := newRound()
	n.at, n.retry = r.at, r.retry
	return n
}

// Want starts a round. If one is in progress, it continues at least until it reaches its current position again.
func (r *round) Want() {
	r.due, r.stop, r.lapped = true, r.next, false
}

// Moved is called after every commit.
func (r *round) Moved() { r.settled, r.aligned = false, false }

// Failed is called after a commit that failed and may have left its pages anywhere.
func (r *round) Failed() {
	r.Moved()
	r.tail = true
	if r.due {
		r.Want()
	}
}

// Ready reports whether a piece may begin.
func (r *round) Ready() bool { return r.due && !time.Now().Before(r.at) }

// Timer fires when the next piece may begin. It never fires if none is due.
func (r *round) Timer() <-chan time.Time {
	if !r.due {
		return nil
	}
	return time.After(time.Until(r.at))
}

// limit is the page up to which the round may go without turning back.
func (r *round) limit(end int) int {
	if r.lapped {
		return min(end, r.stop)
	}
	return end
}

// over reports whether the round is at its end. At the end of the file, it turns back to the beginning.
func (r *round) over(end int) bool {
	if r.next < end || r.lapped {
		return r.next >= r.limit(end)
	}
	r.next, r.lapped, r.aligned = pages.First, true, true
	return r.next >= r.limit(end)
}

// went is called when a piece is on disk.
func (r *round) went() {
	if r.retry = 0; r.lapped && r.next >= r.stop {
		*r = round{at: r.at, next: r.next, aligned: r.aligned, settled: r.settled}
	}
}

func (r *round) rest(took time.Duration) { r.at = time.Now().Add(share * took) }

// fault delays the round and starts it again: what was written before the disk failed may be lost.
func (r *round) fault() {
	r.blind = true
	r.Want()
	r.retry = min(max(2*r.retry, Retry), longest)
	r.at = time.Now().Add(r.retry)
}
