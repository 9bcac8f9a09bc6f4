package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxDepth bounds how deep a tree may be: more levels than a file of any size needs.
const maxDepth = 40

// walk goes over all that a meta page leads to, in the order of keys, without believing any of it.
type walk struct {
	file io.ReaderAt
	meta meta
	seen []uint64 // a bit for each page
	used uint64   // pages seen

	// record is called with each entry of a bucket; its error ends the walk. Nil: entries are not wanted.
	record func(bucket string, e entry) error
	// damaged is called with what is wrong, and the bucket and the keys (from min on, below max; nil: no bound) that it concerns. Its
	// error ends the walk; without one, the walk goes on behind it.
	damaged func(d pageError) error
	// passed, if set, is called with each page.
	passed func()
}

// pageError is a page that cannot be what it should be.
type pageError struct {
	page     uint64
	bucket   string // empty: the list of the buckets
	min, max []byte
	why      error
}

func (d pageError) Error() string {
	where := "the list of the buckets"
	if d.bucket != "" {
		where = "the bucket " + d.bucket
	}
	return fmt.Sprintf("page %d of %s: %v", d.page, where, d.why)
}

// run goes over everything.
func (w *walk) run() error {
	w.seen = make([]uint64, w.meta.pages/64+1)
	return w.tree(place{id: w.meta.root, root: true}, w.bucket)
}

// place is a page and what its parent says of it.
type place struct {
	bucket   string
	id       uint64
	min, max []byte
	depth    int
	root     bool
}

func (w *walk) broken(at place, why error) error {
	return w.damaged(pageError{page: at.id, bucket: at.bucket, min: at.min, max: at.max, why: why})
}

// tree goes over the pages below one, and calls visit with the entries of its leaves.
func (w *walk) tree(at place, visit func(entry) error) error {
	if at.depth > maxDepth {
		return w.broken(at, errors.New("the tree is too deep"))
	}
	p, err := readPage(w.file, w.meta, at.id)
	if err == nil && !w.take(p) {
		err = errors.New("two ways lead to it")
	}
	if err != nil {
		return w.broken(at, err)
	}
	if w.passed != nil {
		w.passed()
	}
	return w.entries(at, p, visit)
}

// take notes that a page has been seen; it is false if it has been before.
func (w *walk) take(p *page) bool {
	for id := p.id; id < p.id+p.span; id++ {
		if w.seen[id/64]&(1<<(id%64)) != 0 {
			return false
		}
	}
	for id := p.id; id < p.id+p.span; id++ {
		w.seen[id/64] |= 1 << (id % 64)
	}
	w.used += p.span
	return true
}

// entries goes over those of one page.
func (w *walk) entries(at place, p *page, visit func(entry) error) error {
	why := p.fault
	if len(p.entries) == 0 && (p.branch || !at.root) {
		why = errors.Join(why, errors.New("it is empty"))
	}
	good := ordered(at, p)
	if len(good) < len(p.entries) {
		why = errors.Join(why, errors.New("its keys are not in order"))
	}
	if why != nil {
		if err := w.broken(at, why); err != nil {
			return err
		}
	}
	for i, e := range good {
		if !p.branch {
			if err := visit(e); err != nil {
				return err
			}
			continue
		}
		below := place{bucket: at.bucket, id: e.child, min: e.key, max: at.max, depth: at.depth + 1}
		if i+1 < len(good) {
			below.max = good[i+1].key
		}
		if err := w.tree(below, visit); err != nil {
			return err
		}
	}
	return nil
}

// ordered returns the entries of a page whose keys lie between those of their neighbors, and between what the parent says.
// In a page that is whole these are all.
func ordered(at place, p *page) []entry {
	good := make([]entry, 0, len(p.entries))
	for i, e := range p.entries {
		before, after := at.min, at.max
		if i > 0 {
			before = p.entries[i-1].key
		}
		if i+1 < len(p.entries) {
			after = p.entries[i+1].key
		}
		low := before == nil || bytes.Compare(before, e.key) < 0 || i == 0 && bytes.Equal(before, e.key)
		if low && (after == nil || bytes.Compare(e.key, after) < 0) && (e.sound || p.fault != nil) {
			good = append(good, e)
		}
	}
	return good
}

// bucket goes over a bucket, which is an entry in the list of buckets.
func (w *walk) bucket(e entry) error {
	at := place{bucket: string(e.key), root: true}
	head := make([]byte, bucketHeader)
	if !e.bucket || e.size < bucketHeader {
		return w.broken(at, errors.New("it is no bucket"))
	}
	if _, err := w.file.ReadAt(head, e.at); err != nil {
		return w.broken(at, err)
	}
	at.id = binary.NativeEndian.Uint64(head)
	if binary.NativeEndian.Uint64(head[8:]) != 0 {
		if err := w.broken(at, errors.New("it has a sequence, and no bucket of a store has one")); err != nil {
			return err
		}
	}
	if at.id != 0 && e.size != bucketHeader {
		return w.broken(at, errors.New("it has another length than a bucket"))
	}
	visit := func(r entry) error { return w.visit(at, r) }
	if at.id != 0 {
		return w.tree(at, visit)
	}
	p, err := readInside(w.file, e.at+bucketHeader, e.size-bucketHeader)
	if err != nil {
		return w.broken(at, err)
	}
	return w.entries(at, p, visit)
}

func (w *walk) visit(at place, e entry) error {
	if e.bucket {
		return w.broken(at, errors.New("a bucket lies in a bucket"))
	}
	if w.record == nil {
		return nil
	}
	return w.record(at.bucket, e)
}

// value reads what an entry holds.
func (e entry) value(file io.ReaderAt) ([]byte, error) {
	out := make([]byte, e.size)
	_, err := file.ReadAt(out, e.at)
	return out, err
}
