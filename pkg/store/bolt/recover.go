package bolt

import (
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
)

// outageRetry is the shortest time between a failed recovery and the next one.
const outageRetry = time.Second

// outage says why the writer accepts nothing, and when it tries to recover. Only the writer uses it.
type outage struct {
	reason error
	again  time.Time
}

// recovered reports whether the writer can go on. In an outage it tries to recover first, if it is time.
func (s *Store) recovered() bool {
	if s.outage.reason != nil && !time.Now().Before(s.outage.again) {
		s.recover()
	}
	return s.outage.reason == nil
}

// recover continues after a commit that failed while it became durable. After a failed sync the system may hold pages in memory
// which it believes to be on disk and which are not, so the file is rewritten. If the disk has no room for that, the present file
// is mended. If neither works, the store returns ErrUnavailable, and tries again later.
func (s *Store) recover() {
	began := time.Now()
	err := s.rewrite()
	if full(err) {
		err = s.mend()
	}
	was := s.outage.reason
	if err == nil {
		s.outage = outage{}
		if was != nil {
			s.options.OnState(nil)
		}
		return
	}
	now := time.Now()
	s.outage = outage{
		reason: fmt.Errorf("%w: the disk failed, and the store cannot go on yet: %w", store.ErrUnavailable, err),
		again:  now.Add(max(outageRetry, 4*now.Sub(began))),
	}
	if was == nil {
		s.options.OnState(s.outage.reason)
	}
}

// mend continues in the file whose commit failed. A commit syncs its pages before it writes its meta page, and a page in use is
// never written again. So the pages of any tree that can be seen now were synced without an error, and only the meta page that
// leads to it may be missing on disk. First, mend writes that page again, unchanged: if that fails midway, the other meta page
// still leads to the earlier tree. Then two commits that change nothing write both meta pages.
func (s *Store) mend() error {
	if err := s.rewriteMeta(); err != nil {
		return fmt.Errorf("write the newest meta page of %s: %w", s.path, err)
	}
	for range 2 {
		t, err := s.db.Begin(true)
		if err != nil {
			return err
		}
		if err := s.options.Commit(t.Commit); err != nil {
			_ = t.Rollback()
			return fmt.Errorf("write the meta pages of %s: %w", s.path, err)
		}
	}
	a, b := pages.ReadMeta(s.file, 0), pages.ReadMeta(s.file, int64(s.db.Info().PageSize))
	if !a.Agrees(b) {
		return fmt.Errorf("%s: the two meta pages lead to different trees", s.path)
	}
	s.wiper.Moved()
	return nil
}

func (s *Store) rewriteMeta() error {
	size, at := int64(s.db.Info().PageSize), int64(0)
	if pages.ReadMeta(s.file, size).Tx > pages.ReadMeta(s.file, 0).Tx {
		at = size
	}
	page := make([]byte, size)
	if _, err := s.file.ReadAt(page, at); err != nil {
		return err
	}
	if _, err := s.file.WriteAt(page, at); err != nil {
		return err
	}
	return s.file.Sync()
}
