package citations

// Reading is a content as it is read: itself, or what an HTML page says. It knows where its sections are, and where each of its
// characters came from. It is immutable and safe for concurrent use.
type Reading struct {
	Kind    Kind
	Content string // as it was stored
	Text    string // what is read of it: Content itself for all kinds but HTML
}

// Read reads a content. It takes any bytes, and what a kind does not fit is read as text.
func Read(kind Kind, content string) *Reading {
	return &Reading{Kind: kind, Content: content, Text: content}
}

// Starts are where sections begin in Text, in order: headed stretches of Markdown and HTML, members and items of JSON, lines of
// logs, paragraphs, top-level declarations of code. What passages are made of: small enough to be told apart, with all of Text in them.
// The caller must not change it.
func (r *Reading) Starts() []int32 { return nil }

// Place is where [from, to) of Text is, for a model: `lines 45-67`, `section: Introduction`, `/items/47` or `beginning`. Numbers are
// 1-based and inclusive, but the indices of JSON items, which are JSON pointers.
func (r *Reading) Place(from, to int) string { return "" }

// Source is which bytes of Content [from, to) of Text came from, and which of its characters (Unicode code points).
func (r *Reading) Source(from, to int) (bytes, chars [2]int64) { return }
