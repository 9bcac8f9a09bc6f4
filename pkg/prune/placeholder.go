package prune

const clearedNote = "Old tool result content cleared."

// Cleared returns the placeholder for a pruned result that a call of a tool brings back, such as expand_message(12); erased says that
// the original cannot be retrieved.
func Cleared(recall string, erased bool) string {
	if erased {
		return "[" + clearedNote + "]"
	}
	return "[" + clearedNote + " Full text: " + recall + "]"
}
