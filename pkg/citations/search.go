package citations

// Options says how much a search answers.
type Options struct {
	Max      int // excerpts; 0: DefaultExcerpts
	MaxChars int // of one excerpt; 0 or more than MaxExcerptChars: MaxExcerptChars
}

// The limits of searches.
const (
	DefaultExcerpts = 5
	MaxExcerptChars = 500
)

// Excerpt is a passage of a content.
type Excerpt struct {
	Content   int    // which of the contents that were searched, by the number it was added under
	Text      string // at most MaxChars characters, cut at borders of sentences or lines where that can be had
	Location  string // as Reading.Place
	Bytes     [2]int64
	Chars     [2]int64
	Score     float64  // comparable within one search alone
	Matched   []string // the search terms, as the caller wrote them (words of a long one), that it holds
	Relevance string   // in words: why it is here
}

// Search gathers the best passages of contents, scored with statistics over all of them. A Search is for one goroutine.
type Search struct{}

// NewSearch begins a search.
func NewSearch(q *Query, o Options) *Search { return &Search{} }

// Add looks through a document. The search does not keep it.
func (s *Search) Add(content int, d *Document) {}

// Excerpts are the best passages, best first; none says the same as one before it. A content that holds an exact phrase of the
// terms has it in the first excerpt.
func (s *Search) Excerpts() []Excerpt { return nil }
