package conversation

import "slices"

// Importance says how much of a message or a tool result is kept when the view becomes smaller (behaviour §5, §7, §8).
type Importance int8

// The importances, the least first. The numbers are those of the API.
const (
	ImportanceUnspecified Importance = iota // normal
	ImportanceLow
	ImportanceNormal
	ImportanceHigh
)

// IsImportant says whether anything of the unit is of high importance: a message, or a tool result. What is said of a tool's message is
// said of those of its results that say nothing themselves.
func (u *Unit) IsImportant() bool {
	return slices.ContainsFunc(u.Items, func(it Item) bool {
		m := it.Message
		return m.Role != RoleTool && m.Importance == ImportanceHigh || slices.ContainsFunc(m.Parts, func(p Part) bool {
			return p.Kind == PartToolResult && p.Result.Importance == ImportanceHigh
		})
	})
}
