package bolt

import (
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
)

// outageRetry is how long after a recovery that failed the next one begins, at least.
const outageRetry = time.Second

// outage is why the writer takes nothing, and when it tries to recover. It belongs to the writer.
type outage struct {
	reason error
	again  time.Time
}

// recovered says whether the writer can go on; in an outage it tries first, if it is time.
func (s *Store) recovered() bool {
	if s.outage.reason != nil && !time.Now().Before(s.outage.again) {
		s.recover()
	}
	return s.outage.reason == nil
}

// recover goes on after a commit that failed while it became durable. After a failed sync the system may hold pages that it
// believes to be on disk and that are not, so the file is written anew. Where the disk has no room for that, the file that is
// there is mended. If neither works, the store answers ErrUnavailable, and tries again.
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

// mend goes on in the file whose commit failed. A commit syncs its pages before it writes its meta page, and a page that is in use
// is never written again. So whichever tree can be seen now, its pages have been synced without an error; only the page that
// leads to it may be missing on disk. That one is written again first, as it is: while it is written, the other one still leads
// to the tree before. Then two commits that change nothing write both.
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
