package conversation

import (
	"slices"
	"strings"
	"unicode"
)

// The recall tools, by the names that models know.
const (
	ToolExpand   = "expand_message"
	ToolRetrieve = "retrieve_content"
	ToolSearch   = "search_conversation"

	ToolSearchMemory = "search_memory"
)

// RecallToolNames returns the names of the recall tools. The caller may change the result.
func RecallToolNames() []string {
	return []string{ToolExpand, ToolRetrieve, ToolSearch, ToolSearchMemory}
}

// RecallArguments returns the arguments of a recall tool; none for other tools. The caller may change the result.
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

// RecallTools are the names of a policy for recall tools that are not recognized by themselves (behaviour §9).
type RecallTools []string

// Has reports whether a tool is a recall tool: by its own name, behind a prefix that has palimpsest as a segment, or because the policy
// names it.
func (t RecallTools) Has(name string) bool { return slices.Contains(t, name) || t.Meant(name) != "" }

// Meant returns the sidecar's tool that a name stands for, with or without a prefix; empty if there is none. A name from the policy
// stands for the tool that it ends with.
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

// ofPalimpsest reports whether a prefix such as mcp__palimpsest__ or palimpsest. has palimpsest as a segment. Clients of tool servers
// spell prefixes in many ways, so everything but letters and digits separates segments.
func ofPalimpsest(prefix string) bool {
	parts := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	last := []rune(prefix)[len([]rune(prefix))-1]
	return parts(last) && slices.ContainsFunc(strings.FieldsFunc(prefix, parts), func(s string) bool { return strings.EqualFold(s, "palimpsest") })
}
