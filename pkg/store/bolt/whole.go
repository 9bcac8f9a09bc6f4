package bolt

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
	metaHeader   = 16
	metaPageSize = 8
	metaRoot     = 16
	metaFreelist = 32
	metaPages    = 40
	metaTx       = 48
	metaChecksum = 56
	metaBytes    = 64
)

// checkWhole fails if the file is shorter than its newest meta page says: bbolt maps the file into memory, and a page that is
// not there ends the process instead of an error. A file that is no bbolt file is bbolt's to refuse.
func checkWhole(f *os.File, newest meta) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if need := newest.pages * uint64(newest.pageSize); uint64(info.Size()) < need {
		return fmt.Errorf("%w: the file has %d of %d bytes; it was cut off", store.ErrCorrupt, info.Size(), need)
	}
	return nil
}

// newestMeta is the meta page that bbolt begins with; the zero meta, if neither is sound.
func newestMeta(f io.ReaderAt) meta {
	newest := readMeta(f, 0)
	at := int64(newest.pageSize)
	if at == 0 {
		at = int64(os.Getpagesize())
	}
	if second := readMeta(f, at); second.tx > newest.tx {
		newest = second
	}
	return newest
}

type meta struct {
	pageSize       uint32
	root, freelist uint64
	pages, tx      uint64
}

// agrees says whether two meta pages lead to the same pages.
func (m meta) agrees(o meta) bool {
	m.tx = o.tx
	return m == o && m.pageSize != 0
}

// readMeta reads the meta page at an offset; the zero meta, if there is none that is sound.
func readMeta(f io.ReaderAt, at int64) meta {
	var b [metaBytes]byte
	if _, err := f.ReadAt(b[:], at+metaHeader); err != nil {
		return meta{}
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaChecksum])
	order := binary.NativeEndian
	if order.Uint32(b[:]) != metaMagic || order.Uint64(b[metaChecksum:]) != sum.Sum64() {
		return meta{}
	}
	return meta{
		pageSize: order.Uint32(b[metaPageSize:]), root: order.Uint64(b[metaRoot:]), freelist: order.Uint64(b[metaFreelist:]),
		pages: order.Uint64(b[metaPages:]), tx: order.Uint64(b[metaTx:]),
	}
}
