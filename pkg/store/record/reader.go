package record

import (
	"encoding/binary"
	"math"
	"time"
)

// reader walks the fields of a payload. It reads from a string, so that texts in records share one copy of the payload
// instead of being copied one by one. Faults are kept until the end: after the first one there is no next field.
type reader struct {
	rest  string
	field int
	wire  byte
	num   uint64 // of a varint or a fixed field
	str   string // of a field of bytes
	raw   string // the whole field, as it is written
	bad   bool
}

// next reads one field whole, so that a field that nobody asks for is thereby skipped.
func (r *reader) next() bool {
	if r.rest == "" || r.bad {
		return false
	}
	start := r.rest
	tag := r.uvarint()
	r.field, r.wire = int(tag>>3), byte(tag&7)
	switch r.wire {
	case wireVarint:
		r.num = r.uvarint()
	case wireBytes:
		r.str = r.take(r.uvarint())
	case wireFixed:
		r.num = r.fixed()
	default:
		r.bad = true
	}
	r.raw = start[:len(start)-len(r.rest)]
	return !r.bad
}

func (r *reader) uvarint() uint64 {
	var v uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		c := r.rest[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return v
		}
	}
	r.bad = true
	return 0
}

func (r *reader) take(n uint64) string {
	if n > uint64(len(r.rest)) {
		r.bad = true
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) fixed() uint64 {
	var b [8]byte
	copy(b[:], r.take(8))
	return binary.LittleEndian.Uint64(b[:])
}

func (r *reader) expect(wire byte) bool {
	if r.wire != wire {
		r.bad = true
	}
	return !r.bad
}

func (r *reader) uint() uint64 {
	if !r.expect(wireVarint) {
		return 0
	}
	return r.num
}

func (r *reader) int64() int64 { return int64(r.uint()) }

func (r *reader) int32() int32 { return int32(r.uint()) }

func (r *reader) sint() int32 {
	n := uint32(r.uint())
	return int32(n>>1) ^ -int32(n&1)
}

func (r *reader) bool() bool { return r.uint() != 0 }

func (r *reader) float() float64 {
	if !r.expect(wireFixed) {
		return 0
	}
	return math.Float64frombits(r.num)
}

func (r *reader) text() string {
	if !r.expect(wireBytes) {
		return ""
	}
	return r.str
}

func (r *reader) id() (id [16]byte) {
	r.bad = copy(id[:], r.text()) != len(id) || len(r.str) != len(id) || r.bad
	return id
}

func (r *reader) hash() (h [32]byte) {
	r.bad = copy(h[:], r.text()) != len(h) || len(r.str) != len(h) || r.bad
	return h
}

func (r *reader) time() time.Time {
	var seconds, nanos int64
	outer := r.rest
	r.rest = r.text()
	for r.next() {
		switch r.field {
		case 1:
			seconds = r.int64()
		case 2:
			nanos = r.int64()
		}
	}
	r.rest = outer
	r.bad = r.bad || nanos < 0 || nanos >= int64(time.Second)
	return time.Unix(seconds, nanos).UTC()
}

// packed reads numbers one by one.
func packed[T signed](r *reader, each func(T)) {
	outer := r.rest
	r.rest = r.text()
	for r.rest != "" && !r.bad {
		each(T(r.uvarint()))
	}
	r.rest = outer
}
