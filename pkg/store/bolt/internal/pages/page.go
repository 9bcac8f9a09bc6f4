// Package pages reads a bbolt file without bbolt. bbolt trusts every number in its pages: a wrong one ends the process, or leads to a
// page that was free. This package trusts none.
package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Pages as bbolt writes them: id, flags, count, overflow; then one element per entry, which is (position, key size, page) in a branch
// and (flags, position, key size, value size) in a leaf; then keys and values, in order and without gaps, over as few pages as possible.
const (
	Header  = 16 // bytes before the elements
	Element = 16 // bytes of each

	flagBranch   = 1
	flagLeaf     = 2
	flagBucket   = 1  // flag of an element in a leaf
	bucketHeader = 16 // root page and sequence; for a small bucket, root is 0 and its page follows
)

// First is the first page that is not a meta page.
const First = 2

// Page is a page that was read, including its overflow pages.
type Page struct {
	ID      uint64
	span    uint64 // number of pages that it takes
	Branch  bool
	Entries []Entry
	fault   error // what is wrong with it; Entries are those that seem sound then
}

// Entry is a key, and the place in the file of what belongs to it.
type Entry struct {
	Key    []byte
	child  uint64 // in a branch
	bucket bool
	at     int64 // of the value, in a leaf
	Size   int64 // of the value
	sound  bool  // it lies where it must lie
}

// area is a part of the file: a page with its overflow pages, or a bucket inside a value.
type area struct {
	file io.ReaderAt
	at   int64
	size int64
	head []byte // the part at the beginning that has been read
}

// bytes returns n bytes at an offset within the area.
func (a *area) bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at+n > a.size {
		return nil, errors.New("it leads outside of its page")
	}
	if at+n <= int64(len(a.head)) {
		return a.head[at : at+n], nil
	}
	out := make([]byte, n)
	_, err := a.file.ReadAt(out, a.at+at)
	return out, err
}

// readPage reads a page. It returns an error if nothing of the page can be read.
func readPage(file io.ReaderAt, m Meta, id uint64) (*Page, error) {
	if id < First || id >= m.Pages {
		return nil, errors.New("it is outside of the file")
	}
	size := int64(m.PageSize)
	a := &area{file: file, at: int64(id) * size, size: size, head: make([]byte, size)}
	if _, err := file.ReadAt(a.head, a.at); err != nil {
		return nil, err
	}
	order := binary.NativeEndian
	overflow := uint64(order.Uint32(a.head[12:]))
	switch {
	case order.Uint64(a.head) != id:
		return nil, fmt.Errorf("it says that it is page %d", order.Uint64(a.head))
	case id+overflow >= m.Pages:
		return nil, errors.New("it does not end within the file")
	}
	a.size = int64(overflow+1) * size
	p, end, err := a.parse()
	if err != nil {
		return nil, err
	}
	p.ID, p.span = id, overflow+1
	if p.fault == nil && (end+size-1)/size != int64(p.span) {
		p.fault = errors.New("it has another length than its entries")
	}
	return p, nil
}

// readInside reads the page of a small bucket, which is part of a value.
func readInside(file io.ReaderAt, at, size int64) (*Page, error) {
	a := &area{file: file, at: at, size: size}
	head, err := a.bytes(0, size)
	if err != nil || size < Header {
		return nil, errors.Join(errors.New("the bucket is cut short"), err)
	}
	a.head = head
	p, end, err := a.parse()
	switch {
	case err != nil:
		return nil, err
	case p.Branch:
		return nil, errors.New("a small bucket has a branch")
	case p.fault == nil && end != size:
		p.fault = errors.New("the bucket has another length than its entries")
	}
	return p, nil
}

// parse reads the entries. It returns the position after the last one.
func (a *area) parse() (p *Page, end int64, err error) {
	order := binary.NativeEndian
	flags, count := order.Uint16(a.head[8:]), int64(order.Uint16(a.head[10:]))
	if flags != flagBranch && flags != flagLeaf {
		return nil, 0, fmt.Errorf("it has the unknown type %#x", flags)
	}
	p = &Page{Branch: flags == flagBranch}
	end = Header + count*Element
	table, err := a.bytes(Header, count*Element)
	if err != nil {
		return nil, 0, errors.New("it has more entries than room")
	}
	for i := range count {
		e, from, to, err := a.entry(table[i*Element:], Header+i*Element, p.Branch)
		if err != nil || from != end {
			p.fault = fmt.Errorf("entry %d is not where it must be", i)
		}
		if err == nil {
			e.sound, end = from == end, to
			p.Entries = append(p.Entries, e)
		}
	}
	return p, end, nil
}

// entry reads an entry, and returns the range of its key and value in the area.
func (a *area) entry(element []byte, at int64, branch bool) (e Entry, from, to int64, err error) {
	order := binary.NativeEndian
	position, size := element[4:], element[8:]
	if branch {
		position, size = element, element[4:]
		e.child = order.Uint64(element[8:])
	} else {
		flags := order.Uint32(element)
		e.bucket, e.Size = flags == flagBucket, int64(order.Uint32(element[12:]))
		if flags > flagBucket {
			err = errors.New("unknown flags")
		}
	}
	from = at + int64(order.Uint32(position))
	length := int64(order.Uint32(size))
	to = from + length + e.Size
	if length == 0 || to > a.size {
		err = errors.New("no key, or no room for the value")
	}
	if err != nil {
		return e, from, to, err
	}
	e.Key, err = a.bytes(from, length)
	e.at = a.at + from + length
	return e, from, to, err
}
