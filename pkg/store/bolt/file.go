package bolt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
)

// layout is the version of the buckets and keys. A file with another version is refused.
const layout = "1"

const fileMode = 0o600

const defaultMap = min(4<<30, math.MaxInt>>1+1)

func boltOptions(o Options) *bbolt.Options {
	return &bbolt.Options{
		Timeout:         o.LockTimeout,
		NoFreelistSync:  true, // otherwise every commit would write the list; opening reads the pages instead
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: int(o.MapBytes),
		MaxSize:         int(o.MaxSize),
		NoStatistics:    !o.Statistics,
	}
}

// openFile also returns the file that bbolt opened. Closing another descriptor of it would release the lock on some systems.
func openFile(path string, o Options) (*bbolt.DB, *os.File, error) {
	db, file, err := openBolt(path, boltOptions(o))
	if err != nil {
		return nil, nil, err
	}
	hold(path)
	if err := db.View(checkLayout); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return db, file, nil
}

// openLocked opens a file for reading only. No other process can write to it meanwhile, and bbolt reads nothing but its meta
// pages.
func openLocked(path string, o Options) (*bbolt.DB, *os.File, error) {
	if err := checkPlace(path); err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	return openBolt(path, &bbolt.Options{Timeout: o.LockTimeout, ReadOnly: true, NoStatistics: true})
}

// holding is the suffix of the file that says which process has a store open.
const holding = ".pid"

// holder returns which process has a file open; empty if that is unknown.
func holder(path string) string {
	said, err := os.ReadFile(path + holding)
	if pid, failed := strconv.Atoi(strings.TrimSpace(string(said))); err == nil && failed == nil {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}

// hold records that this process has a file open. If that fails, another process only gets a less exact error.
func hold(path string) {
	_ = os.WriteFile(path+holding, []byte(strconv.Itoa(os.Getpid())+"\n"), fileMode)
}

func openBolt(path string, options *bbolt.Options) (_ *bbolt.DB, file *os.File, err error) {
	options.OpenFile = func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	db, err := bbolt.Open(path, fileMode, options)
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, nil, fmt.Errorf("open %s: %s has it open; stop that one, or give this one a file of its own: %w", path, holder(path), err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, inWords(err))
	}
	return db, file, nil
}

// checkStructure fails if bbolt would read a page that is not what it should be. bbolt would end the process then, often from a
// goroutine of its own in which nobody can recover. It returns the size of the largest value in bytes.
func checkStructure(path string, o Options) (largest int, err error) {
	db, file, err := openLocked(path, o)
	if err != nil {
		return 0, err
	}
	m := pages.NewestMeta(file)
	if err := pages.CheckWhole(file, m); err != nil {
		return 0, errors.Join(fmt.Errorf("open %s: %w; %s", path, err, remedy), db.Close())
	}
	w := &pages.Walk{
		File: file, Meta: m, Damaged: func(d pages.Error) error { return d },
		Record: func(bucket string, e pages.Entry) error {
			k, err := kindOf(bucket, e)
			if k != isReserve {
				largest = max(largest, int(e.Size))
			}
			return err
		},
	}
	switch err := errors.Join(w.Run(), db.Close()); {
	case errors.Is(err, errBucket):
		return 0, fmt.Errorf("open %s: %s: %w", path, notOurs, err)
	case err != nil:
		return 0, fmt.Errorf("open %s: %w: %w; %s", path, store.ErrCorrupt, err, remedy)
	default:
		return largest, nil
	}
}

func checkLayout(t *bbolt.Tx) error {
	meta := t.Bucket(bucketMeta)
	if meta == nil {
		return errors.New("it is a database of another program, and no store of conversations; name another folder")
	}
	if have := string(meta.Get([]byte("layout"))); have != layout {
		return fmt.Errorf("it has layout %q, and this version knows %q", have, layout)
	}
	return nil
}

// create makes the file if it does not exist. The file is complete and durable before it gets its name, so that a crash leaves no
// partial file.
func create(path string, o Options) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open %s: %w", path, inWords(err))
	}
	fresh, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return fmt.Errorf("create %s: %w", path, inWords(err))
	}
	name := fresh.Name()
	defer func() { _ = os.Remove(name) }()
	if err := errors.Join(fresh.Close(), fill(name, o)); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	_ = os.Remove(path + marking) // left by an earlier store at this path
	if err := publish(name, path); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return syncFolder(path)
}

func fill(name string, o Options) error {
	db, err := bbolt.Open(name, fileMode, boltOptions(o))
	if err != nil {
		return err
	}
	err = db.Update(func(t *bbolt.Tx) error {
		for _, bucket := range [][]byte{bucketNames, bucketRecords, bucketChunks, bucketPending, bucketDue} {
			if _, err := t.CreateBucket(bucket); err != nil {
				return err
			}
		}
		if _, err := (&tx{tx: t}).keepReserve(0); err != nil {
			return err
		}
		meta, err := t.CreateBucket(bucketMeta)
		if err != nil {
			return err
		}
		return meta.Put([]byte("layout"), []byte(layout))
	})
	return errors.Join(err, db.Sync(), db.Close())
}

// publish gives a file its name without replacing a file that another process made meanwhile. A rename would replace it, so
// rename is only used on file systems without links.
func publish(name, path string) error {
	err := os.Link(name, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return os.Rename(name, path)
}

func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("sync the folder of %s: %w", path, err)
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil {
		return fmt.Errorf("sync the folder of %s: %w", path, err)
	}
	return nil
}

func closedOr(err error) error {
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return store.ErrClosed
	}
	return err
}

// rewriting ends the name of the copy that rewrite makes.
const rewriting = ".rewrite"

// rewrite replaces the file by a copy of what can be read of it, and goes on with that. Readers use the old file until the new
// one is open; if a step fails, they go on with it, and rewrite can be tried again.
func (s *Store) rewrite() error {
	name := s.path + rewriting
	defer func() { _ = os.Remove(name) }()
	if err := s.copyTo(name); err != nil {
		return fmt.Errorf("rewrite %s: %w", s.path, err)
	}
	if err := os.Rename(name, s.path); err != nil {
		return fmt.Errorf("rewrite %s: %w", s.path, err)
	}
	if err := syncFolder(s.path); err != nil {
		return err
	}
	if _, err := checkStructure(s.path, s.options); err != nil {
		return err
	}
	db, file, err := openFile(s.path, s.options)
	if err != nil {
		return err
	}
	s.open.Lock()
	defer s.open.Unlock()
	_ = s.db.Close() // its file is gone, so an error does not matter
	s.db, s.file = db, file
	s.wiper.Renew(db, file)
	return nil
}

func (s *Store) copyTo(name string) error {
	out, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	kept := &errorKeeper{w: out}
	err = s.db.View(func(t *bbolt.Tx) error {
		_, err := t.WriteTo(kept)
		return err
	})
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, kept.err, out.Close())
}

// errorKeeper keeps the error of a failed write: bbolt passes on only the text of some errors.
type errorKeeper struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (k *errorKeeper) Write(p []byte) (int, error) {
	n, err := k.w.Write(p)
	k.err = err
	return n, err
}
