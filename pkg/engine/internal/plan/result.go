package plan

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/copies"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Result is the answer of a build.
func (d *Attempt) Result(a *provider.Assembly, m conversation.Manifest) *Result {
	r := &Result{Turn: d.Turn, Manifest: m, Revision: m.Revision}
	r.SetContext(m.Format, d.Composed, a)
	total := d.Fixed + d.Composed.Tokens()
	r.Tokens = TokenReport{
		Fixed: d.Fixed, Messages: d.Composed.Tokens(), Total: Scaled(total, d.Settings.factor), Budget: d.Settings.budget,
		Counter: d.Settings.Counter.Name(), Factor: d.Settings.factor,
	}
	d.Composed.NoRoom = append(d.Composed.NoRoom, d.displaced...)
	r.Explain(d.Composed, &m, d.Loaded.Head.Tokens)
	r.Decisions = append(r.Decisions, d.overShare...)
	r.Decisions = append(append(r.Decisions, d.deferredEdits...), copies.Decisions(d.Edits)...)
	r.Events, r.Degradations = append(conversation.EventsOf(d.Edits), d.failures...), d.Degradations
	r.Compaction.Used, r.Compaction.Reported = d.UsedTokens()
	r.Compaction.State = d.DraftState()
	if d.Settings.priced {
		r.CacheReadPrice = &d.Settings.read
	}
	return r
}

// SetContext puts the context into the answer, in the shape of its format.
func (r *Result) SetContext(f conversation.Format, out *view.Composition, a *provider.Assembly) {
	r.SHA256, r.Blocks, r.Breakpoints = a.Sum(), int32(len(a.Blocks())), out.Breakpoints()
	if f == conversation.FormatNeutral {
		r.Messages = out.Messages
		return
	}
	r.System, r.MessagesJSON = a.System(), a.Messages()
}

// Explain says why messages are not shown as they were appended. recorded is what all messages on record weigh.
func (r *Result) Explain(out *view.Composition, m *conversation.Manifest, recorded int64) {
	left := recorded
	for i := range out.Units {
		if s := out.Units[i].Summary; s != nil {
			left -= s.Summary.Recorded
			r.explainSummary(s, out.Weights[i])
		}
		for j := range out.Units[i].Items {
			it := &out.Units[i].Items[j]
			left -= int64(out.Original(it.Message).Tokens)
			r.Tokens.Estimated = r.Tokens.Estimated || it.Message.Estimated
			r.explainCorrection(out, it)
			r.explainItem(it)
		}
		r.explainCut(out, i)
	}
	for i := range out.DroppedSummaries {
		left -= out.DroppedSummaries[i].Summary.Recorded
		r.explainGaveWay(&out.DroppedSummaries[i])
	}
	for i := range out.Removed {
		left -= int64(out.Original(out.Removed[i].Message).Tokens)
		r.explainGone(&out.Removed[i])
	}
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

// explainSummary says which messages a summary stands for.
func (r *Result) explainSummary(e *conversation.Edit, weight int64) {
	s := e.Summary
	r.Tokens.Summaries += weight
	r.Tokens.SavedByCompaction += max(s.Recorded-weight, 0)
	r.Compaction.Summary = max(r.Compaction.Summary, s.ID)
	r.Decisions = append(r.Decisions, conversation.Decision{
		First: e.Range.First, Last: e.Range.End - 1, Kind: conversation.DecisionSummarized, Reason: e.Reason,
		Before: s.Recorded, After: weight, EditSeq: e.Seq, Summary: s.ID,
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
func (r *Result) explainGaveWay(e *conversation.Edit) {
	r.Tokens.SavedByCompaction += e.Summary.Recorded
	r.Decisions = append(r.Decisions, conversation.Decision{
		First: e.Range.First, Last: e.Range.End - 1, Kind: conversation.DecisionLeftOut, Reason: conversation.ReasonNoRoom,
		Before: e.Summary.Recorded, EditSeq: e.Seq, Summary: e.Summary.ID,
	})
}

// explainLeftOut says which messages lie before the window, and nothing stands for. What they weigh together is told of the last. What
// the window would have kept all the same is told apart.
func (r *Result) explainLeftOut(out *view.Composition, m *conversation.Manifest, weight int64) {
	ranges := conversation.SubtractRanges(out.LeftOut(m), out.NoRoom)
	for _, o := range out.NoRoom {
		r.Decisions = append(r.Decisions, conversation.Decision{
			First: o.First, Last: o.End - 1, Kind: conversation.DecisionLeftOut, Reason: conversation.ReasonNoRoom,
		})
	}
	for i, o := range ranges {
		d := conversation.Decision{First: o.First, Last: o.End - 1, Kind: conversation.DecisionLeftOut, Reason: conversation.ReasonBeforeWindow}
		if i == len(ranges)-1 {
			d.Before = weight
			r.Tokens.SavedByFit += weight
		}
		r.Decisions = append(r.Decisions, d)
	}
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

// systemBlocks is the system prompt of the fixed input, if it is asked for; none where it is white space alone and the provider takes none.
func systemBlocks(f provider.Format, in view.FixedInput) provider.UnitBlocks {
	if !in.RenderSystem || in.SystemPrompt == "" {
		return provider.UnitBlocks{}
	}
	text := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: in.SystemPrompt}}
	item := conversation.Item{Message: &conversation.Message{Role: conversation.RoleSystem, Index: -1}, Parts: []conversation.Part{text}}
	return f.Unit(&conversation.Unit{Items: []conversation.Item{item}}, provider.UnitContext{Leading: true})
}

// addSystemPrompt puts the system prompt of the fixed input before everything else in the answer, if it is asked for, and returns the context
// with it. Nothing else of the build knows of it: it is weighed as fixed input, and the manifest, which cannot bring it back, is of what the
// record gives.
func (r *Result) addSystemPrompt(f provider.Format, in view.FixedInput, out *view.Composition, a *provider.Assembly) *provider.Assembly {
	prompt := systemBlocks(f, in)
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
	r.System, r.MessagesJSON = assembly.System(), assembly.Messages()
	return assembly
}
