package prune

import "fmt"

const cleared = "Old tool result content cleared."

// Cleared is the placeholder for a pruned result of a message; erased says that the original cannot be had back.
func Cleared(index int32, erased bool) string {
	if erased {
		return "[" + cleared + "]"
	}
	return fmt.Sprintf("[%s Full text: expand_message(%d)]", cleared, index)
}
