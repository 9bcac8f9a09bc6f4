package choice

// Unit is what lines are judged by: a line, or a part of one that is too long to be shown.
type Unit struct {
	Text string
	// line is the number of its line in the text, from 1.
	Line int
	// rest is whether the line began in the unit before.
	Rest bool
}
