package record

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// format is the version of the envelope and of what is in it. Readers know all versions up to their own.
const format = 1

// kind says what the payload is, so that a value under a wrong key is not mistaken for another record.
type kind byte

// The kinds. They are on disk: numbers are never reused.
const (
	kindMessage kind = iota + 1
	kindEdit
	kindManifest
	kindHead
	kindInfo
	kindOutcome
	kindSlot
	kindChunk
	kindLink
	kindTask
)

// The flags. flagEncrypted is kept for payloads that are sealed (after compression) with a key of their namespace; what has
// it today comes from a newer version and cannot be opened.
const (
	flagZstd      = 1 << 0
	flagEncrypted = 1 << 1
)

const (
	headerBytes = 7
	// compressFrom is the smallest payload for which compression is tried: below it the gain is not worth the time.
	compressFrom = 512
	// maxPayload bounds what decompression may allocate. Larger payloads are stored as they are.
	maxPayload = 64 << 20
)

// Codec turns records into stored values and back. It is safe for concurrent use and holds nothing but its compressors,
// which are made when they are first needed. One per store is enough.
type Codec struct {
	compressor   func() (*zstd.Encoder, error)
	decompressor func() (*zstd.Decoder, error)
	scratch      sync.Pool // of *fields, with their buffers: payloads before their size is known
}

// New makes a codec.
func New() *Codec {
	return &Codec{
		compressor:   sync.OnceValues(newCompressor),
		decompressor: sync.OnceValues(newDecompressor),
		scratch:      sync.Pool{New: func() any { return new(fields) }},
	}
}

// Each value is compressed by the goroutine that brings it; concurrency only bounds how many may do so at a time.
func newCompressor() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(256<<10))
}

func newDecompressor() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxPayload))
}

// seal puts a payload into an envelope of its own.
func (c *Codec) seal(k kind, payload []byte) []byte { return c.sealTo(nil, k, payload) }

// sealTo puts it behind what is in out.
func (c *Codec) sealTo(out []byte, k kind, payload []byte) []byte {
	if len(payload) >= compressFrom && len(payload) <= maxPayload {
		if out, ok := c.compress(out, k, payload); ok {
			return out
		}
	}
	return envelope(out, k, 0, payload)
}

// envelope puts a payload behind a header, in one allocation at most.
func envelope(out []byte, k kind, flags byte, payload []byte) []byte {
	from := len(out)
	if need := from + headerBytes + len(payload); cap(out) < need {
		out = append(make([]byte, 0, need), out...)
	}
	out = append(out[:from+headerBytes], payload...)
	finish(out[from:], k, flags)
	return out
}

// compress is false if compression does not save an eighth: reading would pay for it each time.
func (c *Codec) compress(out []byte, k kind, payload []byte) ([]byte, bool) {
	z, err := c.compressor()
	if err != nil {
		return nil, false
	}
	buf := c.borrow()
	defer c.giveBack(buf)
	buf.out = z.EncodeAll(payload, buf.out)
	if len(buf.out) > len(payload)-len(payload)/8 {
		return nil, false
	}
	return envelope(out, k, flagZstd, buf.out), true
}

func finish(value []byte, k kind, flags byte) []byte {
	value[0], value[5], value[6] = format, byte(k), flags
	binary.LittleEndian.PutUint32(value[1:5], checksum(value))
	return value
}

func checksum(value []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(value[5:], table), table, value[:1])
}

// open returns the payload of an envelope, and whether it is no part of the value. Every fault is store.ErrCorrupt.
func (c *Codec) open(k kind, value []byte) (payload []byte, own bool, err error) {
	if len(value) < headerBytes {
		return nil, false, damaged(k, "it is cut short")
	}
	if value[0] != format {
		return nil, false, damaged(k, "its format is unknown")
	}
	if binary.LittleEndian.Uint32(value[1:5]) != checksum(value) {
		return nil, false, damaged(k, "its checksum does not match")
	}
	if kind(value[5]) != k {
		return nil, false, damaged(k, "it is another kind of record")
	}
	switch payload = value[headerBytes:]; value[6] {
	case 0:
		return payload, false, nil
	case flagZstd:
		payload, err = c.decompress(k, payload)
		return payload, true, err
	case flagEncrypted, flagEncrypted | flagZstd:
		return nil, false, damaged(k, "it is encrypted")
	default:
		return nil, false, damaged(k, "its flags are unknown")
	}
}

func (c *Codec) decompress(k kind, payload []byte) ([]byte, error) {
	z, err := c.decompressor()
	if err != nil {
		return nil, fmt.Errorf("start decompression: %w", err)
	}
	out, err := z.DecodeAll(payload, nil)
	if err != nil {
		return nil, damaged(k, "it cannot be decompressed")
	}
	return out, nil
}

func damaged(k kind, why string) error {
	return fmt.Errorf("record of kind %d: %s: %w", k, why, store.ErrCorrupt)
}

// maxScratch bounds the buffers that are kept for reuse.
const maxScratch = 1 << 20

func (c *Codec) borrow() *fields {
	f, ok := c.scratch.Get().(*fields)
	if !ok {
		return new(fields)
	}
	return f
}

func (c *Codec) giveBack(f *fields) {
	if cap(f.out) > maxScratch {
		return
	}
	*f = fields{out: f.out[:0]}
	c.scratch.Put(f)
}
