package compaction

// ColdCut is a cut of a view that is within its budget, at a time when the provider has nothing cached of it (behaviour §8).
type ColdCut struct {
	Before int64 // tokens of the context as it is
	Saved  int64 // by how many it would be smaller at least
	Shrink int64 // percent by which it must be, for a summary to be worth its loss
	Turns  int32 // for which the conversation is expected to go on
	// The prices of a token read from the provider's cache, and of one written to it.
	Read, Write float64
	Call        float64 // what is paid for writing the summary, in the unit of the prices; 0 for an extract
}

// leastColdCut is the percentage by which a view shrinks at least: nothing presses, and the target may lie where the trigger does, so that
// each pause would cut a little, and send the summary through one more summarizer.
const leastColdCut = 25

// Pays says whether the cut is worth its summary. What leaves now need not be written to the cache in this turn, and not be read from it in
// those that are expected.
func (c ColdCut) Pays() bool {
	return Shrinks(c.Before, c.Before-c.Saved, max(c.Shrink, leastColdCut)) && float64(c.Saved)*(c.Write+c.Read*float64(c.Turns)) > c.Call
}
