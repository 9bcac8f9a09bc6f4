package citations

// Unit says what a range counts.
type Unit int8

// The units of ranges.
const (
	UnitBytes Unit = iota
	UnitChars      // Unicode code points
	UnitLines
	UnitItems // of a JSON array, or of the one array in an object
)

// Outline finds ranges in a content that is too large to be held: it is fed the content once, piece by piece and in order, and keeps
// about a byte for each hundred.
type Outline struct{}

// Outliner feeds an Outline.
type Outliner struct{}

// NewOutliner begins an outline.
func NewOutliner() *Outliner { return &Outliner{} }

// Feed takes the next piece. It never fails: what is no UTF-8 counts a character a byte.
func (o *Outliner) Feed(piece []byte) {}

// Outline ends the feeding.
func (o *Outliner) Outline() *Outline { return &Outline{} }

// Chars, Lines and Items are how many of each the content has; Items is false for what has none. A last line without an end counts.
func (o *Outline) Chars() int64         { return 0 }
func (o *Outline) Lines() int64         { return 0 }
func (o *Outline) Items() (int64, bool) { return 0, false }

// Text says whether all of it was UTF-8 without NUL.
func (o *Outline) Text() bool { return true }

// Find is which bytes a half-open range of a unit lies in, cut to what there is. read gives [from, to) of the content, at most a
// few hundred KiB a call. Items come with the commas between them, without the brackets around them.
func (o *Outline) Find(unit Unit, from, to int64, read func(from, to int64) ([]byte, error)) (first, end int64, err error) {
	return 0, 0, nil
}

// Size is what the outline holds in memory, in bytes.
func (o *Outline) Size() int64 { return 0 }
