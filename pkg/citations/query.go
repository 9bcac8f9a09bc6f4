package citations

// Query is what is looked for. It is immutable and safe for concurrent use.
type Query struct{}

// NewQuery reads search terms: words, phrases, or whole requests of thousands of characters. A term in double quotes, and one of
// several words, is also looked for as a phrase.
func NewQuery(terms ...string) *Query { return &Query{} }

// Empty says whether nothing in the terms can be looked for.
func (q *Query) Empty() bool { return true }
