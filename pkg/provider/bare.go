package provider

// Unclear refuses a piece that stands where a message should if the piece does not say whose words it holds. what is the name of such a
// piece, and never its text.
func (r *Reading) Unclear(n Node, what string) {
	r.Fail(&n, "is a %s, which does not say whose it is: send the message that holds it", what)
}

// Streamed refuses an event of a stream: it holds only a part, and another event may hold the same part again.
func (r *Reading) Streamed(n Node) { r.Fail(&n, "is a piece of a stream: send the whole answer") }

// First refuses a choice that is not the first one of its answer.
func (r *Reading) First(index Node) {
	if !index.Missing() && index.JSON != "0" {
		r.Fail(&index, "must be 0: an answer has one choice")
	}
}
