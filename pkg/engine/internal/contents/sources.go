package contents

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/citations"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// The slots of contents (behaviour §9). They are read only by calls that work with contents.
const (
	LastSourceSlot = "content/last"    // the number of the last content
	sourceSlots    = "content/source/" // a source record, by number
	RunSlots       = "content/run/"    // a run that contents belong to
	sharedSlots    = "content/bytes/"  // bytes that several contents may share, by SHA-256
)

// sourceDigits is how many digits a number has in the name of a slot, so that names sort by number.
const sourceDigits = 10

// SourceSlot returns the name of a source record's slot.
func SourceSlot(number int64) string { return fmt.Sprintf("%s%0*d", sourceSlots, sourceDigits, number) }

// Record is a source record as it is stored.
type Record record.Source

// Encode returns the record as its slot holds it.
func (r *Record) Encode() []byte { return record.EncodeSource((*record.Source)(r)) }

// CitationSource returns the fields of the record that citations show.
func (r *Record) CitationSource() citations.Source {
	return citations.Source{
		Handle: r.Handle, Type: r.Type.String(), URL: r.URL, Title: r.Title, ContentType: r.ContentType, TotalBytes: r.Bytes, TotalChars: r.Chars,
	}
}

// MaxCitedBy is how many citing messages a source record names at most.
const MaxCitedBy = 100

// AddCitation adds a message that cites the content.
func (r *Record) AddCitation(message int32) {
	if len(r.CitedBy) < MaxCitedBy {
		r.CitedBy = append(r.CitedBy, message)
	}
}

func (r *Record) isText() bool { return r.Chars > 0 || r.Bytes == 0 }

// Source returns the record as callers see it. expires is the time at which its run takes it along.
func (r *Record) Source(expires time.Time) Source {
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

// HandleLetters encodes handles in letters and digits that are not mistaken for each other.
var HandleLetters = base32.StdEncoding.WithPadding(base32.NoPadding) //nolint:gochecknoglobals // a constant that Go has no word for

// NewHandle makes the handle of a content: its number, and letters that cannot be guessed. The letters come from a hash of the whole
// id, so they are random no matter which bytes of the id are.
func NewHandle(number int64, secret conversation.ID) string {
	sum := sha256.Sum256(secret[:])
	return fmt.Sprintf("c%d-%s", number, strings.ToLower(HandleLetters.EncodeToString(sum[:5])))
}

// NumberOf returns the number in a handle.
func NumberOf(handle string) (int64, bool) {
	digits, letters, ok := strings.Cut(strings.TrimPrefix(handle, "c"), "-")
	if !ok || len(letters) != 8 || !strings.HasPrefix(handle, "c") || len(digits) > sourceDigits || digits == "" || digits[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n > 0
}

// ParseRecord reads a source record from its slot.
func ParseRecord(value []byte) (*Record, error) {
	r, err := record.DecodeSource(value)
	if err != nil {
		return nil, Damaged("a source record").Because(err)
	}
	return (*Record)(&r), nil
}

// Damaged is the error for a stored record that cannot be read.
func Damaged(what string) *conversation.Error {
	return conversation.Errorf(conversation.CorruptRecord, "%s is damaged", what)
}

// LastSource returns the number of the conversation's newest content; 0 if there is none.
func LastSource(slots map[string][]byte) (int64, error) {
	value := slots[LastSourceSlot]
	if value == nil {
		return 0, nil
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0, Damaged("the number of contents").Because(err)
	}
	return n, nil
}

// SharedSlot returns the name of the slot of bytes that several contents may share.
func SharedSlot(sum [32]byte) string { return sharedSlots + hex.EncodeToString(sum[:]) }

// ParseShared reads shared bytes from their slot; nil if the slot is empty.
func ParseShared(value []byte) (*record.SharedBytes, error) {
	if value == nil {
		return nil, nil
	}
	s, err := record.DecodeSharedBytes(value)
	if err != nil || len(s.ID) != len(conversation.ID{}) {
		return nil, Damaged("what is known of shared bytes")
	}
	return &s, nil
}

// SlotChanges collects the changes of content slots for a commit. Get returns a changed value as changed.
type SlotChanges struct {
	Read    map[string][]byte
	Changed map[string][]byte
}

// NewSlotChanges starts with the slots that were read.
func NewSlotChanges(read map[string][]byte) *SlotChanges {
	return &SlotChanges{Read: read, Changed: map[string][]byte{}}
}

// Get returns the value that a slot will have.
func (s *SlotChanges) Get(name string) []byte {
	if value, ok := s.Changed[name]; ok {
		return value
	}
	return s.Read[name]
}

// Set changes a slot. It refuses a value that is too long for a slot.
func (s *SlotChanges) Set(name string, value []byte) error {
	if len(value) > store.MaxSlot {
		return conversation.Errorf(conversation.LimitExceeded, "a run holds more contents than can be kept track of")
	}
	s.Changed[name] = value
	return nil
}

// Share counts one more content that uses the chunks of an id. If the same bytes are kept under another id, they belong to that content
// alone and are not counted.
func (s *SlotChanges) Share(sum [32]byte, id conversation.ID) error {
	shared, err := ParseShared(s.Get(SharedSlot(sum)))
	if err != nil || shared != nil && conversation.ID(shared.ID) != id {
		return err
	}
	if shared == nil {
		shared = &record.SharedBytes{ID: id[:]}
	}
	shared.Count++
	return s.Set(SharedSlot(sum), record.EncodeSharedBytes(shared))
}

// Release counts one content less, and reports whether no content uses the chunks any more.
func (s *SlotChanges) Release(sum [32]byte, id conversation.ID) (free bool, err error) {
	shared, err := ParseShared(s.Get(SharedSlot(sum)))
	if err != nil || shared == nil || conversation.ID(shared.ID) != id {
		return err == nil, err
	}
	if shared.Count--; shared.Count > 0 {
		return false, s.Set(SharedSlot(sum), record.EncodeSharedBytes(shared))
	}
	s.Changed[SharedSlot(sum)] = nil
	return true, nil
}

// Apply adds the changes to a commit.
func (s *SlotChanges) Apply(c *store.Change) {
	if c.Slots == nil && len(s.Changed) > 0 {
		c.Slots = make(map[string][]byte, len(s.Changed))
	}
	maps.Copy(c.Slots, s.Changed)
}
