package record

import (
	"encoding/binary"
	"math"
	"time"
)

// What begins with put writes zero too; what begins with append leaves it out.

// The wire types of protobuf that records use.
const (
	wireVarint = 0
	wireFixed  = 1
	wireBytes  = 2
)

type signed interface {
	~int | ~int8 | ~int32 | ~int64
}

func appendTag(b []byte, field int, wire uint64) []byte {
	return binary.AppendUvarint(b, uint64(field)<<3|wire)
}

func putUint(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(appendTag(b, field, wireVarint), v)
}

func putInt[T signed](b []byte, field int, v T) []byte { return putUint(b, field, uint64(int64(v))) }

func appendUint(b []byte, field int, v uint64) []byte {
	if v == 0 {
		return b
	}
	return putUint(b, field, v)
}

func appendInt[T signed](b []byte, field int, v T) []byte {
	return appendUint(b, field, uint64(int64(v)))
}

// appendSint is for fields that use -1: it takes one byte there, where appendInt takes ten.
func appendSint(b []byte, field int, v int32) []byte {
	return appendUint(b, field, uint64(uint32(v<<1)^uint32(v>>31)))
}

func putBool(b []byte, field int, v bool) []byte {
	if v {
		return putUint(b, field, 1)
	}
	return putUint(b, field, 0)
}

func appendBool(b []byte, field int, v bool) []byte {
	if !v {
		return b
	}
	return putBool(b, field, v)
}

func putFloat(b []byte, field int, v float64) []byte {
	return binary.LittleEndian.AppendUint64(appendTag(b, field, wireFixed), math.Float64bits(v))
}

func appendFloat(b []byte, field int, v float64) []byte {
	if math.Float64bits(v) == 0 {
		return b
	}
	return putFloat(b, field, v)
}

func appendText[T ~string | ~[]byte](b []byte, field int, v T) []byte {
	if len(v) == 0 {
		return b
	}
	return appendElement(b, field, v)
}

// appendElement is appendText for repeated fields, where an empty value counts.
func appendElement[T ~string | ~[]byte](b []byte, field int, v T) []byte {
	b = binary.AppendUvarint(appendTag(b, field, wireBytes), uint64(len(v)))
	return append(b, v...)
}

func appendID(b []byte, field int, id [16]byte) []byte {
	if id == [16]byte{} {
		return b
	}
	return appendElement(b, field, id[:])
}

func appendHash(b []byte, field int, h [32]byte) []byte {
	if h == [32]byte{} {
		return b
	}
	return appendElement(b, field, h[:])
}

// appendPacked writes numbers without their trailing zeros if trim says so, or all of them.
func appendPacked[T signed](b []byte, field int, vs []T, trim bool) []byte {
	for trim && len(vs) > 0 && vs[len(vs)-1] == 0 {
		vs = vs[:len(vs)-1]
	}
	if len(vs) == 0 {
		return b
	}
	b, start := beginNested(b, field)
	for _, v := range vs {
		b = binary.AppendUvarint(b, uint64(int64(v)))
	}
	return endNested(b, start)
}

func appendTime(b []byte, field int, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	b, start := beginNested(b, field)
	b = appendInt(b, 1, t.Unix())
	b = appendInt(b, 2, int32(t.Nanosecond()))
	return endNested(b, start)
}

// beginNested begins a nested message, which starts at start. Its length is known only afterwards: one byte is kept for it.
func beginNested(b []byte, field int) (_ []byte, start int) {
	b = append(appendTag(b, field, wireBytes), 0)
	return b, len(b)
}

// endNested writes the length. One that is longer than a byte moves the message up.
func endNested(b []byte, start int) []byte {
	n := len(b) - start
	if n < 0x80 {
		b[start-1] = byte(n)
		return b
	}
	var length [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(length[:], uint64(n))
	b = append(b, length[:size-1]...) // room; the bytes are overwritten
	copy(b[start-1+size:], b[start:start+n])
	copy(b[start-1:], length[:size])
	return b
}
