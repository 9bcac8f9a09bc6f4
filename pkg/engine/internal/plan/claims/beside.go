package claims

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// addSystem adds the system messages that are shown again beside a summary, newest first, whether they are shown now or not.
func (c *Claims) addSystem() {
	shown := c.draft.View.In(c.draft.Composed.Window)
	for i := range c.g.Loaded.Messages {
		m := &c.g.Loaded.Messages[i]
		if m.Role != conversation.RoleSystem || m.Index >= c.draft.Composed.Window.Start || c.g.Kept.Has(m.Index) || !shown.ShownAgain(m) {
			continue
		}
		if it, ok := shown.Item(m); ok {
			n := c.weightAt(m.Index, it.Tokens())
			c.System = append([]compaction.Claim{{First: m.Index, Whole: n, Least: n}}, c.System...)
		}
	}
}

// addVerbatim adds the units of high importance that stand beside a summary, newest first, whether they are shown now or not. The request and
// the opening have claims of their own.
func (c *Claims) addVerbatim() {
	shown := c.draft.View.In(c.draft.Composed.Window)
	for _, r := range shown.Verbatim() {
		if r.First >= c.draft.Composed.Window.Start || c.g.Kept.IsPinned(r.First) || c.Request.Is(r.First) || c.Opening.Is(r.First) {
			continue
		}
		n := int64(0)
		for i := range c.g.Loaded.Messages {
			if m := &c.g.Loaded.Messages[i]; r.Contains(m.Index) {
				if it, ok := shown.Item(m); ok {
					n += it.Tokens()
				}
			}
		}
		if n > 0 {
			n = c.weightAt(r.First, n)
			c.Verbatim = append(c.Verbatim, compaction.Claim{First: r.First, Whole: n, Least: n})
		}
	}
	slices.SortFunc(c.Verbatim, func(a, b compaction.Claim) int { return int(b.First) - int(a.First) })
}
