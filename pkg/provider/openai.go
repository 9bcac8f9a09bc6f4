package provider

import (
	"regexp"
	"strconv"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// What OpenAI's two APIs share.

// From this GPT version on, reusable instructions belong in the first developer item of Responses' input. Text in the
// instructions member belongs to that request only, comes after the input, and is billed as uncached
// (developers.openai.com/api/docs/guides/latest-model/gpt-6.2-astra, read 2026-11-26).
const developersMajor, developersMinor = 6, 2

var versionOfGPT = regexp.MustCompile(`^gpt-(\d+)(?:\.(\d+))?(?:-|$)`)

// PromptIsDevelopers reports whether a model's system prompt belongs in the first developer item of Responses' input.
func PromptIsDevelopers(model string) bool {
	m := versionOfGPT.FindStringSubmatch(BareModel(model))
	if m == nil {
		return false
	}
	major, _ := strconv.Atoi(m[1]) // the pattern matches digits only
	minor, _ := strconv.Atoi(m[2])
	return major > developersMajor || major == developersMajor && minor >= developersMinor
}

// DevelopersResidue marks a text of the role that OpenAI calls developer.
func DevelopersResidue() *conversation.Residue {
	return &conversation.Residue{Provider: "openai", JSON: `{"role":"developer"}`}
}

// Developer marks texts of the role that OpenAI calls developer.
func (r *Reading) Developer(parts []conversation.Part) []conversation.Part {
	for i := range parts {
		parts[i] = r.MoreResidue(parts[i], "openai", Members{{"role", `"developer"`}})
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
