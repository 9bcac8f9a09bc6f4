package plan

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Prefix compares the build with the previous one.
func (d *Attempt) Prefix(before view.PreviousBuild, m *conversation.Manifest) PrefixReport {
	if before.Manifest == nil {
		return PrefixReport{BrokenBy: d.reporting().erasedSince(before.Erased)}
	}
	blocks := d.Composed.Blocks // the assembly may hold an earlier build's, of the same bytes and of other weights
	stable := provider.CommonPrefix(before.Blocks, blocks)
	r := PrefixReport{
		StableBlocks: int32(stable), PreviousBlocks: int32(len(before.Blocks)),
		FixedInputChanged: before.Manifest.FixedHash != m.FixedHash,
	}
	for i := range blocks[:stable] {
		r.StableTokens += int64(blocks[i].Tokens)
	}
	if stable < len(before.Blocks) {
		r.BrokenBy = d.reporting().brokenBy(before, stable, m)
		if r.BrokenBy != BreakTailReplaced {
			r.Rewrite = d.reporting().rewritten(before, stable)
		}
	}
	return r
}

// brokenBy names the cause that explains the first block that differs.
func (d reporting) brokenBy(before view.PreviousBuild, stable int, m *conversation.Manifest) Break {
	p := before.Manifest
	switch {
	case stable == len(before.Blocks)-1 && before.Blocks[stable].Index < 0:
		return BreakTailReplaced
	case p.Budget != m.Budget || p.Model != m.Model:
		return BreakOtherCoordinates
	case d.spannedSince(p.EditSeq) != BreakNone:
		return d.spannedSince(p.EditSeq)
	case !p.Window.Equal(&m.Window):
		return BreakWindowMoved
	case p.LeadingSystem != m.LeadingSystem || !slices.Equal(p.Pins, m.Pins):
		return BreakPinned
	case before.Blocks[stable].Index < 0: // a fixed result, and there is a real one now
		return BreakTailReplaced
	default:
		return d.editedBy(p.EditSeq, before.Blocks[stable].Index)
	}
}

// editedBy says what kind of edit, since an earlier build, changed what a message was shown as.
func (d reporting) editedBy(since int64, index int32) Break {
	restored := false
	for _, edits := range [][]conversation.Edit{d.Loaded.Edits, d.Edits} {
		for i := range edits {
			e := &edits[i]
			restored = restored || e.Seq > since && e.Kind == conversation.EditRestore
			if e.Seq > since && e.Range.Contains(index) {
				return breakOf(e)
			}
		}
	}
	if restored { // what came back before the window's start has no block of the earlier build
		return BreakExpanded
	}
	return BreakEdited
}

// erasedSince says what has broken the prefix of a build whose blocks cannot be brought back; a nil one is none.
func (d reporting) erasedSince(m *conversation.Manifest) Break {
	if m != nil && slices.ContainsFunc(d.Loaded.Edits, func(e conversation.Edit) bool {
		return e.Seq > m.EditSeq && e.Kind == conversation.EditRecall && e.Erases
	}) {
		return BreakMemory
	}
	return BreakFirstBuild
}

// spannedSince says whether a range was summarized, taken back or brought back after an edit, or a summary dissolved by a correction.
func (d reporting) spannedSince(since int64) Break {
	what := BreakNone
	for _, edits := range [][]conversation.Edit{d.Loaded.Edits, d.Edits} {
		for i := range edits {
			if e := &edits[i]; e.Seq > since && d.changesRange(e) {
				what = max(what, breakOf(e))
			}
		}
	}
	return what
}

// changesRange says whether an edit takes a whole range out of the view, or brings it back.
func (d reporting) changesRange(e *conversation.Edit) bool {
	switch e.Kind {
	case conversation.EditSummarize, conversation.EditHide, conversation.EditUnhide:
		return true
	case conversation.EditCorrect:
		return d.View.Dissolves(e)
	default:
		return false
	}
}

func breakOf(e *conversation.Edit) Break {
	switch {
	case e.Kind == conversation.EditRestore:
		return BreakExpanded
	case e.Kind == conversation.EditCorrect:
		return BreakCorrected
	case e.Kind == conversation.EditRecall:
		return BreakMemory
	case e.Reason == conversation.ReasonRetention:
		return BreakRetention
	case e.Kind == conversation.EditSummarize:
		return BreakSummarized
	case e.Kind == conversation.EditHide || e.Kind == conversation.EditUnhide:
		return BreakRewound
	case e.Reason == conversation.ReasonPruned:
		return BreakPruned
	case e.Reason.Expired():
		return BreakExpired
	default:
		return BreakEdited
	}
}

// Break says what changed the leading blocks. The numbers are those of the API.
type Break int8

// What can break a prefix.
const (
	BreakNone Break = iota
	BreakFirstBuild
	BreakWindowMoved
	BreakEdited
	BreakOtherCoordinates
	BreakTailReplaced
	BreakPinned
	BreakExpired
	BreakRetention
	BreakExpanded
	BreakPruned
	BreakSummarized
	BreakRewound
	BreakCorrected
	BreakMemory
)

// PrefixReport compares a context with the previous build's in the same format.
type PrefixReport struct {
	StableBlocks      int32
	StableTokens      int64
	PreviousBlocks    int32
	FixedInputChanged bool
	BrokenBy          Break
	Rewrite           RewriteReport // the zero one if nothing was changed that the previous build had shown
}
