package redis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// partitions is the number of tags. It is stored (metaKey): with another number, nothing would be found.
const partitions = 256

// layout is the version of the format of all keys.
const layout = 2

// The kinds of keys, after prefix and tag.
const (
	kindSeal  = "z" // string: exists while the store is sealed
	kindEpoch = "e" // string
	kindHeard = "q" // string: exists for a while after a process began to listen to the partition
	kindDue   = "d" // sorted set: incarnation | upload, by microseconds
	kindNames = "l" // sorted set: names, in byte order
	kindHead  = "h" // hash by name: h(ead), n (attributes), x (the end of staged messages, if it differs from the head's), and messages by index

	// The others are followed by an incarnation.
	kindIncarnation = "i" // hash: k(ey), s(tate), d(ue), x (Delete has begun)
	kindMessages    = "m" // hash by index, of messages that no name leads to: staged or replaced
	kindEdits       = "n" // hash by seq
	kindEditCommits = "f" // string of entries by seq - 1
	kindNarrow      = "x" // sorted set: seq, by the message of the edit
	kindWide        = "y" // sorted set: seq of all other edits, by seq
	kindManifests   = "g" // sorted set: seq | manifest, in byte order
	kindOutcomes    = "o" // hash by rpc and request id: time | outcome
	kindSlots       = "s" // hash by name: hash of the value | slot
	kindContents    = "u" // hash by upload: state | due | number of chunks
	kindChunk       = "k" // string; upload | number follow
	kindOwner       = "w" // string: name; tagged by the incarnation alone
)

const idBytes = 16

// space makes the keys of one prefix.
type space struct {
	prefix string
	parts  *[partitions]part
}

// part holds the fixed keys of a partition.
type part struct {
	base               string
	seal, epoch, heard any // arguments of every script that writes
}

func newSpace(prefix string) space {
	sp := space{prefix: prefix, parts: &[partitions]part{}}
	for i := range sp.parts {
		base := prefix + "{" + strconv.Itoa(i) + "}"
		sp.parts[i] = part{base, base + kindSeal, base + kindEpoch, base + kindHeard}
	}
	return sp
}

func (sp space) metaKey() string { return sp.prefix + "meta" }

// base is the beginning of all keys of a partition.
func (sp space) base(partition int) string { return sp.parts[partition].base }

// place says where a conversation is stored.
type place struct {
	key       store.Key
	partition int
	base      string
	name      string
}

func (sp space) place(key store.Key) place {
	name := nameOf(key)
	p := partitionOf(name)
	return place{key: key, partition: p, base: sp.base(p), name: name}
}

func (p place) head() string { return p.base + kindHead + p.name }

// messages is the key of an incarnation's messages. They are in the same hash as the head, so that an append is one command, unless they
// are staged.
func (p place) messages(id conversation.ID, staged bool) string {
	if staged {
		return p.of(kindMessages, id)
	}
	return p.head()
}

func (p place) epoch() string { return p.base + kindEpoch }

func (p place) of(kind string, id conversation.ID) string { return p.base + kind + string(id[:]) }

func (p place) chunk(id, upload conversation.ID, number int) string {
	return p.of(kindChunk, id) + string(upload[:]) + string(binary.BigEndian.AppendUint32(nil, uint32(number)))
}

// owner returns the key that holds the owner of an incarnation, and the key's partition.
func (sp space) owner(id conversation.ID) (key string, partition int) {
	partition = partitionOf(string(id[:]))
	return sp.base(partition) + kindOwner + string(id[:]), partition
}

func partitionOf(name string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	sum := h.Sum64()
	return int((sum ^ sum>>32) % partitions)
}

// nameOf returns a key as bytes that sort like the key: the namespace with its zeros escaped, a terminator, and the conversation.
func nameOf(k store.Key) string {
	return spaceName(k.Namespace) + k.Conversation
}

const (
	nameEnd  = "\x00\x01"
	nameZero = "\x00\xff"
)

