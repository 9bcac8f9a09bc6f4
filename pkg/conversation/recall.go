package conversation

import (
	"slices"
	"strings"
	"unicode"
)

// The tools that recall, by the names that models know them under.
const (
	ToolExpand   = "expand_message"
	ToolRetrieve = "retrieve_content"
	ToolSearch   = "search_conversation"

	ToolSearchMemory = "search_memory"
)

// RecallToolNames are the names of the tools that recall. The caller owns them.
func RecallToolNames() []string {
	return []string{ToolExpand, ToolRetrieve, ToolSearch, ToolSearchMemory}
}

// RecallArguments are the arguments that a tool takes that recalls; none of another tool. The caller owns them.
func RecallArguments(tool string) []string {
	switch tool {
	case ToolExpand:
		return []string{"id", "start", "end", "unit"}
	case ToolRetrieve:
		return []string{"content_id", "search_terms", "start", "end", "unit"}
	case ToolSearch:
		return []string{"query"}
	case ToolSearchMemory:
		return []string{"query", "scope"}
	default:
		return nil
	}
}

// RecallTools are the names that a policy has for tools that recall, beside those that are told by themselves (behaviour §9).
type RecallTools []string

// Has says whether a tool is one that recalls: by its own name, under a prefix that has palimpsest as a segment, or named by the policy.
func (t RecallTools) Has(name string) bool { return slices.Contains(t, name) || t.Meant(name) != "" }

// Meant is the tool of ours that a name stands for, with or without a prefix; empty if it stands for none. A name of the policy's stands
// for the one that it ends with.
func (t RecallTools) Meant(name string) string {
	for _, tool := range RecallToolNames() {
		prefix, ok := strings.CutSuffix(name, tool)
		switch {
		case !ok:
		case prefix == "", slices.Contains(t, name), ofPalimpsest(prefix):
			return tool
		}
	}
	return ""
}

// ofPalimpsest says whether a prefix such as mcp__palimpsest__ or palimpsest. has palimpsest as a segment. Clients of tool servers write
// them in many ways: whatever is neither a letter nor a digit parts segments.
func ofPalimpsest(prefix string) bool {
	parts := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	last := []rune(prefix)[len([]rune(prefix))-1]
	return parts(last) && slices.ContainsFunc(strings.FieldsFunc(prefix, parts), func(s string) bool { return strings.EqualFold(s, "palimpsest") })
}
