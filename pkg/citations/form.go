package citations

import (
	"encoding/json"
	"strings"
)

// InForm is a text that has the form of a citation; empty if it has not. Frameworks hand text on as a JSON string.
func InForm(text string) string {
	const longest = 64 << 10 // bytes: no citation is longer, however it is escaped
	if len(text) > longest {
		return ""
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, `"`) {
		var s string
		if json.Unmarshal([]byte(text), &s) == nil {
			text = s
		}
	}
	if HandleOf(text) == "" {
		return ""
	}
	return text
}
