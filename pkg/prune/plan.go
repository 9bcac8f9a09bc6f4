package prune

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Input is the input of Plan.
type Input struct {
	Units []conversation.Unit // of the view, in any order; large contents may be references
	View  *conversation.View  // that shows them: it knows what has become of each part
	// Protect are the tokens of the newest parts, which are left alone; Minimum those that must go together; MaxPart is what one
	// part counts at most for both.
	Protect, Minimum, MaxPart int64
	// Results of Tools, by name, and of tools whose names begin with one of Prefixes, are never cleared.
	Tools, Prefixes []string
	// Recall are the tools that recall: their results are not cleared either. Nil if the policy names all tools it protects.
	Recall *conversation.RecallTools
	// Keep reports by its first message whether nothing of a unit is cleared, though it counts: pinned units, leading system messages, the
	// newest unit, and those expanded lately. Nil keeps none.
	Keep func(first int32) bool
	// Placeholder returns the weight of a cleared result in tokens, given the call that retrieves it.
	Placeholder func(recall string) int64
}

// MinShortened is what clearing must free of a result that expiry has already shortened, in tokens; less is not worth losing what is still
// shown of it (behaviour §7).
const MinShortened = 500

// Target is a tool result to be cleared.
type Target struct {
	Index  int32
	Part   int32 // position in the original message
	Weight int64 // what the view shows of it now, in tokens: all of it, though it counts MaxPart at most
}

// Plan returns what is to be cleared, by message and part; nothing if that is less than Minimum. From the newest message back, parts of
// every kind are protected until they cover Protect, including the part that crosses that line. Older parts, and results of low importance
// wherever they stand, are cleared if they are tool results that have ended, are not of high importance, are not placeholders yet, and weigh
// more than one, by MinShortened if expiry has shortened them. Summaries neither count nor are cleared. Once the targets are cleared, a plan
// for the rest is empty.
func Plan(in Input) []Target {
	var out []Target
	var newer, prunable int64
	for _, p := range newestFirst(in.Units) {
		it := &p.unit.Items[p.item]
		for shown := len(it.Parts) - 1; shown >= 0; shown-- {
			tokens := int64(it.Parts[shown].Tokens)
			if (newer >= in.Protect || isUnprotected(&it.Parts[shown])) && in.clears(p.unit, it, shown) {
				out = append(out, Target{Index: it.Message.Index, Part: it.Position(shown), Weight: tokens})
				prunable += min(tokens, in.MaxPart)
			}
			newer += min(tokens, in.MaxPart)
		}
	}
	if prunable < in.Minimum {
		return nil
	}
	slices.Reverse(out)
	return out
}

// isUnprotected reports whether a part is cleared wherever it stands: a result of low importance.
func isUnprotected(p *conversation.Part) bool {
	return p.Kind == conversation.PartToolResult && p.Result.Importance == conversation.ImportanceLow
}

// clears reports whether a part that is old enough can be cleared.
func (in *Input) clears(u *conversation.Unit, it *conversation.Item, shown int) bool {
	p, index := &it.Parts[shown], it.Message.Index
	if p.Kind != conversation.PartToolResult || !hasEnded(p.Result.State) || p.Result.Importance == conversation.ImportanceHigh {
		return false
	}
	level, reason := in.View.Part(index, it.Position(shown))
	if level >= conversation.Cleared || in.Keep != nil && in.Keep(u.First()) || in.isProtected(u.ToolOf(p.Result)) {
		return false
	}
	gain := int64(p.Tokens) - in.Placeholder(p.Result.Recall(index))
	if reason.Expired() {
		return gain >= MinShortened
	}
	return gain > 0
}

// hasEnded reports whether a result is final. One without a state has completed.
func hasEnded(s conversation.ResultState) bool {
	switch s {
	case conversation.ResultUnspecified, conversation.ResultCompleted, conversation.ResultError:
		return true
	default:
		return false
	}
}

// messageRef is a message in its unit, whose calls name the tools of its results.
type messageRef struct {
	unit *conversation.Unit
	item int
}

func (p messageRef) index() int32 { return p.unit.Items[p.item].Message.Index }

// newestFirst lists the messages of units, not their summaries.
func newestFirst(units []conversation.Unit) []messageRef {
	var out []messageRef
	for u := range units {
		for i := range units[u].Items {
			out = append(out, messageRef{&units[u], i})
		}
	}
	slices.SortFunc(out, func(a, b messageRef) int { return int(b.index()) - int(a.index()) })
	return out
}
