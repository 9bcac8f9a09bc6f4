package bolt

import (
	"os"
	"path/filepath"
	"time"
)

// Stats is the state of a store at a moment.
type Stats struct {
	// FileBytes is the size of the file, and FreeBytes what of it the next commits may use, without Options.Statistics at least so much.
	FileBytes, FreeBytes int64
	// MaxBytes is how large the file may become; 0 if nothing but the disk bounds it.
	MaxBytes int64
	// DiskFreeBytes is what the file system still has for this user; -1 where the system does not say.
	DiskFreeBytes int64
	// Queued is how many changes wait for the writer.
	Queued int
	// Busy is how long the writer has been in its commit; 0 between commits.
	Busy time.Duration
}

// Stats says how the store is. It waits for nothing but a file that is being mapped anew, or replaced after its disk failed.
func (s *Store) Stats() Stats {
	out := Stats{MaxBytes: s.options.MaxSize, DiskFreeBytes: diskFree(filepath.Dir(s.path)), Queued: len(s.queue), Busy: s.Busy()}
	if info, err := os.Stat(s.path); err == nil {
		out.FileBytes = info.Size()
	}
	s.open.RLock()
	defer s.open.RUnlock()
	if s.isClosed() {
		return out
	}
	t, err := s.db.Begin(false)
	if err != nil {
		return out
	}
	defer t.Rollback()
	stats := s.db.Stats()
	behind := out.FileBytes - t.Size() // the file grows in steps
	out.FreeBytes = int64(stats.FreePageN+stats.PendingPageN)*int64(s.db.Info().PageSize) + max(behind, 0)
	return out
}

// Busy is how long the writer has been in its commit; 0 between commits. It waits for nothing.
func (s *Store) Busy() time.Duration {
	if began := s.began.Load(); began != 0 {
		return time.Since(time.Unix(0, began))
	}
	return 0
}
