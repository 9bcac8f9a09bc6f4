package prune

const clearedNote = "Old tool result content cleared."

// Cleared returns the placeholder for a cleared result. recall is the call that retrieves it, such as expand_message(12); erased means that
// the original no longer exists.
func Cleared(recall string, erased bool) string {
	if erased {
		return "[" + clearedNote + "]"
	}
	return "[" + clearedNote + " Full text: " + recall + "]"
}
