package conversation

import (
	"time"
)

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
	// EditRestore brings messages back in full: it undoes levels, masks, and before it summaries and what EditTakeOut did.
	EditRestore
	// EditSummarize lets a summary stand for a range.
	EditSummarize
	// EditHide makes a range invisible to everything.
	EditHide
	// EditStoreContent and EditExpireContent change nothing of the view: they say that a content came, and that one is gone. The range
	// is the message that cites it, or empty and after the last message.
	EditStoreContent
	EditExpireContent
	// EditUnhide undoes the newest EditHide of the same range that stands: what was taken back is there again.
	EditUnhide
	// EditCorrect gives parts of one message other words: everything but the record shows these from then on.
	EditCorrect
	// EditRecall puts a block of recalled memories before the words of a user's message, or, without parts, takes it away.
	EditRecall
	// EditReturn brings back what deduplication left out of parts of one message: a copy of it is shown no longer.
	EditReturn
	// EditTakeOut takes a range out of the view because the caller's own list lacks it. EditPutBack undoes that: a later list holds it again.
	EditTakeOut
	EditPutBack
)

// Edit is an entry of the append-only log about the view. It holds its result (parts as shown), never a recipe, so that it
// replays byte for byte for ever. Edits are immutable once they have a sequence number.
type Edit struct {
	Seq     int64 // from 1, without gaps
	Kind    EditKind
	Range   Range // the messages it is about; one message for EditParts, EditMask, EditCorrect, EditRecall and EditReturn
	Parts   []PartEdit
	Mask    []int32 // positions of parts that are dropped, for EditMask
	Summary *Summary
	Reason  Reason
	Turn    int32
	Time    time.Time
	Before  int64   // tokens that the view showed for it before
	After   int64   // tokens that it shows now
	Erases  bool    // the original went with it
	Content string  // the handle of the content that came or went, for EditStoreContent and EditExpireContent
	Said    string  // why, in the words of who asked for it, for EditRestore and EditCorrect
	Brought []int32 // messages of the range whose view it changes, for EditRestore; empty for all
	Commit  uint64  // the version that the commit made

	// Unknown is what a newer version wrote.
	Unknown string
}

// PartEdit says what the view shows for one part: nothing if the kind of Shown is unspecified, because another part of the
// message tells its content too.
type PartEdit struct {
	Part  int32 // position in the message; RecalledPart for the block of an EditRecall
	Level Level
	Shown Part
	// Copies are where the lines stand that Shown names in place of them, by line, for a result that is deduplicated; nil otherwise.
	Copies []Copy
}

// Copy says where lines stand that a view shows once. Lines are counted from 0, in texts as they were appended or corrected.
type Copy struct {
	First, End    int32 // of the deduplicated text
	Message, Part int32 // which shows them
	At            int32 // the line of its text where they begin
}

// Summary stands for a range of messages. It is not a message: it takes no index.
type Summary struct {
	ID       int64 // s7
	Level    int32
	Children []int64 // the summaries that it has taken up, in order of their ranges
	Text     Content // with the list of what it would have lost
	Tokens   int32
	// Except are the messages in the range that it does not stand for: pinned units, the system's messages that are shown again,
	// and units that had been expanded a short while before.
	Except []Range
	// Verbatim are those of Except that stay beside it because they are of high importance: a range for each unit.
	Verbatim []Range
	// Facts is JSON: the facts of all that it stands for, so that a successor loses none of them unnoticed, and how much of Text is
	// not the list.
	Facts    Content
	Model    string // that wrote it, as provider/model; empty for an extract
	Recorded int64  // tokens of the messages that it stands for, as they were appended
	Erased   bool   // something that it stands for was erased since

	// Unknown is what a newer version wrote.
	Unknown string
}

// Covers says whether the summary stands for a message of its edit's range.
func (s *Summary) Covers(index int32) bool {
	return !InRanges(s.Except, index)
}

// FactKind says what a fact is.
type FactKind int8

// The kinds of facts. The numbers are stored.
const (
	FactCall   FactKind = iota + 1 // a call that was never answered
	FactRule                       // a sentence of the user's that says what must, or must never, be done
	FactPath                       // a file
	FactURL                        // an address
	FactID                         // a name that only a machine would give
	FactNumber                     // a number with its unit
	FactError                      // the words of an error
)

// Fact is something of a stretch of conversation that a summary must not lose unnoticed.
type Fact struct {
	Kind  FactKind `json:"k"`
	Text  string   `json:"t"`
	Count int32    `json:"n"` // how often it was mentioned
	// Of are the messages that mention it, in their order; of many the newest.
	Of []int32 `json:"m,omitempty"`
	// ByAgent: the agent named it, in its words or in the arguments of its calls. False if not, or if that is not known.
	ByAgent bool `json:"a,omitempty"`
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
