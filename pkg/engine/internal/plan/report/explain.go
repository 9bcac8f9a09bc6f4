package report

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

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
