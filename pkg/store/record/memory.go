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

// EncodeMemorySync makes the value of a slot.
func EncodeMemorySync(s *MemorySync) []byte { return encodeSlot(s, writeMemorySync) }

// DecodeMemorySync reads what EncodeMemorySync made.
func DecodeMemorySync(value []byte) (MemorySync, error) { return decodeSlot(value, readMemorySync) }

// EncodeMemoryLineage makes the value of a slot.
func EncodeMemoryLineage(l *MemoryLineage) []byte { return encodeSlot(l, writeMemoryLineage) }

// DecodeMemoryLineage reads what EncodeMemoryLineage made.
func DecodeMemoryLineage(value []byte) (MemoryLineage, error) {
	return decodeSlot(value, readMemoryLineage)
}

// EncodeMemoryErrand makes the value of a slot.
func EncodeMemoryErrand(e *MemoryErrand) []byte { return encodeSlot(e, writeMemoryErrand) }

// DecodeMemoryErrand reads what EncodeMemoryErrand made.
func DecodeMemoryErrand(value []byte) (MemoryErrand, error) {
	return decodeSlot(value, readMemoryErrand)
}

// EncodeMemoryMark makes the value of a slot.
func EncodeMemoryMark(m *MemoryMark) []byte { return encodeSlot(m, writeMemoryMark) }

// DecodeMemoryMark reads what EncodeMemoryMark made.
func DecodeMemoryMark(value []byte) (MemoryMark, error) { return decodeSlot(value, readMemoryMark) }

func writeMemorySync(b []byte, s *MemorySync) []byte {
	b = appendInt(b, 1, s.Next)
	b = appendInt(b, 2, s.Edits)
	b = appendInt(b, 3, s.Session)
	b = appendInt(b, 4, s.SessionStart)
	b = appendTime(b, 5, s.Passed)
	b = appendPacked(b, 6, s.Ends, false)
	b = appendAll(b, 7, s.Again, writeRange)
	b = appendText(b, 8, s.Owner)
	b = appendTime(b, 9, s.Until)
	b = appendInt(b, 10, s.Attempts)
	b = appendTime(b, 11, s.NextTry)
	b = appendInt(b, 12, s.State)
	b = appendText(b, 13, s.Reason)
	b = appendInt(b, 14, s.Skipped)
	b = appendInt(b, 15, s.Size)
	b = appendTime(b, 16, s.Sent)
	b = appendOptional(b, 17, s.Flight, writeMemoryFlight)
	b = appendInt(b, 18, s.Lineages)
	b = appendInt(b, 19, s.Scopes)
	for _, what := range s.Residue {
		b = appendElement(b, 20, what)
	}
	return append(b, s.Unknown...)
}

func readMemorySync(r *reader, s *MemorySync) {
	for r.next() {
		switch r.field {
		case 1:
			s.Next = r.int32()
		case 2:
			s.Edits = r.int64()
		case 3:
			s.Session = r.int32()
		case 4:
			s.SessionStart = r.int32()
		case 5:
			s.Passed = r.time()
		case 6:
			packed(r, func(v int32) { s.Ends = append(s.Ends, v) })
		case 7:
			s.Again = element(r, s.Again, readRange)
		case 8:
			s.Owner = r.text()
		case 9:
			s.Until = r.time()
		default:
			readMemorySyncRest(r, s)
		}
	}
}

func readMemorySyncRest(r *reader, s *MemorySync) {
	switch r.field {
	case 10:
		s.Attempts = r.int32()
	case 11:
		s.NextTry = r.time()
	case 12:
		s.State = r.int32()
	case 13:
		s.Reason = r.text()
	case 14:
		s.Skipped = r.int32()
	case 15:
		s.Size = r.int32()
	case 16:
		s.Sent = r.time()
	case 17:
		s.Flight = optional(r, readMemoryFlight)
	case 18:
		s.Lineages = r.int32()
	case 19:
		s.Scopes = r.int32()
	case 20:
		s.Residue = append(s.Residue, r.text())
	default:
		s.Unknown += r.raw
	}
}

func writeMemoryFlight(b []byte, f *MemoryFlight) []byte {
	b = appendInt(b, 1, f.First)
	b = appendInt(b, 2, f.End)
	b = appendHash(b, 3, f.SHA256)
	b = appendText(b, 4, f.Key)
	b = appendInt(b, 5, f.Session)
	b = appendTime(b, 6, f.Sent)
	b = appendBool(b, 7, f.Pending)
	b = appendBool(b, 8, f.Again)
	return appendBool(b, 9, f.Void)
}

