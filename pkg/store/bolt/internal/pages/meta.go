package pages

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// A meta page as bbolt writes it, after the page's own header: magic, version, page size, flags, root (page, sequence),
// freelist, the first page after all pages in use, transaction, and checksum (FNV-1a over everything before it).
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

// CheckWhole fails if the file is shorter than its newest meta page says. bbolt maps the file into memory, and accessing a
// missing page ends the process instead of returning an error. A file that is not bbolt's is left for bbolt to refuse.
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

// NewestMeta returns the meta page from which bbolt begins; zero if neither is sound.
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

// Meta is a meta page: one of the two from which all other pages are found.
type Meta struct {
	PageSize uint32
	root     uint64
	Freelist uint64 // the page of the free list, if it is in the file
	Pages    uint64 // number of pages in the file, from bbolt's view
	Tx       uint64 // the transaction that wrote it
}

// Agrees reports whether two meta pages lead to the same pages.
func (m Meta) Agrees(o Meta) bool {
	m.Tx = o.Tx
	return m == o && m.PageSize != 0
}

// ReadMeta reads the meta page at an offset; zero if there is no sound one.
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
