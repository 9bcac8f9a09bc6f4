package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// marking is the suffix of the file, next to the database, that holds the number of the last acknowledged transaction.
//
// bbolt has two meta pages, and begins with the older one if the newer is damaged. Then the last commit is lost, and it looks like
// a commit that a crash cut off. The mark tells the two cases apart. It is written after the commit has been synced and before the
// commit is acknowledged. It is never synced itself, which would cost as much as the commit. So a mark is never ahead of a sound
// database. After a power cut it may be behind, missing or garbage, and then it says nothing. If it is ahead, an acknowledged
// commit is lost.
const marking = ".last"

const (
	markMagic = 0x504c5354_4d41524b // "PLSTMARK"
	markBytes = 20                  // magic, transaction, CRC32C of both
)

// mark is the file of the mark. Creating it may fail, for example on a full disk; then nothing is marked.
type mark struct{ file *os.File }

// openMark fails if an acknowledged commit is missing in the database, which it does not change.
func openMark(path string, db *bbolt.DB) (*mark, error) {
	var tx uint64
	if err := db.View(func(t *bbolt.Tx) error { tx = uint64(t.ID()); return nil }); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path+marking, os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return &mark{}, nil //nolint:nilerr // without a mark the store is as safe as bbolt alone
	}
	if last, ok := readMark(file); ok && last > tx {
		return nil, errors.Join(rolledBack(path, last, tx), file.Close())
	}
	m := &mark{file: file}
	m.write(tx)
	return m, nil
}

func rolledBack(path string, last, tx uint64) error {
	return fmt.Errorf("open %s: %w: transaction %d was acknowledged, and the newest that can be found is %d. Its meta page is damaged, "+
		"or an older copy of the file was put in its place: if you did that, remove %s. Otherwise %s",
		path, store.ErrCorrupt, last, tx, path+marking, remedy)
}

func readMark(file *os.File) (tx uint64, ok bool) {
	var b [markBytes]byte
	if _, err := file.ReadAt(b[:], 0); err != nil {
		return 0, false
	}
	tx = binary.BigEndian.Uint64(b[8:])
	return tx, b == marked(tx)
}

func marked(tx uint64) (b [markBytes]byte) {
	binary.BigEndian.PutUint64(b[:], markMagic)
	binary.BigEndian.PutUint64(b[8:], tx)
	binary.BigEndian.PutUint32(b[16:], crc32.Checksum(b[:16], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

func (m *mark) write(tx uint64) {
	if m.file != nil {
		b := marked(tx)
		_, _ = m.file.WriteAt(b[:], 0)
	}
}

func (m *mark) close() {
	if m.file != nil {
		_ = m.file.Close()
	}
}
