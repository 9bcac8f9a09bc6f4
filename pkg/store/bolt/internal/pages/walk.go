package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxDepth bounds how deep a tree may be: more levels than a file of any size needs.
const maxDepth = 40

// Walk goes over all that a meta page leads to, in the order of keys, without believing any of it.
type Walk struct {
	File io.ReaderAt
	Meta Meta
	Used uint64 // pages in use that were seen

	// Record is called with each entry of a bucket; its error ends the walk. Nil: entries are not wanted.
	Record func(bucket string, e Entry) error
	// Damaged is called with what is wrong, and the bucket and the keys (from min on, below max; nil: no bound) that it concerns. Its
	// error ends the walk; without one, the walk goes on behind it.
	Damaged func(d Error) error
	// Passed, if set, is called with each page that can be read.
	Passed func(*Page)

	seen []uint64 // a bit for each page
}

// Error is a page that cannot be what it should be.
type Error struct {
	Page     uint64
	Bucket   string // empty: the list of the buckets
	Min, Max []byte
	why      error
}

// Error implements error.
func (d Error) Error() string {
	where := "the list of the buckets"
	if d.Bucket != "" {
		where = "the bucket " + d.Bucket
	}
	return fmt.Sprintf("page %d of %s: %v", d.Page, where, d.why)
}

// Run goes over everything.
func (w *Walk) Run() error {
	w.seen = make([]uint64, w.Meta.Pages/64+1)
	return w.tree(place{id: w.Meta.root, root: true}, w.bucket)
}

// place is a page and what its parent says of it.
type place struct {
	bucket   string
	id       uint64
	min, max []byte
	depth    int
	root     bool
}

func (w *Walk) broken(at place, why error) error {
	return w.Damaged(Error{Page: at.id, Bucket: at.bucket, Min: at.min, Max: at.max, why: why})
}

// tree goes over the pages below one, and calls visit with the entries of its leaves.
func (w *Walk) tree(at place, visit func(Entry) error) error {
	if at.depth > maxDepth {
		return w.broken(at, errors.New("the tree is too deep"))
	}
	p, err := readPage(w.File, w.Meta, at.id)
	if err == nil && !w.take(p) {
		err = errors.New("two ways lead to it")
	}
	if err != nil {
		return w.broken(at, err)
	}
	if w.Passed != nil {
		w.Passed(p)
	}
	return w.entries(at, p, visit)
}

// take notes that a page has been seen; it is false if it has been before.
func (w *Walk) take(p *Page) bool {
	for id := p.ID; id < p.ID+p.span; id++ {
		if w.seen[id/64]&(1<<(id%64)) != 0 {
			return false
		}
	}
	for id := p.ID; id < p.ID+p.span; id++ {
		w.seen[id/64] |= 1 << (id % 64)
	}
	w.Used += p.span
	return true
}

// entries goes over those of one page.
func (w *Walk) entries(at place, p *Page, visit func(Entry) error) error {
	why := p.fault
	if len(p.Entries) == 0 && (p.Branch || !at.root) {
		why = errors.Join(why, errors.New("it is empty"))
	}
	good := ordered(at, p)
	if len(good) < len(p.Entries) {
		why = errors.Join(why, errors.New("its keys are not in order"))
	}
	if why != nil {
		if err := w.broken(at, why); err != nil {
			return err
		}
	}
	for i, e := range good {
		if !p.Branch {
			if err := visit(e); err != nil {
				return err
			}
			continue
		}
		below := place{bucket: at.bucket, id: e.child, min: e.Key, max: at.max, depth: at.depth + 1}
		if i+1 < len(good) {
			below.max = good[i+1].Key
		}
		if err := w.tree(below, visit); err != nil {
			return err
		}
	}
	return nil
}

// ordered returns the entries of a page whose keys lie between those of their neighbors, and between what the parent says.
// In a page that is whole these are all.
func ordered(at place, p *Page) []Entry {
	good := make([]Entry, 0, len(p.Entries))
	for i, e := range p.Entries {
		before, after := at.min, at.max
		if i > 0 {
			before = p.Entries[i-1].Key
		}
		if i+1 < len(p.Entries) {
			after = p.Entries[i+1].Key
		}
		low := before == nil || bytes.Compare(before, e.Key) < 0 || i == 0 && bytes.Equal(before, e.Key)
		if low && (after == nil || bytes.Compare(e.Key, after) < 0) && (e.sound || p.fault != nil) {
			good = append(good, e)
		}
	}
	return good
}

// bucket goes over a bucket, which is an entry in the list of buckets.
func (w *Walk) bucket(e Entry) error {
	at := place{bucket: string(e.Key), root: true}
	head := make([]byte, bucketHeader)
	if !e.bucket || e.Size < bucketHeader {
		return w.broken(at, errors.New("it is no bucket"))
	}
	if _, err := w.File.ReadAt(head, e.at); err != nil {
		return w.broken(at, err)
	}
	at.id = binary.NativeEndian.Uint64(head)
	if binary.NativeEndian.Uint64(head[8:]) != 0 {
		if err := w.broken(at, errors.New("it has a sequence, and no bucket of a store has one")); err != nil {
			return err
		}
	}
	if at.id != 0 && e.Size != bucketHeader {
		return w.broken(at, errors.New("it has another length than a bucket"))
	}
	visit := func(r Entry) error { return w.visit(at, r) }
	if at.id != 0 {
		return w.tree(at, visit)
	}
	p, err := readInside(w.File, e.at+bucketHeader, e.Size-bucketHeader)
	if err != nil {
		return w.broken(at, err)
	}
	return w.entries(at, p, visit)
}

func (w *Walk) visit(at place, e Entry) error {
	if e.bucket {
		return w.broken(at, errors.New("a bucket lies in a bucket"))
	}
	if w.Record == nil {
		return nil
	}
	return w.Record(at.bucket, e)
}

// Value reads what an entry holds.
func (e Entry) Value(file io.ReaderAt) ([]byte, error) {
	out := make([]byte, e.Size)
	_, err := file.ReadAt(out, e.at)
	return out, err
}
