package citations

// Messages is a run of messages made ready to be searched, as whole messages. It may be added to, and searched by several at once
// while nobody adds.
type Messages struct{}

// Add adds a message. Indices rise. The text is not kept.
func (m *Messages) Add(index int32, text string) {}

// Size is what it holds in memory, in bytes: at most as much as the text of the messages.
func (m *Messages) Size() int64 { return 0 }

// Hit is a message that answers a query.
type Hit struct {
	Index int32
	Score float64 // comparable within one search alone
}

// SearchMessages ranks messages of several runs, whose indices rise from run to run, best first, at most limit. Messages that keep
// refuses are not hits (nil keeps all).
func SearchMessages(q *Query, runs []*Messages, keep func(index int32) bool, limit int) []Hit {
	return nil
}

// Snippet is the part of a text that answers a query best, at most maxChars characters.
func Snippet(q *Query, text string, maxChars int) string { return "" }
