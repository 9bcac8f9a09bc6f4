// Package pass is what the passes of a plan share: what they are given, the draft that they read, and what they give back. A pass is a function
// from these to a Result; it writes nothing that it is given. The driver, in package plan, alone brings a Result into the draft.
package pass

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/completion"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/copies"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// Given is what a build is decided on. No pass writes it.
type Given struct {
	*view.Composer
	Settings       *settings.Settings
	Summaries      ReadySummaries
	Fixed          int64 // tokens of what is always sent beside the messages
	Turn           int32
	NewTurn        bool // the build begins a turn
	Now            time.Time
	DryRun         bool               // the build commits nothing, and asks no model
	CloseOpenCalls bool               // calls that wait are closed with a fixed result
	Previous       view.PreviousBuild // in the same format
	Completion     *completion.Completion
	Recalls        bool // there is a memory
	Allowance      Allowance
	Clock          func() time.Time // times the passes, if what each does is wanted; nil otherwise
}

// ReadySummaries says which summaries are there, and which could be asked for. Nothing of it waits.
type ReadySummaries interface {
	Result(*summarize.Request) (summarize.Result, bool)
	IsStarted(*summarize.Request) bool
	CanAsk(*conversation.Prompt) bool
	CanAskLive(f conversation.Format, model string) (name string, reached bool)
	ModelsOf(*conversation.Prompt) []string
	Extract(text string, chars int) string
}

// Compose lays a view out for a window, with the copies that come back there (behaviour §21): no line names a copy that is not shown. What
// comes back shows more than it did, so that nothing else comes back by that.
func (g *Given) Compose(v *conversation.View, win conversation.Window) (*view.Composition, error) {
	out, err := g.Composer.Compose(v, win)
	if err != nil {
		return nil, err
	}
	back := copies.Missing(out)
	if len(back) == 0 {
		return out, nil
	}
	return g.Composer.Compose(v.WithReturned(back), win)
}

// Weight is what a composition weighs with what is always sent, in tokens before the factor.
func (g *Given) Weight(out *view.Composition) int64 { return g.Fixed + out.Tokens() }

// OverLimit is by how much a composition exceeds the budget, in tokens before the factor.
func (g *Given) OverLimit(out *view.Composition) int64 { return g.Weight(out) - g.Settings.Limit }

// UsedTokens is what a composition takes of the budget, times the factor (behaviour §8): what was last reported for this model, and what the
// view has gained or lost since by our count. The answer was reported as output, and is on record since: it counts once, as the more of both.
func (g *Given) UsedTokens(out *view.Composition) (tokens int64, isReported bool) {
	now := g.Settings.Scaled(g.Weight(out))
	r, ok, err := g.Loaded.Slots.LastUsage()
	if err != nil || !ok || r.Model != g.Model {
		return now, false
	}
	return now + r.Context - g.Settings.Scaled(r.Counted) + g.unseenOutput(&r, out.Window.Start), true
}

// UncountedTokens is how far the provider's report exceeds our own count, before the factor: nobody told us of what else is sent. It lowers
// what the rest of the view may take.
func (g *Given) UncountedTokens(out *view.Composition) int64 {
	used, _ := g.UsedTokens(out)
	return max(0, g.Settings.Unscaled(used)-g.Weight(out))
}

// unseenOutput is what the provider reported as output beyond what is on record of it.
func (g *Given) unseenOutput(r *record.UsageReport, start int32) int64 {
	output := r.Output
	if conversation.ValueOr(g.Settings.Policy.Compaction.CountReasoning, false) {
		output += r.Thought
	}
	m, ok := g.Loaded.Message(r.Messages)
	if !ok || r.Messages < start || m.Role != conversation.RoleAssistant {
		return 0 // it left the view since, or was never appended
	}
	return max(0, min(output, g.Settings.Budget)-g.Settings.Scaled(int64(m.Tokens)))
}

// Message is a message of the conversation.
func (g *Given) Message(index int32) (*conversation.Message, error) {
	if m, ok := g.Loaded.Message(index); ok {
		return m, nil
	}
	if err := g.Loaded.Require(conversation.Range{First: index, End: index + 1}); err != nil {
		return nil, err
	}
	m, ok := g.Loaded.Message(index)
	if !ok {
		return nil, conversation.Errorf(conversation.Internal, "message %d is not loaded", index)
	}
	return m, nil
}

// NeededRanges lists what a build may show that starts with a window.
func (g *Given) NeededRanges(win conversation.Window) []conversation.Range {
	ranges := g.Loaded.ShownRanges(g.Kept, win, g.Loaded.Head.Messages)
	for _, asked := range []int32{g.Loaded.Head.Request, g.Loaded.Head.Opening} {
		if 0 <= asked && asked < win.Start {
			ranges = append(ranges, conversation.Range{First: asked, End: asked + 1})
		}
	}
	return ranges
}

// UserWords is what the user typed in a message, as a view shows it.
func (g *Given) UserWords(v *conversation.View, m *conversation.Message) (string, error) {
	shown := m.Parts
	if it, ok := v.Beside(m); ok {
		shown = it.Parts
	}
	parts, err := g.Loaded.Extras.Inline(shown)
	return compaction.UserText(parts), err
}

// Tokens counts a text.
func (g *Given) Tokens(text string) int {
	n, _ := g.Settings.Counter.Count(text)
	return n
}

// SetWeight counts the text that a part shows.
func (g *Given) SetWeight(p *conversation.Part, text string) {
	n, estimated := g.Settings.Counter.Count(text)
	p.Tokens, p.Estimated = int32(n), estimated
}

// CacheIsCold says whether the provider has nothing cached of the context: the last build is too long ago, was another model's, or stood
// behind another system prompt or other tools.
func (g *Given) CacheIsCold() bool {
	m := g.Previous.Manifest
	return m == nil || g.Now.Sub(m.Time) >= g.Settings.ColdAfter || m.Model != g.Model || m.FixedHash != g.Loaded.Fixed.Hash
}

// protectedTurns is for how many turns an expanded message is kept from giving way to the rest of the view (behaviour §10).
const protectedTurns = 5

// ExpandedRecently says whether a message was brought back so recently that neither pruning nor a summary takes it away.
func (g *Given) ExpandedRecently(v *conversation.View, index int32) bool {
	_, turn, ok := v.Restored(index)
	return ok && g.Turn-turn <= protectedTurns
}

// IsProtected says whether a unit was brought back recently enough to stay in view wherever the window starts.
func (g *Given) IsProtected(v *conversation.View, win *conversation.Window, index int32) bool {
	edit, turn, ok := v.Restored(index)
	return ok && edit > win.Restored && g.Turn-turn <= protectedTurns
}

// LastLapsed is the last edit that keeps what it restored in view no longer once a window's start moves.
func (g *Given) LastLapsed(v *conversation.View, before int64) int64 {
	return max(before, v.LastRestored(g.Turn-protectedTurns-1))
}
