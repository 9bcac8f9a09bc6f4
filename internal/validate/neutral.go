package validate

import (
	"encoding/json"
	"slices"
)

// neutralMessage reads a message of the neutral format, as NeutralJSON wrote
// it.
func neutralMessage(r *reader, raw []byte) entry {
	var m struct {
		Role  string `json:"role"`
		Parts []Item `json:"parts"`
	}
	if json.Unmarshal(raw, &m) != nil {
		r.fault("", RuleType)
		return entry{}
	}
	if !slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role) {
		r.fault(".role", RuleRole)
	}
	if len(m.Parts) == 0 {
		r.fault(".parts", RuleEmpty)
	}
	return entry{role: m.Role, blocks: []Block{r.block(m.Role, raw, m.Parts...)}, calls: callIDs(m.Parts)}
}

// neutralOrder: ids are unique in the context, and every call is answered
// directly after its message.
func neutralOrder(r *reader, entries []*entry) {
	chatOrder(r, entries)
	var all []string
	for _, e := range entries {
		all = append(all, e.calls...)
	}
	slices.Sort(all)
	if len(slices.Compact(slices.Clone(all))) != len(all) {
		r.fault("messages", RuleIDUnique)
	}
}
