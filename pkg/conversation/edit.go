package conversation

import (
	"time"
)

// Level says how much of a part, or of a message, the view shows. Levels only rise, except through an expansion.
type Level int8

// The levels, weakest first. Each number is that of the API minus one.
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
	// EditMask drops parts of one message at any level, and shows its persistent variant from then on.
	EditMask
	// EditRestore shows messages in full again. It undoes levels and masks, and takes them out of summaries and of what EditTakeOut
	// removed.
	EditRestore
	// EditSummarize puts a summary in the place of a range.
	EditSummarize
	// EditHide hides a range from everything.
	EditHide
	// EditStoreContent and EditExpireContent do not change the view. They record that a content was stored, and that one was deleted. The
	// range is the message that cites the content; it is empty and after the last message if none does.
	EditStoreContent
	EditExpireContent
	// EditUnhide undoes the newest EditHide of the same range that is in force.
	EditUnhide
	// EditCorrect gives parts of one message other words. Everything except the record shows these from then on.
	EditCorrect
	// EditRecall puts a block of recalled memories before the words of a user's message. Without parts, it removes the block.
	EditRecall
	// EditReturn brings back the lines that deduplication left out of one message, because their copy is no longer shown.
	EditReturn
	// EditTakeOut takes a range out of the view because the caller's own list lacks it. EditPutBack undoes that once a later list holds it
	// again.
	EditTakeOut
	EditPutBack
)

// Edit is an entry of the append-only log about the view. It holds its result (parts as they are shown) and not how to compute it, so that
// replaying it always gives the same bytes. An edit does not change once it has a sequence number.
type Edit struct {
	Seq     int64 // from 1, without gaps
	Kind    EditKind
	Range   Range // the messages it is about; a single one for EditParts, EditMask, EditCorrect, EditRecall and EditReturn
	Parts   []PartEdit
	Mask    []int32 // positions of parts that are dropped, for EditMask
	Summary *Summary
	Reason  Reason
	Turn    int32
	Time    time.Time
	Before  int64   // tokens that the view showed for the range before
	After   int64   // tokens that it shows after
	Erases  bool    // the original was erased as well
	Content string  // the handle of the content, for EditStoreContent and EditExpireContent
	Said    string  // the reason in the caller's words, for EditRestore and EditCorrect
	Brought []int32 // messages of the range whose view changes, for EditRestore; empty for all
	Commit  uint64  // the version that the commit made

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// PartEdit says what the view shows for one part. If the kind of Shown is unspecified, it shows nothing: another part of the message stands
// for this one too.
type PartEdit struct {
	Part  int32 // position in the message; RecalledPart for the block of an EditRecall
	Level Level
	Shown Part
	// Copies, for a deduplicated result, locate the lines that Shown refers to instead of showing them, in order; nil otherwise.
	Copies []Copy
}

// Copy locates lines that a view shows only once. Lines are counted from 0, in texts as they were appended or corrected.
type Copy struct {
	First, End    int32 // lines of the deduplicated text
	Message, Part int32 // the part that shows them
	At            int32 // the line of that part's text where they begin
}

// Summary stands for a range of messages. It is not a message: it takes no index.
type Summary struct {
	ID       int64 // s7
	Level    int32
	Children []int64 // the summaries that it replaced, in order of their ranges
	Text     Content // including the list of facts it would otherwise have lost
	Tokens   int32
	// Except are messages in the range that it does not stand for: pinned units, system messages that are shown again, and units that had
	// been expanded a short time before.
	Except []Range
	// Verbatim are those of Except that stay next to the summary because of their high importance, one range per unit.
	Verbatim []Range
	// Facts is JSON. It holds the facts of everything that the summary stands for, so that its successor loses none of them unnoticed, and
	// how much of Text comes before the list.
	Facts    Content
	Model    string // the model that wrote it, as provider/model; empty for an extract
	Recorded int64  // weight in tokens of the messages that it stands for, as they were appended
	Erased   bool   // something that it stands for was erased after it was made

	// Unknown holds fields that a newer version wrote.
	Unknown string
}

// Covers reports whether the summary stands for a message in the range of its edit.
func (s *Summary) Covers(index int32) bool {
	return !InRanges(s.Except, index)
}

// FactKind is the kind of a fact.
type FactKind int8

// The kinds of facts. The numbers are stored.
const (
	FactCall   FactKind = iota + 1 // an unanswered call
	FactRule                       // a sentence of the user that says what must, or must never, be done
	FactPath                       // the path of a file
	FactURL                        // a URL
	FactID                         // a name that only a machine would make up
	FactNumber                     // a number with a unit
	FactError                      // an error message
)

// Fact is something in a stretch of conversation that a summary must not lose unnoticed.
type Fact struct {
	Kind  FactKind `json:"k"`
	Text  string   `json:"t"`
	Count int32    `json:"n"` // how often it was mentioned
	// Of are the messages that mention it, in order; if there are many, the newest ones.
	Of []int32 `json:"m,omitempty"`
	// ByAgent is set if the agent named it in its own words or in the arguments of a call. It is false if this is not known.
	ByAgent bool `json:"a,omitempty"`
}

// Range is a half-open range of message indices.
type Range struct{ First, End int32 }

// Contains reports whether the index is in the range.
func (r Range) Contains(i int32) bool { return r.First <= i && i < r.End }

// Covers reports whether all of o is in the range.
func (r Range) Covers(o Range) bool { return r.First <= o.First && o.End <= r.End }

// Overlaps reports whether the two ranges share an index.
func (r Range) Overlaps(o Range) bool { return r.First < o.End && o.First < r.End }

// Len is the number of indices in the range.
func (r Range) Len() int32 { return r.End - r.First }
