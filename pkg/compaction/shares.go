package compaction

// The maximum shares of the budget for each claim, as divisors (behaviour §4).
const (
	RequestShare = 2
	OpeningShare = 10
	summaryShare = 10 // for the texts of summaries together, and for their lists
	besideShare  = 10 // for system messages that are shown again together, and for important units
)

// tailShare is the share of the budget that a cut leaves at least for the tail, as a divisor, if what is always shown takes so much that
// the target alone would leave next to nothing.
const tailShare = 4
