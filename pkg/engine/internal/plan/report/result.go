// Package report says what a build answers: the context, why messages are not shown as they were appended, what was saved by what, and how the
// context stands to the one before it.
package report

import (
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Result is what the model should see now. System and MessagesJSON are shared with the engine's cache: read only.
type Result struct {
	Turn         int32
	Manifest     conversation.Manifest // Seq 0 for a dry run
	Revision     int64
	Messages     []provider.Message // for the neutral format alone
	System       []byte             // for the others
	MessagesJSON []byte
	RequestJSON  []byte // the whole request, if it was asked for
	ByPlace      bool   // Shown was asked for, in place of MessagesJSON and RequestJSON
	Shown        []view.Shown
	SHA256       [32]byte
	Blocks       int32
	Breakpoints  []int32
	Tokens       Tokens
	Prefix       Prefix
	Decisions    []conversation.Decision
	Events       []conversation.Event
	Degradations []conversation.Degradation
	Compaction   CompactionStatus
	Duplicate    bool
	// CacheReadPrice is what a million tokens cost that are read from the provider's cache; nil if the model's profile has no prices.
	CacheReadPrice *float64
	Passes         []Pass // if they were asked for
}

// Pass is what one pass of a build's plan did.
type Pass struct {
	Name   string
	Took   time.Duration
	Edits  int   // that it made
	Notes  int   // degradations, deferred edits and events that it added
	Start  int32 // of the window, behind it
	Tokens int64 // of the context behind it, by the sidecar's count
}

// CompactionState says how far the next summary is. The numbers are those of the API.
type CompactionState int8

// The states.
const (
	CompactionIdle CompactionState = iota
	CompactionPreparing
	CompactionReady
)

// CompactionStatus says how a view stands to its budget.
type CompactionStatus struct {
	Used     int64 // tokens, times the factor
	Reported bool  // Used rests on a usage report
	State    CompactionState
	Summary  int64 // the newest in the context; 0 for none
	OwnCalls ModelUsage
}

// ModelUsage is what the sidecar's own model calls for a conversation took since the process started.
type ModelUsage struct {
	Calls  int64
	Tokens conversation.CallTokens
	Cost   float64
}

// Tokens says what a context weighs.
type Tokens struct {
	Fixed, Messages, Total, Budget int64
	Summaries                      int64 // among Messages
	Memories                       int64 // among Messages: what was recalled of other conversations
	SavedByClipping, SavedByFit    int64
	SavedByExpiry                  int64
	SavedByRetention               int64
	SavedByPruning                 int64
	SavedByCiting                  int64
	SavedByDeduplication           int64
	SavedByCompaction              int64
	Counter                        string
	Factor                         float64
	Estimated                      bool
}

// SetContext puts the context into the answer, in the shape of its format.
func (r *Result) SetContext(f conversation.Format, out *view.Composition, a *provider.Assembly) {
	earlier := int32(0)
	if f == r.Manifest.Format {
		earlier = r.Manifest.EarlierEnd
	}
	r.SHA256, r.Blocks, r.Breakpoints = a.Sum(), int32(len(a.Blocks())), out.Breakpoints(earlier)
	if f == conversation.FormatNeutral {
		r.Messages = out.Messages
		return
	}
	r.setMessages(a)
}

func (r *Result) setMessages(a *provider.Assembly) {
	if r.System = a.System(); !r.ByPlace {
		r.MessagesJSON = a.Messages()
	}
}

// Explain says why messages are not shown as they were appended. recorded is what all messages on record weigh.
func (r *Result) Explain(out *view.Composition, m *conversation.Manifest, recorded int64) {
	left, told := recorded, map[*conversation.Item]bool{}
	for i := range out.Units {
		if s := out.Units[i].Summary; s != nil {
			stood := s.Summary.Recorded - out.Beside(s)
			left -= stood
			r.explainSummary(s, stood, out.Weights[i])
		}
		for j := range out.Units[i].Items {
			it := &out.Units[i].Items[j]
			if it.Of != nil { // its message is told of as a whole, and once
				if it = it.Of; told[it] {
					continue
				}
				told[it] = true
			}
			left -= int64(out.Original(it.Message).Tokens)
			r.Tokens.Estimated = r.Tokens.Estimated || it.Message.Estimated
			r.explainCorrection(out, it)
			r.explainItem(it)
		}
		r.explainCut(out, i)
	}
	for i := range out.DroppedSummaries {
		e := &out.DroppedSummaries[i]
		stood := e.Summary.Recorded - out.Beside(e)
		left -= stood
		r.explainGaveWay(e, stood)
	}
	for i := range out.Removed {
		left -= int64(out.Original(out.Removed[i].Message).Tokens)
		r.explainGone(&out.Removed[i])
	}
	left -= r.explainTakenOut(out)
	for _, h := range out.Hidden {
		left -= h.Before
		r.Decisions = append(r.Decisions, conversation.Decision{
			First: h.Range.First, Last: h.Range.End - 1, Kind: conversation.DecisionHidden, Reason: h.Reason, Before: h.Before, EditSeq: h.Seq,
		})
	}
	r.explainLeftOut(out, m, max(left, 0))
	for _, p := range out.Repairs {
		d := conversation.Decision{First: p.Index, Last: p.Index, Kind: conversation.DecisionRepaired, Reason: p.Reason}
		d.Before, d.After = max(-p.Tokens, 0), max(p.Tokens, 0)
		r.Decisions = append(r.Decisions, d)
	}
}

// explainTakenOut says what the caller's list lacks, neighbors together, and what that weighs. What an expansion brought back since is in the view.
func (r *Result) explainTakenOut(out *view.Composition) (weight int64) {
	first := len(r.Decisions)
	for _, e := range out.TakenOut {
		weight += e.Before
		if n := len(r.Decisions) - 1; n >= first && r.Decisions[n].Last == e.Range.First-1 {
			r.Decisions[n].Last, r.Decisions[n].Before, r.Decisions[n].EditSeq = e.Range.End-1, r.Decisions[n].Before+e.Before, max(r.Decisions[n].EditSeq, e.Seq)
			continue
		}
		r.Decisions = append(r.Decisions, conversation.Decision{
			First: e.Range.First, Last: e.Range.End - 1, Kind: conversation.DecisionRemoved, Reason: e.Reason, Before: e.Before, EditSeq: e.Seq,
		})
	}
	for it := range conversation.Items(out.Units) {
		at := slices.IndexFunc(r.Decisions[first:], func(d conversation.Decision) bool { return d.First <= it.Message.Index && it.Message.Index <= d.Last })
		if at >= 0 && it.Of == nil {
			r.Decisions[first+at].Before -= int64(out.Original(it.Message).Tokens)
			weight -= int64(out.Original(it.Message).Tokens)
		}
	}
	return weight
}

// explainSummary says which messages a summary stands for, and what those weigh that it stands for alone.
func (r *Result) explainSummary(e *conversation.Edit, stood, weight int64) {
	s := e.Summary
	r.Tokens.Summaries += weight
	r.Tokens.SavedByCompaction += stood - weight
	r.Compaction.Summary = max(r.Compaction.Summary, s.ID)
	r.Decisions = append(r.Decisions, conversation.Decision{
		First: e.Range.First, Last: e.Range.End - 1, Kind: conversation.DecisionSummarized, Reason: e.Reason,
		Before: stood, After: weight, EditSeq: e.Seq, Summary: s.ID,
	})
}

// explainCut says that a window shows a part of the request, the opening or a summary.
func (r *Result) explainCut(out *view.Composition, i int) {
	u := &out.Units[i]
	if view.CutOf(&out.Window, u).Leaves() || u.Summary == nil && u.First() >= out.Window.Start {
		return
	}
	d := conversation.Decision{
		First: u.First(), Last: u.Last(), Kind: conversation.DecisionClipped, Reason: conversation.ReasonOverBudgetShare,
		Before: u.Tokens(), After: out.Weights[i],
	}
	if u.Summary != nil {
		d.Summary = u.Summary.Summary.ID
	} else {
		r.Tokens.SavedByFit += d.Before - d.After
	}
	r.Decisions = append(r.Decisions, d)
}

// explainGaveWay says that a summary is not shown.
func (r *Result) explainGaveWay(e *conversation.Edit, stood int64) {
	r.Tokens.SavedByCompaction += stood
	r.Decisions = append(r.Decisions, conversation.Decision{
		First: e.Range.First, Last: e.Range.End - 1, Kind: conversation.DecisionLeftOut, Reason: conversation.ReasonNoRoom,
		Before: stood, EditSeq: e.Seq, Summary: e.Summary.ID,
	})
}

// explainLeftOut says which messages lie before the window, and nothing stands for; what the window would have kept all the same, first and
// apart. What they weigh together is told of the last.
func (r *Result) explainLeftOut(out *view.Composition, m *conversation.Manifest, weight int64) {
	before := len(r.Decisions)
	for _, o := range out.NoRoom {
		r.leaveOut(o, conversation.ReasonNoRoom)
	}
	for _, o := range conversation.SubtractRanges(out.LeftOut(m), out.NoRoom) {
		r.leaveOut(o, conversation.ReasonBeforeWindow)
	}
	if n := len(r.Decisions); n > before {
		r.Decisions[n-1].Before = weight
		r.Tokens.SavedByFit += weight
	}
}

func (r *Result) leaveOut(o conversation.Range, why conversation.Reason) {
	r.Decisions = append(r.Decisions, conversation.Decision{First: o.First, Last: o.End - 1, Kind: conversation.DecisionLeftOut, Reason: why})
}

// explainCorrection says that a message has other words than the record. What is shown of these is another decision.
func (r *Result) explainCorrection(out *view.Composition, it *conversation.Item) {
	if it.Correction > 0 {
		r.Decisions = append(r.Decisions, conversation.Decision{
			First: it.Message.Index, Last: it.Message.Index, Kind: conversation.DecisionCorrected, Reason: conversation.ReasonCorrectionRequest,
			Before: int64(out.Original(it.Message).Tokens), After: int64(it.Message.Tokens), EditSeq: it.Correction,
		})
	}
}

// explainItem says why a message is shown, but not as it was appended.
func (r *Result) explainItem(it *conversation.Item) {
	after := it.Tokens()
	if n := it.RecalledTokens(); n > 0 {
		r.Tokens.Memories += n
		r.addDecision(it, conversation.DecisionRecalled, conversation.ReasonMemoriesAnswer, after-n, after)
	}
	if it.Masked > 0 || it.Unseen > 0 {
		r.Tokens.SavedByRetention += it.Masked + it.Unseen
		r.addDecision(it, conversation.DecisionMasked, conversation.ReasonRetention, after+it.Masked+it.Unseen, after)
	}
	if it.Level == conversation.Full {
		return
	}
	kind := conversation.DecisionClipped
	switch {
	case it.Reason == conversation.ReasonPruned:
		kind = conversation.DecisionPruned
		r.Tokens.SavedByPruning += it.Saved
	case it.Reason == conversation.ReasonDuplicateLines:
		kind = conversation.DecisionDeduplicated
		r.Tokens.SavedByDeduplication += it.Saved
	case it.Level == conversation.Cited:
		kind = conversation.DecisionCited
		r.Tokens.SavedByCiting += it.Saved
	case !it.Reason.Expired():
		r.Tokens.SavedByClipping += it.Saved
	case it.Level == conversation.Cleared:
		kind = conversation.DecisionCleared
		r.Tokens.SavedByExpiry += it.Saved
	default:
		kind = conversation.DecisionCompacted
		r.Tokens.SavedByExpiry += it.Saved
	}
	r.addDecision(it, kind, it.Reason, after+it.Saved, after)
}

// explainGone says why a message is not shown at all.
func (r *Result) explainGone(it *conversation.Item) {
	n := int64(it.Message.Tokens)
	if it.Reason.Expired() {
		r.Tokens.SavedByExpiry += n
	} else {
		r.Tokens.SavedByRetention += n
	}
	r.addDecision(it, conversation.DecisionRemoved, it.Reason, n, 0)
}

func (r *Result) addDecision(it *conversation.Item, kind conversation.DecisionKind, why conversation.Reason, before, after int64) {
	r.Decisions = append(r.Decisions, conversation.Decision{
		First: it.Message.Index, Last: it.Message.Index, Kind: kind, Reason: why, Before: before, After: after, EditSeq: it.EditSeq,
	})
}

// systemPromptOrigin says why the first message of a neutral answer is not on record.
const systemPromptOrigin = "system_prompt"

// AddSystemPrompt puts the system prompt before everything else in the answer, if there is one, and returns the context
// with it. Nothing else of the build knows of it: it is weighed as fixed input, and the manifest, which cannot bring it back, is of what the
// record gives.
func (r *Result) AddSystemPrompt(f provider.Format, prompt provider.UnitBlocks, out *view.Composition, a *provider.Assembly) *provider.Assembly {
	if len(prompt.Blocks) == 0 {
		return a
	}
	assembly := provider.NewAssembly(f.Traits()).With(slices.Concat(prompt.Blocks, out.Blocks))
	r.SHA256, r.Blocks = assembly.Sum(), int32(len(assembly.Blocks()))
	if r.Prefix.PreviousBlocks > 0 { // whether it is the same is what FixedInputChanged says
		r.Prefix.StableBlocks++
		r.Prefix.PreviousBlocks++
	}
	for i := range r.Breakpoints {
		r.Breakpoints[i]++
	}
	if out.Lead == 0 { // else a breakpoint stands behind the system messages, and the prompt is the first of them
		r.Breakpoints = slices.Insert(r.Breakpoints, 0, 0)
	}
	if f.Format() == conversation.FormatNeutral {
		for i := range prompt.Messages {
			prompt.Messages[i].Synthetic, prompt.Messages[i].Tokens = systemPromptOrigin, 0
		}
		r.Messages = slices.Concat(prompt.Messages, r.Messages)
		return assembly
	}
	r.setMessages(assembly)
	return assembly
}