func spaceName(namespace string) string {
	return strings.ReplaceAll(namespace, "\x00", nameZero) + nameEnd
}

// told returns the conversation that a message about a commit names. The channel has the name of the seal, and the message is the key of
// the head.
func told(channel, head string) (store.Key, error) {
	if len(head) < len(channel) {
		return store.Key{}, fmt.Errorf("a message of another kind: %w", store.ErrCorrupt)
	}
	return keyOf(head[len(channel):])
}

func keyOf(name string) (store.Key, error) {
	for i := 0; i+1 < len(name); i++ {
		if name[i] != 0 {
			continue
		}
		if name[i+1] == nameEnd[1] {
			return store.Key{Namespace: strings.ReplaceAll(name[:i], nameZero, "\x00"), Conversation: name[i+2:]}, nil
		}
		i++
	}
	return store.Key{}, fmt.Errorf("a name without an end: %w", store.ErrCorrupt)
}

// timeBytes is the length of a stored time in bytes.
const timeBytes = 12

// appendTime writes a time so that its bytes sort in order of time. All zeros mean no time.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, make([]byte, timeBytes)...)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(t.Unix())^1<<63)
	return binary.BigEndian.AppendUint32(b, uint32(t.Nanosecond()))
}

func timeOf(b string) (time.Time, error) {
	if len(b) < timeBytes {
		return time.Time{}, errors.New("a time is cut short")
	}
	seconds := binary.BigEndian.Uint64([]byte(b[:8]))
	if seconds == 0 {
		return time.Time{}, nil
	}
	return time.Unix(int64(seconds^1<<63), int64(binary.BigEndian.Uint32([]byte(b[8:timeBytes])))).UTC(), nil
}

// due returns a time for scripts: its bytes, and its score, which is less precise; empty for none.
func due(t time.Time) []byte {
	if t.IsZero() {
		return nil
	}
	return strconv.AppendInt(appendTime(make([]byte, 0, timeBytes+20), t), t.UnixMicro(), 10)
}

// outcomeField returns the field of an outcome. It keeps request ids of different RPCs apart.
func outcomeField(k store.RequestKey) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(len(k.RPC)))) + k.RPC + k.ID
}

func seqBytes(seq int64) string { return string(binary.BigEndian.AppendUint64(nil, uint64(seq))) }

// entryBytes is the size of an entry in the log of edits: the commit, and whether the edit exists.
const entryBytes = 16

func editEntry(commit uint64) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, entryBytes), commit)
	return append(b, 1, 0, 0, 0, 0, 0, 0, 0)
}

// messageMark is the size of what precedes a stored message, for scripts: commit and tokens.
const messageMark = 12

func markMessage(b []byte, commit uint64, tokens int32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, commit), uint32(tokens))
}

// A guard precedes a stored head: what a commit compares, in fields of fixed size. These are incarnation, state, version, numbers of
// messages and edits, and the due time.
const (
	guardState   = idBytes
	guardVersion = guardState + 1
	guardBytes   = guardVersion + 8 + 4 + 8 + timeBytes
)

func appendGuard(b []byte, h *store.Head, state store.State, version uint64, messages int32, edits int64) []byte {
	b = append(b, h.Incarnation[:]...)
	b = append(b, flag(state == store.Deleted)...)
	b = binary.BigEndian.AppendUint64(b, version)
	b = binary.BigEndian.AppendUint32(b, uint32(messages))
	b = binary.BigEndian.AppendUint64(b, uint64(edits))
	return appendTime(b, h.NextDue)
}

// unguard splits a stored head from its guard.
func unguard(value string) (leads conversation.ID, version uint64, head string, err error) {
	if len(value) < guardBytes {
		return leads, 0, "", fmt.Errorf("a head is cut short: %w", store.ErrCorrupt)
	}
	copy(leads[:], value)
	return leads, binary.BigEndian.Uint64([]byte(value[guardVersion:])), value[guardBytes:], nil
}
