package choice

// Unit is a line, or a part of one that is too long to be shown.
type Unit struct {
	Text string
	// Line is the 1-based number of its line in the text.
	Line int
	// Rest is true if the line began in an earlier unit.
	Rest bool
}
