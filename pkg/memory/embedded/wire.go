package embedded

import (
	"encoding/binary"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// writer makes the bytes of a slot: varints, and texts behind their length.
type writer struct{ b []byte }

func (w *writer) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }

func (w *writer) signed(n int64) { w.b = binary.AppendVarint(w.b, n) }

func (w *writer) bytes(b []byte) {
	w.number(uint64(len(b)))
	w.b = append(w.b, b...)
}

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	w.b = append(w.b, s...)
}

// reader reads what a writer made. What it reads after a fault is zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	return advance(r, n, size)
}

func (r *reader) signed() int64 {
	n, size := binary.Varint(r.b)
	return advance(r, n, size)
}

func advance[T int64 | uint64](r *reader, n T, size int) T {
	if r.bad || size <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

// count reads how many things follow, each of which takes at least a byte.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return 0
	}
	return int(n)
}

// bytes shares memory with what is read.
func (r *reader) bytes() []byte { return r.take(r.count()) }

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) text() string { return string(r.bytes()) }

func (r *reader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) id() (id conversation.ID) {
	copy(id[:], r.take(len(id)))
	return id
}
