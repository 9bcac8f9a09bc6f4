package pages

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// A meta page as bbolt writes it, behind the page's own header: magic, version, page size, flags, root (page, sequence),
// freelist, the first page past all that are in use, transaction, checksum (FNV-1a over what stands before it).
const (
	metaMagic    = 0xED0CDAED
	metaPageSize = 8
	metaRoot     = 16
	metaFreelist = 32
	metaPages    = 40
	metaTx       = 48
	metaChecksum = 56
	metaBytes    = 64
)

// CheckWhole fails if the file is shorter than its newest meta page says: bbolt maps the file into memory, and a page that is
// not there ends the process instead of an error. A file that is no bbolt file is bbolt's to refuse.
func CheckWhole(f *os.File, newest Meta) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if need := newest.Pages * uint64(newest.PageSize); uint64(info.Size()) < need {
		return fmt.Errorf("%w: the file has %d of %d bytes; it was cut off", store.ErrCorrupt, info.Size(), need)
	}
	return nil
}

// NewestMeta is the meta page that bbolt begins with; the zero meta, if neither is sound.
func NewestMeta(f io.ReaderAt) Meta {
	newest := ReadMeta(f, 0)
	at := int64(newest.PageSize)
	if at == 0 {
		at = int64(os.Getpagesize())
	}
	if second := ReadMeta(f, at); second.Tx > newest.Tx {
		newest = second
	}
	return newest
}

// Meta is a meta page: one of two from which all others are found.
type Meta struct {
	PageSize uint32
	root     uint64
	Freelist uint64 // the page of the list, if it is in the file
	Pages    uint64 // where the file ends, for bbolt
	Tx       uint64 // the transaction that wrote it
}

// Agrees says whether two meta pages lead to the same pages.
func (m Meta) Agrees(o Meta) bool {
	m.Tx = o.Tx
	return m == o && m.PageSize != 0
}

// ReadMeta reads the meta page at an offset; the zero meta, if there is none that is sound.
func ReadMeta(f io.ReaderAt, at int64) Meta {
	var b [metaBytes]byte
	if _, err := f.ReadAt(b[:], at+Header); err != nil {
		return Meta{}
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaChecksum])
	order := binary.NativeEndian
	if order.Uint32(b[:]) != metaMagic || order.Uint64(b[metaChecksum:]) != sum.Sum64() {
		return Meta{}
	}
	return Meta{
		PageSize: order.Uint32(b[metaPageSize:]), root: order.Uint64(b[metaRoot:]), Freelist: order.Uint64(b[metaFreelist:]),
		Pages: order.Uint64(b[metaPages:]), Tx: order.Uint64(b[metaTx:]),
	}
}
