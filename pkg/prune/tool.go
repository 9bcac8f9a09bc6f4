package prune

import (
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// DefaultTools returns the tools, beside those that recall, whose results are never cleared where a policy does not say: what they give was
// asked for to be kept in sight.
func DefaultTools() []string { return []string{"skill"} }

// DefaultPrefixes returns the beginnings of names of tools whose results are never cleared where a policy does not say.
func DefaultPrefixes() []string { return []string{"tool-"} }

// isProtected reports whether results of a tool are never cleared.
func (in *Input) isProtected(tool string) bool {
	return slices.Contains(in.Tools, tool) || in.Recall != nil && in.Recall.Has(tool) ||
		slices.ContainsFunc(in.Prefixes, func(prefix string) bool { return strings.HasPrefix(tool, prefix) })
}

// toolOf returns the name of the tool that gave a result: its own word for it, else that of the call it answers.
func toolOf(u *conversation.Unit, r *conversation.ToolResult) string {
	if r.Name != "" {
		return r.Name
	}
	for i := range u.Items {
		parts := u.Items[i].Message.Parts
		for p := range parts {
			if c := parts[p].Call; c != nil && c.Ordinal == r.Ordinal {
				return c.Name
			}
		}
	}
	return ""
}
