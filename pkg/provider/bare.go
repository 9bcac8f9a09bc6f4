package provider

// Unclear refuses a piece that stands where a message should, and does not say whose words it is. What it is called is none of its text.
func (r *Reading) Unclear(n Node, what string) {
	r.Fail(&n, "is a %s, which does not say whose it is: send the message that holds it", what)
}

// Streamed refuses a piece of a stream: it says part of something, and may say it again.
func (r *Reading) Streamed(n Node) { r.Fail(&n, "is a piece of a stream: send the whole answer") }

// First refuses a choice that is not the first one of its answer.
func (r *Reading) First(index Node) {
	if !index.Missing() && index.JSON != "0" {
		r.Fail(&index, "must be 0: an answer has one choice")
	}
}
