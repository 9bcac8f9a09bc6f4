package engine

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/citations"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// The slots of contents (behaviour §9). They are read only where contents are at work.
const (
	lastSourceSlot = "content/last"    // the number of the last content
	sourceSlots    = "content/source/" // a source record, by number
	runSlots       = "content/run/"    // a run that contents belong to
	sharedSlots    = "content/bytes/"  // bytes that several contents may share, by SHA-256
)

// sourceDigits is how many digits numbers have in names of slots, so that slots are in order.
const sourceDigits = 10

func sourceSlot(number int64) string { return fmt.Sprintf("%s%0*d", sourceSlots, sourceDigits, number) }

// sourceRecord is a source record as it is stored.
type sourceRecord record.Source

func (r *sourceRecord) encode() []byte { return record.EncodeSource((*record.Source)(r)) }

// cited is the record as citations tell it.
func (r *sourceRecord) cited() citations.Source {
	return citations.Source{
		Handle: r.Handle, Type: r.Type.String(), URL: r.URL, Title: r.Title, ContentType: r.ContentType, TotalBytes: r.Bytes, TotalChars: r.Chars,
	}
}

// maxCitedBy is how many messages a source record names.
const maxCitedBy = 100

func (r *sourceRecord) cite(message int32) {
	if len(r.CitedBy) < maxCitedBy {
		r.CitedBy = append(r.CitedBy, message)
	}
}

func (r *sourceRecord) text() bool { return r.Chars > 0 || r.Bytes == 0 }

// source is the record as callers see it. expires is when its run takes it along.
func (r *sourceRecord) source(expires time.Time) Source {
	s := Source{
		ContentID: r.Handle, Type: r.Type, URL: r.URL, Title: r.Title, ContentType: r.ContentType, Bytes: r.Bytes, Chars: r.Chars,
		Accessed: time.UnixMilli(r.Accessed).UTC(), CitedBy: r.CitedBy, Expired: r.Expired, RunID: r.Run, Metadata: r.Metadata, AtAppend: r.AtAppend,
	}
	if len(r.SHA256) == len(s.SHA256) {
		sum := [32]byte(r.SHA256)
		s.SHA256 = &sum
	}
	if r.OfRun && !r.Expired {
		s.Expires = expires
	}
	return s
}

// handles are written in letters and digits that nobody mistakes for each other.
var handleLetters = base32.StdEncoding.WithPadding(base32.NoPadding) //nolint:gochecknoglobals // a constant that Go has no word for

// newHandle makes the handle of a content: its number, and letters that nobody can guess, however the id spreads what it has of chance.
func newHandle(number int64, secret conversation.ID) string {
	sum := sha256.Sum256(secret[:])
	return fmt.Sprintf("c%d-%s", number, strings.ToLower(handleLetters.EncodeToString(sum[:5])))
}

// numberOf reads the number out of a handle.
func numberOf(handle string) (int64, bool) {
	digits, letters, ok := strings.Cut(strings.TrimPrefix(handle, "c"), "-")
	if !ok || len(letters) != 8 || !strings.HasPrefix(handle, "c") || len(digits) > sourceDigits || digits == "" || digits[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n > 0
}

func parseSource(value []byte) (*sourceRecord, error) {
	r, err := record.DecodeSource(value)
	if err != nil {
		return nil, damaged("a source record").Because(err)
	}
	return (*sourceRecord)(&r), nil
}

func damaged(what string) *conversation.Error {
	return conversation.Errorf(conversation.CorruptRecord, "%s is damaged", what)
}

// findSource finds a content by its handle. One of another conversation is not there, and one whose run is over is gone, however late
// the sweeper comes.
func (e *Engine) findSource(ctx context.Context, key Key, handle string) (*sourceRecord, *store.Snapshot, error) {
	number, ok := numberOf(handle)
	q := store.Query{Info: true}
	if ok {
		q.Slots = []string{sourceSlot(number)}
	}
	snap, err := e.txn.Read(ctx, key, q)
	if err != nil {
		return nil, nil, err
	}
	value := snap.Slots[sourceSlot(number)]
	if value == nil {
		return nil, nil, noContent()
	}
	r, err := parseSource(value)
	if err != nil {
		return nil, nil, err
	}
	if r.Handle != handle {
		return nil, nil, noContent()
	}
	return r, snap, e.used(ctx, key, snap.Head.Incarnation, r)
}

func noContent() error {
	return conversation.Errorf(conversation.ContentNotFound, "no content of the conversation has this handle")
}

func contentGone() error {
	return conversation.Errorf(conversation.ContentExpired, "the content is gone for good: do not retry")
}

// lastSource is the number of the conversation's last content.
func lastSource(slots map[string][]byte) (int64, error) {
	value := slots[lastSourceSlot]
	if value == nil {
		return 0, nil
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0, damaged("the number of contents").Because(err)
	}
	return n, nil
}

func sharedSlot(sum [32]byte) string { return sharedSlots + hex.EncodeToString(sum[:]) }

func parseShared(value []byte) (*record.SharedBytes, error) {
	if value == nil {
		return nil, nil
	}
	s, err := record.DecodeSharedBytes(value)
	if err != nil || len(s.ID) != len(conversation.ID{}) {
		return nil, damaged("what is known of shared bytes")
	}
	return &s, nil
}

// slotChanges gathers what a commit changes of contents. What was changed before is read back changed.
type slotChanges struct {
	read    map[string][]byte
	changed map[string][]byte
}

func newSlotChanges(read map[string][]byte) *slotChanges {
	return &slotChanges{read: read, changed: map[string][]byte{}}
}

func (s *slotChanges) get(name string) []byte {
	if value, ok := s.changed[name]; ok {
		return value
	}
	return s.read[name]
}

func (s *slotChanges) set(name string, value []byte) error {
	if len(value) > store.MaxSlot {
		return conversation.Errorf(conversation.LimitExceeded, "a run holds more contents than can be kept track of")
	}
	s.changed[name] = value
	return nil
}

// share counts one more content that has the bytes of an id. Bytes that are kept under another id are that content's own.
func (s *slotChanges) share(sum [32]byte, id conversation.ID) error {
	shared, err := parseShared(s.get(sharedSlot(sum)))
	if err != nil || shared != nil && conversation.ID(shared.ID) != id {
		return err
	}
	if shared == nil {
		shared = &record.SharedBytes{ID: id[:]}
	}
	shared.Count++
	return s.set(sharedSlot(sum), record.EncodeSharedBytes(shared))
}

// release counts one content less, and says whether nobody has the bytes any more.
func (s *slotChanges) release(sum [32]byte, id conversation.ID) (free bool, err error) {
	shared, err := parseShared(s.get(sharedSlot(sum)))
	if err != nil || shared == nil || conversation.ID(shared.ID) != id {
		return err == nil, err
	}
	if shared.Count--; shared.Count > 0 {
		return false, s.set(sharedSlot(sum), record.EncodeSharedBytes(shared))
	}
	s.changed[sharedSlot(sum)] = nil
	return true, nil
}

// apply adds the changes to a commit.
func (s *slotChanges) apply(c *store.Change) {
	if c.Slots == nil && len(s.changed) > 0 {
		c.Slots = make(map[string][]byte, len(s.changed))
	}
	for name, value := range s.changed {
		c.Slots[name] = value
	}
}
