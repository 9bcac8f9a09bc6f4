package move

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// digest is what a conversation is, whatever store it lies in: the sum of the SHA-256 of its records, since stores have orders of their own.
type digest struct {
	codec *record.Codec
	total [4]uint64

	messages, contents, bytes int64
}

// record takes in a record, which is what it says under a name that no other has.
func (d *digest) record(kind byte, name, value []byte) {
	h := sha256.New()
	_, _ = h.Write(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(name))))
	_, _ = h.Write(name)
	_, _ = h.Write(value)
	sum := h.Sum(nil)
	for i := range d.total {
		d.total[i] += binary.BigEndian.Uint64(sum[8*i:])
	}
	d.bytes += int64(len(value))
}

// The kinds of records.
const (
	isHead = iota
	isInfo
	isMessage
	isEdit
	isManifest
	isOutcome
	isSlot
	isChunk
)

// newDigest begins with the head and the attributes.
func newDigest(codec *record.Codec, r *reader) *digest {
	d, head := &digest{codec: codec}, r.head
	head.Epoch = ""
	d.record(isHead, nil, codec.EncodeHead(&head))
	if r.info != nil {
		d.record(isInfo, nil, codec.EncodeInfo(r.info))
	}
	return d
}

// add takes in records as they are staged.
func (d *digest) add(u *store.Upload) error {
	for i := range u.Messages {
		d.record(isMessage, nil, d.codec.EncodeMessage(&u.Messages[i]))
	}
	for i := range u.Edits {
		d.record(isEdit, nil, d.codec.EncodeEdit(&u.Edits[i]))
	}
	for i := range u.Manifests {
		d.record(isManifest, nil, d.codec.EncodeManifest(&u.Manifests[i]))
	}
	for i := range u.Outcomes {
		d.record(isOutcome, nil, d.codec.EncodeOutcome(&u.Outcomes[i]))
	}
	for name, value := range u.Slots {
		d.record(isSlot, []byte(name), value)
	}
	if !u.ID.IsZero() {
		d.record(isChunk, binary.BigEndian.AppendUint32(u.ID[:], uint32(u.Chunk)), u.Data)
		if u.Chunk == 0 {
			d.contents++
		}
	}
	d.messages += int64(len(u.Messages))
	return nil
}
