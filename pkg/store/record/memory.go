package record

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// MemorySync is how far a conversation is remembered by one target. It is replaced, and never changed.
type MemorySync struct {
	Next         int32     // everything before it was sent or passed over
	Edits        int64     // the last edit that was looked at
	Session      int32     // of the last message before Next, from 1; 0 before there is one
	SessionStart int32     // that session's first message
	Passed       time.Time // when the last message before Next was said
	Ends         []int32   // where sessions end that callers ended
	Again        []conversation.Range
	Owner        string // who sends
	Until        time.Time
	Attempts     int32
	NextTry      time.Time
	State        int32
	Reason       string // safe to show
	Skipped      int32
	Size         int32     // how many messages a batch has at most, because larger ones were refused; 0 for no such bound
	Sent         time.Time // when the last batch was acknowledged
	Flight       *MemoryFlight
	Lineages     int32    // slots
	Scopes       int32    // the kinds of scopes that were sent to, as bits
	Residue      []string // what the target keeps of what was taken back
	Unknown      string
}

// MemoryFlight is a batch that is on its way: it is on record before it is sent.
type MemoryFlight struct {
	First, End int32
	SHA256     [32]byte // of what is sent
	Key        string
	Session    int32
	Sent       time.Time
	Pending    bool // the target works on it
	Again      bool // it is sent again
	Void       bool // it is being taken back, and never sent again under its key
}

// MemoryLineage is which memories batches led to.
type MemoryLineage struct {
	Origins []MemoryOrigin
}

// MemoryOrigin is which memories one batch led to.
type MemoryOrigin struct {
	Range conversation.Range
	IDs   []string
}

// MemoryErrand is what a memory is to forget: what a deleted conversation said, or an actor.
type MemoryErrand struct {
	Kind      int32
	Namespace string
	Target    string
	Created   time.Time
	Attempts  int32
	NextTry   time.Time
	State     int32
	Actor     string
	Deleted   int64
	Residue   []string
	Done      time.Time

	Conversation string
	Incarnation  conversation.ID
	Scopes       int32
	KeepFacts    bool
	Lineages     int32

	Records       bool   // the actor's conversations are deleted
	After         string // the conversation that was looked at last
	Scanned       bool   // all were
	Conversations int32  // deleted
	Looks         int32  // how often it was found done

	Unknown string
}

// MemoryMark says until when an actor is forgotten, and by which errand.
type MemoryMark struct {
	Time    time.Time
	Errand  string
	Unknown string
}

// EncodeMemorySync makes the value of a slot, and DecodeMemorySync reads it.
var EncodeMemorySync, DecodeMemorySync = slotOf(memorySyncFields)

// EncodeMemoryLineage makes the value of a slot, and DecodeMemoryLineage reads it.
var EncodeMemoryLineage, DecodeMemoryLineage = slotOf(memoryLineageFields)

// EncodeMemoryErrand makes the value of a slot, and DecodeMemoryErrand reads it.
var EncodeMemoryErrand, DecodeMemoryErrand = slotOf(memoryErrandFields)

// EncodeMemoryMark makes the value of a slot, and DecodeMemoryMark reads it.
var EncodeMemoryMark, DecodeMemoryMark = slotOf(memoryMarkFields)

func memorySyncFields(f *fields, s *MemorySync) {
	integer(f, 1, &s.Next)
	integer(f, 2, &s.Edits)
	integer(f, 3, &s.Session)
	integer(f, 4, &s.SessionStart)
	f.time(5, &s.Passed)
	numbers(f, 6, &s.Ends)
	list(f, 7, &s.Again, rangeFields)
	f.text(8, &s.Owner)
	f.time(9, &s.Until)
	integer(f, 10, &s.Attempts)
	f.time(11, &s.NextTry)
	integer(f, 12, &s.State)
	f.text(13, &s.Reason)
	integer(f, 14, &s.Skipped)
	integer(f, 15, &s.Size)
	f.time(16, &s.Sent)
	optional(f, 17, &s.Flight, memoryFlightFields)
	integer(f, 18, &s.Lineages)
	integer(f, 19, &s.Scopes)
	f.texts(20, &s.Residue)
	f.unknown(&s.Unknown)
}

func memoryFlightFields(f *fields, v *MemoryFlight) {
	integer(f, 1, &v.First)
	integer(f, 2, &v.End)
	f.hash(3, &v.SHA256)
	f.text(4, &v.Key)
	integer(f, 5, &v.Session)
	f.time(6, &v.Sent)
	f.bool(7, &v.Pending)
	f.bool(8, &v.Again)
	f.bool(9, &v.Void)
}

func memoryLineageFields(f *fields, l *MemoryLineage) {
	list(f, 1, &l.Origins, memoryOriginFields)
}

func memoryOriginFields(f *fields, o *MemoryOrigin) {
	integer(f, 1, &o.Range.First)
	integer(f, 2, &o.Range.End)
	f.texts(3, &o.IDs)
}

func memoryErrandFields(f *fields, e *MemoryErrand) {
	integer(f, 1, &e.Kind)
	f.text(2, &e.Namespace)
	f.text(3, &e.Target)
	f.time(4, &e.Created)
	integer(f, 5, &e.Attempts)
	f.time(6, &e.NextTry)
	integer(f, 7, &e.State)
	f.text(8, &e.Actor)
	integer(f, 9, &e.Deleted)
	f.texts(10, &e.Residue)
	f.time(11, &e.Done)
	f.text(12, &e.Conversation)
	f.id(13, &e.Incarnation)
	integer(f, 14, &e.Scopes)
	f.bool(15, &e.KeepFacts)
	integer(f, 16, &e.Lineages)
	f.bool(17, &e.Records)
	f.text(18, &e.After)
	f.bool(19, &e.Scanned)
	integer(f, 20, &e.Conversations)
	integer(f, 21, &e.Looks)
	f.unknown(&e.Unknown)
}

func memoryMarkFields(f *fields, m *MemoryMark) {
	f.time(1, &m.Time)
	f.text(2, &m.Errand)
	f.unknown(&m.Unknown)
}
