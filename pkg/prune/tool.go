package prune

import (
	"slices"
	"strings"
)

// DefaultTools returns the tools, besides those that recall, whose results are never cleared unless a policy says otherwise, because their
// output is meant to stay in sight.
func DefaultTools() []string { return []string{"skill"} }

// DefaultPrefixes returns the name prefixes of tools whose results are never cleared unless a policy says otherwise.
func DefaultPrefixes() []string { return []string{"tool-"} }

// isProtected reports whether results of a tool are never cleared.
func (in *Input) isProtected(tool string) bool {
	return slices.Contains(in.Tools, tool) || in.Recall != nil && in.Recall.Has(tool) ||
		slices.ContainsFunc(in.Prefixes, func(prefix string) bool { return strings.HasPrefix(tool, prefix) })
}
