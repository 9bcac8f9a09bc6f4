package bolt

import (
	"os"
	"path/filepath"
	"time"
)

// Stats is the state of a store at one time.
type Stats struct {
	// FileBytes is the size of the file. FreeBytes is how much of it the next commits may use; without Options.Statistics it is a lower
	// bound.
	FileBytes, FreeBytes int64
	// MaxBytes is the largest size of the file; 0 if only the disk bounds it.
	MaxBytes int64
	// DiskFreeBytes is how many bytes the file system has left for this user; -1 if that is unknown.
	DiskFreeBytes int64
	// Queued is the number of changes that wait for the writer.
	Queued int
	// Busy is how long the writer's current commit has taken so far; 0 between commits.
	Busy time.Duration
}

// Stats returns the state of the store. It only waits while the file is being mapped again, or replaced after a disk failure.
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

// Busy returns how long the writer's current commit has taken so far; 0 between commits. It does not wait.
func (s *Store) Busy() time.Duration {
	if began := s.began.Load(); began != 0 {
		return time.Since(time.Unix(0, began))
	}
	return 0
}