func readMemoryFlight(r *reader, f *MemoryFlight) {
	for r.next() {
		switch r.field {
		case 1:
			f.First = r.int32()
		case 2:
			f.End = r.int32()
		case 3:
			f.SHA256 = r.hash()
		case 4:
			f.Key = r.text()
		case 5:
			f.Session = r.int32()
		case 6:
			f.Sent = r.time()
		case 7:
			f.Pending = r.bool()
		case 8:
			f.Again = r.bool()
		case 9:
			f.Void = r.bool()
		}
	}
}

func writeMemoryLineage(b []byte, l *MemoryLineage) []byte {
	return appendAll(b, 1, l.Origins, writeMemoryOrigin)
}

func readMemoryLineage(r *reader, l *MemoryLineage) {
	for r.next() {
		if r.field == 1 {
			l.Origins = element(r, l.Origins, readMemoryOrigin)
		}
	}
}

func writeMemoryOrigin(b []byte, o *MemoryOrigin) []byte {
	b = appendInt(b, 1, o.Range.First)
	b = appendInt(b, 2, o.Range.End)
	for _, id := range o.IDs {
		b = appendElement(b, 3, id)
	}
	return b
}

func readMemoryOrigin(r *reader, o *MemoryOrigin) {
	for r.next() {
		switch r.field {
		case 1:
			o.Range.First = r.int32()
		case 2:
			o.Range.End = r.int32()
		case 3:
			o.IDs = append(o.IDs, r.text())
		}
	}
}

func writeMemoryErrand(b []byte, e *MemoryErrand) []byte {
	b = appendInt(b, 1, e.Kind)
	b = appendText(b, 2, e.Namespace)
	b = appendText(b, 3, e.Target)
	b = appendTime(b, 4, e.Created)
	b = appendInt(b, 5, e.Attempts)
	b = appendTime(b, 6, e.NextTry)
	b = appendInt(b, 7, e.State)
	b = appendText(b, 8, e.Actor)
	b = appendInt(b, 9, e.Deleted)
	for _, what := range e.Residue {
		b = appendElement(b, 10, what)
	}
	b = appendTime(b, 11, e.Done)
	b = appendText(b, 12, e.Conversation)
	b = appendID(b, 13, e.Incarnation)
	b = appendInt(b, 14, e.Scopes)
	b = appendBool(b, 15, e.KeepFacts)
	b = appendInt(b, 16, e.Lineages)
	b = appendBool(b, 17, e.Records)
	b = appendText(b, 18, e.After)
	b = appendBool(b, 19, e.Scanned)
	b = appendInt(b, 20, e.Conversations)
	b = appendInt(b, 21, e.Looks)
	return append(b, e.Unknown...)
}

func readMemoryErrand(r *reader, e *MemoryErrand) {
	for r.next() {
		switch r.field {
		case 1:
			e.Kind = r.int32()
		case 2:
			e.Namespace = r.text()
		case 3:
			e.Target = r.text()
		case 4:
			e.Created = r.time()
		case 5:
			e.Attempts = r.int32()
		case 6:
			e.NextTry = r.time()
		case 7:
			e.State = r.int32()
		case 8:
			e.Actor = r.text()
		case 9:
			e.Deleted = r.int64()
		case 10:
			e.Residue = append(e.Residue, r.text())
		case 11:
			e.Done = r.time()
		default:
			readMemoryErrandRest(r, e)
		}
	}
}

func readMemoryErrandRest(r *reader, e *MemoryErrand) {
	switch r.field {
	case 12:
		e.Conversation = r.text()
	case 13:
		e.Incarnation = r.id()
	case 14:
		e.Scopes = r.int32()
	case 15:
		e.KeepFacts = r.bool()
	case 16:
		e.Lineages = r.int32()
	case 17:
		e.Records = r.bool()
	case 18:
		e.After = r.text()
	case 19:
		e.Scanned = r.bool()
	case 20:
		e.Conversations = r.int32()
	case 21:
		e.Looks = r.int32()
	default:
		e.Unknown += r.raw
	}
}

func writeMemoryMark(b []byte, m *MemoryMark) []byte {
	b = appendTime(b, 1, m.Time)
	b = appendText(b, 2, m.Errand)
	return append(b, m.Unknown...)
}

func readMemoryMark(r *reader, m *MemoryMark) {
	for r.next() {
		switch r.field {
		case 1:
			m.Time = r.time()
		case 2:
			m.Errand = r.text()
		default:
			m.Unknown += r.raw
		}
	}
}
