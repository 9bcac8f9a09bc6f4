package citations

import (
	"encoding/binary"
	"math/bits"
)

// messageTerm is a term cut short: within one message there are few enough.
type messageTerm uint32

const (
	messageTermBits = 22
	termShift       = 32 - messageTermBits
	maxTimes        = 4 // of a term that are told apart
)

// appendTerms appends how many different terms there are, and each: its difference to the one before it as a Rice code (Rice and
// Plaunt, 1971), and how often it comes, up to maxTimes, in unary. Terms are given in order.
func appendTerms(out []byte, terms []messageTerm) []byte {
	different := 0
	for i, t := range terms {
		if i == 0 || t != terms[i-1] {
			different++
		}
	}
	out = binary.AppendUvarint(out, uint64(different))
	w, low, before := bitWriter{out: out}, riceBits(different), messageTerm(0)
	for i := 0; i < len(terms); {
		times := 1
		for i+times < len(terms) && terms[i+times] == terms[i] {
			times++
		}
		delta := uint32(terms[i] - before)
		w.unary(delta >> low)
		w.write(delta&(1<<low-1), low)
		w.unary(uint32(min(times, maxTimes) - 1))
		before = terms[i]
		i += times
	}
	return w.end()
}

// riceBits is how many low bits of the differences are written as they are, for n evenly spread terms.
func riceBits(n int) int {
	return max(0, bits.Len(uint(1<<messageTermBits/max(1, n)))-1)
}

// readTerms calls term for each, and gives what follows them.
func readTerms(data []byte, term func(t messageTerm, times int32)) []byte {
	different, n := binary.Uvarint(data)
	r, low, current := bitReader{data: data[n:]}, riceBits(int(different)), messageTerm(0)
	for range different {
		high := r.unary()
		current += messageTerm(high<<low | r.read(low))
		term(current, int32(r.unary())+1)
	}
	return r.rest()
}

// bitWriter writes bits, the lowest first.
type bitWriter struct {
	out  []byte
	held uint64
	n    int
}

func (w *bitWriter) write(value uint32, n int) {
	w.held |= uint64(value) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.held))
		w.held >>= 8
	}
}

// unary writes as many ones, and a zero.
func (w *bitWriter) unary(value uint32) {
	for ; value >= 16; value -= 16 {
		w.write(1<<16-1, 16)
	}
	w.write(1<<value-1, int(value)+1)
}

func (w *bitWriter) end() []byte {
	if w.n > 0 {
		w.out = append(w.out, byte(w.held))
	}
	return w.out
}

// bitReader reads what a bitWriter wrote.
type bitReader struct {
	data []byte
	at   int
	held uint64
	n    int
}

func (r *bitReader) fill() {
	for ; r.n <= 56 && r.at < len(r.data); r.n += 8 {
		r.held |= uint64(r.data[r.at]) << r.n
		r.at++
	}
}

func (r *bitReader) read(n int) uint32 {
	r.fill()
	value := uint32(r.held & (1<<n - 1))
	r.held >>= n
	r.n -= n
	return value
}

func (r *bitReader) unary() (value uint32) {
	for {
		r.fill()
		ones := min(bits.TrailingZeros64(^r.held), r.n)
		value += uint32(ones)
		if ones < r.n || r.at == len(r.data) {
			r.held >>= ones + 1
			r.n -= ones + 1
			return value
		}
		r.held >>= ones
		r.n -= ones
	}
}

// rest is what follows, from the next whole byte on. Bytes that were read ahead are given back.
func (r *bitReader) rest() []byte {
	return r.data[r.at-max(0, r.n)/8:]
}
