package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt/internal/pages"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// kind is the kind of an entry, as reports of Check and Salvage name it.
type kind string

const (
	isLayout   kind = "layout"
	isSeal     kind = "seal"
	isName     kind = "name"
	isEdit     kind = "edit"
	isIndex    kind = "index of edits"
	isManifest kind = "manifest"
	isOutcome  kind = "request id"
	isSlot     kind = "slot"
	isInfo     kind = "attributes"
	isMessage  kind = "message"
	isHead     kind = "head"
	isChunk    kind = "content"
	isPending  kind = "upload"
	isDying    kind = "mark of a deletion"
	isDue      kind = "due time"
	isReserve  kind = "reserve"
)

var (
	errKey    = errors.New("its key is damaged")
	errBucket = errors.New("it has a bucket that no store has")
)

// kindOf returns the kind of an entry by its key alone. It fails for a key that no store writes.
func kindOf(bucket string, e pages.Entry) (kind, error) {
	n := len(e.Key)
	var k kind
	var ok bool
	switch bucket {
	case string(bucketMeta):
		k, ok = isLayout, string(e.Key) == "layout"
		if string(e.Key) == string(sealKey) {
			k, ok = isSeal, e.Size == 1
		}
	case string(bucketNames):
		k, ok = isName, n >= 2
	case string(bucketRecords):
		return recordKind(e)
	case string(bucketChunks):
		k, ok = isChunk, n == 2*idBytes+4
	case string(bucketPending):
		k, ok = isPending, n == 2*idBytes
		if n == 2*idBytes+1 {
			k, ok = isDying, e.Key[n-1] == 1 && e.Size == 0
		}
	case string(bucketDue):
		k, ok = isDue, n == 12+2*idBytes
	case string(bucketReserve):
		k, ok = isReserve, string(e.Key) == string(reserveKey)
	default:
		return "", errBucket
	}
	return k, keyFault(ok)
}

func keyFault(ok bool) error {
	if ok {
		return nil
	}
	return errKey
}

func recordKind(e pages.Entry) (kind, error) {
	n := len(e.Key) - idBytes - 1
	if n < 0 {
		return "", errKey
	}
	switch view := n > 0 && e.Key[idBytes+1] == noView; e.Key[idBytes] {
	case kindEdit:
		return isEdit, keyFault(view && n == 9)
	case kindNarrow:
		return isIndex, keyFault(view && n == 13 && e.Size == 0)
	case kindWide:
		return isIndex, keyFault(view && n == 9 && e.Size == 0)
	case kindManifest:
		return isManifest, keyFault(n == 8)
	case kindOutcome:
		return isOutcome, keyFault(n >= 2)
	case kindSlot:
		return isSlot, nil
	case kindInfo:
		return isInfo, keyFault(n == 0)
	case kindMessage:
		return isMessage, keyFault(n == 4)
	case kindHead:
		return isHead, keyFault(view && n == 1)
	default:
		return "", errKey
	}
}

// stored is an entry that was read and found sound.
type stored struct {
	kind       kind
	key, value []byte

	id   conversation.ID // of a record or a chunk; or the incarnation that a name leads to
	head *store.Head
	edit *conversation.Edit
	task *store.Task
}

// verify reads an entry. It fails unless the checksum is right and the entry lies under the key that belongs to it.
func verify(codec *record.Codec, file io.ReaderAt, bucket string, e pages.Entry) (stored, error) {
	s := stored{key: e.Key}
	var err error
	if s.kind, err = kindOf(bucket, e); err != nil {
		return s, err
	}
	if bucket == string(bucketRecords) || bucket == string(bucketChunks) || bucket == string(bucketPending) {
		s.id = conversation.ID(e.Key[:idBytes])
	}
	if s.value, err = e.Value(file); err == nil {
		err = s.decode(codec)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", s.kind, err)
	}
	return s, nil
}

func (s *stored) decode(codec *record.Codec) (err error) {
	var key []byte
	switch s.kind {
	case isLayout:
		return keyFault(string(s.value) == layout)
	case isName:
		s.id, err = codec.DecodeLink(s.value)
		_, ok := nameOf(s.key)
		return errors.Join(err, keyFault(ok))
	case isSlot:
		_, err = codec.DecodeSlot(s.value)
		return err
	case isInfo:
		_, err = codec.DecodeInfo(s.value)
		return err
	case isChunk:
		_, err = codec.DecodeChunk(s.value)
		return err
	case isIndex, isDying, isReserve, isSeal:
		return nil
	case isPending, isDue:
		key, err = s.decodeTask(codec)
	default:
		key, err = s.decodeNumbered(codec)
	}
	if err == nil && !bytes.Equal(key, s.key) {
		err = errKey
	}
	return err
}

// decodeNumbered decodes a record, and returns the key under which it belongs.
func (s *stored) decodeNumbered(codec *record.Codec) (key []byte, err error) {
	switch s.kind {
	case isMessage:
		m, err := codec.DecodeMessage(s.value)
		return messageKey(s.id, m.Index), err
	case isEdit:
		e, err := codec.DecodeEdit(s.value)
		s.edit = &e
		return editKey(s.id, kindEdit, e.Seq), err
	case isManifest:
		m, err := codec.DecodeManifest(s.value)
		return manifestKey(s.id, m.Seq), err
	case isOutcome:
		o, err := codec.DecodeOutcome(s.value)
		return outcomeKey(s.id, o.Key), err
	default:
		h, err := codec.DecodeHead(s.value)
		s.head = &h
		return headKey(h.Incarnation), err
	}
}

func (s *stored) decodeTask(codec *record.Codec) (key []byte, err error) {
	t, err := codec.DecodeTask(s.value)
	s.task = &t
	if s.kind == isDue {
		return dueKey(&t), err
	}
	return pendingKey(t.Incarnation, t.Upload), err
}

// nameOf returns the conversation in a key of the names.
func nameOf(key []byte) (store.Key, bool) {
	if len(key) < 2 {
		return store.Key{}, false
	}
	n := 2 + int(binary.BigEndian.Uint16(key))
	if n > len(key) {
		return store.Key{}, false
	}
	k := store.Key{Namespace: string(key[2:n]), Conversation: string(key[n:])}
	return k, k.Check() == nil
}
