package conversation

import "time"

// Level says how much of a part, or of a message, the view shows. Levels only rise, but for an expansion.
type Level int8

// The levels, weakest first. The numbers are those of the API less one.
const (
	Full Level = iota
	Cited
	Shortened
	Cleared
	Removed
)

// EditKind says what an edit does to the view.
type EditKind int8

// The kinds of edits.
const (
	// EditParts replaces parts of one message by what the view shows for them.
	EditParts EditKind = iota + 1
	// EditRemove takes messages out of the view.
	EditRemove
	// EditMask drops parts of one message, whatever their level, and shows its persistent variant from then on.
	EditMask
	// EditRestore brings messages back in full: it undoes levels, masks and the summaries before it.
	EditRestore
	// EditSummarise lets a summary stand for a range.
	EditSummarise
	// EditHide makes a range invisible to everything.
	EditHide
)

// Edit is an entry of the append-only log about the view. It holds its result (parts as shown), never a recipe, so that it
// replays byte for byte for ever. Edits are immutable once they have a sequence number.
type Edit struct {
	Seq     int64 // from 1, without gaps
	Kind    EditKind
	Range   Range // the messages it is about; one message for EditParts and EditMask
	Parts   []PartEdit
	Mask    []int32 // positions of parts that are dropped, for EditMask
	Summary *Summary
	Reason  Reason
	Turn    int32
	Time    time.Time
	Before  int64  // tokens that the view showed for it before
	After   int64  // tokens that it shows now
	Erases  bool   // the original went with it
	Commit  uint64 // the version that the commit made
}

// PartEdit says what the view shows for one part: nothing if the kind of Shown is unspecified, because another part of the
// message tells its content too.
type PartEdit struct {
	Part  int32 // position in the message
	Level Level
	Shown Part
}

// Summary stands for a range of messages. It is not a message: it takes no index.
type Summary struct {
	ID       int64 // s7
	Level    int32
	Children []int64
	Text     Content
	Tokens   int32
}

// Range is a half-open range of message indices.
type Range struct{ First, End int32 }

// Contains says whether the index lies in the range.
func (r Range) Contains(i int32) bool { return r.First <= i && i < r.End }

// Covers says whether all of o lies in the range.
func (r Range) Covers(o Range) bool { return r.First <= o.First && o.End <= r.End }

// Overlaps says whether the two share an index.
func (r Range) Overlaps(o Range) bool { return r.First < o.End && o.First < r.End }

// Len is the number of indices in the range.
func (r Range) Len() int32 { return r.End - r.First }
