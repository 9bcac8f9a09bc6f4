package provider

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// What OpenAI's two APIs share.

// Developer marks texts of the role that OpenAI calls developer.
func (r *Reading) Developer(parts []conversation.Part) []conversation.Part {
	for i := range parts {
		parts[i] = r.WithResidue(parts[i], "openai", Members{{"role", `"developer"`}})
	}
	return parts
}

// OpenAIRole returns the role of a line of the system or the user: developer where it was marked so.
func OpenAIRole(l *Line, contents []Content) string {
	if l.Role == conversation.RoleSystem && contents[0].Kept.Text("role") == "developer" {
		return "developer"
	}
	return l.Role.String()
}
