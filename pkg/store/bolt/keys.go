package bolt

import (
	"encoding/binary"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// The buckets. Content chunks are separate from everything else: with a large value next to small ones, every small write
// would copy the large one's page.
var (
	bucketMeta    = []byte("meta")    // "layout" -> the version of the file's layout; "sealed", if it is sealed
	bucketNames   = []byte("names")   // namespace, conversation -> incarnation
	bucketRecords = []byte("records") // incarnation | kind | ... -> record
	bucketChunks  = []byte("chunks")  // incarnation | upload | number -> chunk
	bucketPending = []byte("pending") // incarnation | upload -> an upload that no commit refers to yet; a longer key marks it as dying
	bucketDue     = []byte("due")     // time | incarnation | upload -> task
	bucketReserve = []byte("reserve") // room for deletions (reserve.go)
	reserveKey    = []byte("zeros")
)

// The kinds of records, in key order. The head comes directly after the newest message: an append writes these two, and so
// changes a single page.
const (
	kindEdit     = 0x10 // view | seq
	kindNarrow   = 0x11 // view | message | seq: edits about one message
	kindWide     = 0x12 // view | seq: all other edits
	kindManifest = 0x20 // seq
	kindOutcome  = 0x30 // rpc, request id
	kindSlot     = 0x40 // name
	kindInfo     = 0x50
	kindMessage  = 0x60 // index
	kindHead     = 0x70 // view
)

// noView is the id of the only view: its length, which is 0. It is part of keys so that further views need no new layout.
const noView = 0

const idBytes = 16

// appendName puts a name's length before it, so that names with any bytes do not mix.
func appendName(b []byte, name string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(name))), name...)
}

// nameKey ends with the conversation's id unchanged, so that a namespace is listed in byte order of ids.
func nameKey(k store.Key) []byte {
	b := make([]byte, 0, 2+len(k.Namespace)+len(k.Conversation))
	return append(appendName(b, k.Namespace), k.Conversation...)
}

func recordKey(id conversation.ID, kind byte, extra int) []byte {
	b := make([]byte, 0, idBytes+1+extra)
	return append(append(b, id[:]...), kind)
}

func manifestKey(id conversation.ID, seq int64) []byte {
	return binary.BigEndian.AppendUint64(recordKey(id, kindManifest, 8), uint64(seq))
}

func editKey(id conversation.ID, kind byte, seq int64) []byte {
	return binary.BigEndian.AppendUint64(append(recordKey(id, kind, 9), noView), uint64(seq))
}

func narrowKey(id conversation.ID, message int32, seq int64) []byte {
	b := append(recordKey(id, kindNarrow, 13), noView)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, uint32(message)), uint64(seq))
}

func messageKey(id conversation.ID, index int32) []byte {
	return binary.BigEndian.AppendUint32(recordKey(id, kindMessage, 4), uint32(index))
}

func outcomeKey(id conversation.ID, k store.RequestKey) []byte {
	return append(appendName(recordKey(id, kindOutcome, 2+len(k.RPC)+len(k.ID)), k.RPC), k.ID...)
}

func slotKey(id conversation.ID, name string) []byte {
	return append(recordKey(id, kindSlot, len(name)), name...)
}

func infoKey(id conversation.ID) []byte { return recordKey(id, kindInfo, 0) }

func headKey(id conversation.ID) []byte { return append(recordKey(id, kindHead, 1), noView) }

func pendingKey(id, upload conversation.ID) []byte {
	return append(append(make([]byte, 0, 2*idBytes+1), id[:]...), upload[:]...)
}

func dyingKey(id, upload conversation.ID) []byte { return append(pendingKey(id, upload), 1) }

func chunkKey(id, upload conversation.ID, chunk int32) []byte {
	b := append(append(make([]byte, 0, 2*idBytes+4), id[:]...), upload[:]...)
	return binary.BigEndian.AppendUint32(b, uint32(chunk))
}

// appendTime writes a time so that its bytes sort in order of time.
func appendTime(b []byte, t time.Time) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(t.Unix())^1<<63)
	return binary.BigEndian.AppendUint32(b, uint32(t.Nanosecond()))
}

func dueKey(t *store.Task) []byte {
	b := append(appendTime(make([]byte, 0, 12+2*idBytes), t.Time), t.Incarnation[:]...)
	return append(b, t.Upload[:]...)
}

// lastSeq returns the sequence number at the end of an edit's key.
func lastSeq(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[len(key)-8:])) }
