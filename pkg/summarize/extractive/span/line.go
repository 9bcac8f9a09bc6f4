package span

import "strings"

// oneLine replaces each run of white space with one space.
func oneLine(text string) string {
	if !strings.ContainsAny(text, "\n\t\r\v\f\u0085\u00a0\u2028\u2029") && !strings.Contains(text, "  ") {
		return strings.TrimSpace(text)
	}
	return strings.Join(strings.Fields(text), " ")
}
