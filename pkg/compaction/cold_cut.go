package compaction

// ColdCut describes a cut of a view that is within its budget, at a time when the provider has cached nothing of it (behaviour §8).
type ColdCut struct {
	Before int64 // tokens of the context as it is
	Saved  int64 // tokens by which it would shrink at least
	Shrink int64 // percent by which it must shrink for a summary to be worth its loss
	Turns  int32 // turns for which the conversation is expected to go on
	// The prices of a token read from the provider's cache, and of one written to it.
	Read, Write float64
	Call        float64 // cost of writing the summary, in the unit of the prices; 0 for an extract
}

// leastColdCut is the percentage by which a view must shrink at least. There is no pressure to cut, and the target may be where the trigger
// is: without this minimum each pause would cut a little, and send the summary through another summarizer.
const leastColdCut = 25

// Pays reports whether the cut is worth its summary. What leaves now need not be written to the cache in this turn, nor read from it in the
// expected turns.
func (c ColdCut) Pays() bool {
	return Shrinks(c.Before, c.Before-c.Saved, max(c.Shrink, leastColdCut)) && float64(c.Saved)*(c.Write+c.Read*float64(c.Turns)) > c.Call
}
