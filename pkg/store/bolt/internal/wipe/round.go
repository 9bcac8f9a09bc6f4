package wipe

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
)

// round is how far a round has come.
type round struct {
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

// newRound knows nothing of the file.
func newRound() round {
	return round{due: true, tail: true, next: pages.First, stop: pages.First, aligned: true}
}

// renewed is for a new file in place of one that failed. It waits as long as the old one was to: a disk that goes on failing
// would otherwise be kept busy with one new file after the other.
func (r *round) renewed() round {
	n := newRound()
	n.at, n.retry = r.at, r.retry
	return n
}

// Want begins a round, or makes the one that goes on end no sooner than where it is now.
func (r *round) Want() {
	r.due, r.stop, r.lapped = true, r.next, false
}

// Moved is for every commit.
func (r *round) Moved() { r.settled, r.aligned = false, false }

// Failed is for a commit that failed and left its pages wherever they were to be.
func (r *round) Failed() {
	r.Moved()
	r.tail = true
	if r.due {
		r.Want()
	}
}

// Ready says whether a piece may begin.
func (r *round) Ready() bool { return r.due && !time.Now().Before(r.at) }

// Timer fires when the next piece may begin; never, if none is due.
func (r *round) Timer() <-chan time.Time {
	if !r.due {
		return nil
	}
	return time.After(time.Until(r.at))
}

// limit is where the round goes to next without a turn.
func (r *round) limit(end int) int {
	if r.lapped {
		return min(end, r.stop)
	}
	return end
}

// over says whether the round is at its end. At the end of the file it turns back to the beginning.
func (r *round) over(end int) bool {
	if r.next < end || r.lapped {
		return r.next >= r.limit(end)
	}
	r.next, r.lapped, r.aligned = pages.First, true, true
	return r.next >= r.limit(end)
}

// went is for a piece that is on disk.
func (r *round) went() {
	if r.retry = 0; r.lapped && r.next >= r.stop {
		*r = round{at: r.at, next: r.next, aligned: r.aligned, settled: r.settled}
	}
}

func (r *round) rest(took time.Duration) { r.at = time.Now().Add(share * took) }

// fault puts the round off and begins it again: what was written before the disk failed may not be there.
func (r *round) fault() {
	r.blind = true
	r.Want()
	r.retry = min(max(2*r.retry, Retry), longest)
	r.at = time.Now().Add(r.retry)
}
