package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxDepth is the greatest depth of a tree: no file needs more levels.
const maxDepth = 40

// Walk goes through everything that a meta page leads to, in key order, without trusting any of it.
type Walk struct {
	File io.ReaderAt
	Meta Meta
	Used uint64 // number of pages in use seen so far

	// Record is called with each entry of a bucket. Its error ends the walk. If it is nil, entries are skipped.
	Record func(bucket string, e Entry) error
	// Damaged is called with each damage: what is wrong, the bucket, and the range of keys concerned (from Min on, below Max; nil: no
	// bound). Its error ends the walk; otherwise the walk goes on after the damage.
	Damaged func(d Error) error
	// Passed, if set, is called with each page that could be read.
	Passed func(*Page)

	seen []uint64 // one bit per page
}

// Error is a damaged page.
type Error struct {
	Page     uint64
	Bucket   string // empty for the list of buckets
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

// Run goes through everything.
func (w *Walk) Run() error {
	w.seen = make([]uint64, w.Meta.Pages/64+1)
	return w.tree(place{id: w.Meta.root, root: true}, w.bucket)
}

// place is a page, with what its parent says about it.
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

// tree goes through the pages below one, and calls visit with the entries of its leaves.
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

// take marks a page as seen. It is false if the page was seen before.
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

// entries goes through the entries of one page.
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

// ordered returns the entries of a page whose keys lie between those of their neighbors, and within the bounds from the parent. In a
// sound page these are all entries.
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

// bucket goes through a bucket, given its entry in the list of buckets.
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

// Value reads the value of an entry.
func (e Entry) Value(file io.ReaderAt) ([]byte, error) {
	out := make([]byte, e.Size)
	_, err := file.ReadAt(out, e.at)
	return out, err
}
