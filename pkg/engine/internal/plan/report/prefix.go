package report

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Comparison is a build, and what it is compared with.
type Comparison struct {
	Before   view.PreviousBuild
	Manifest *conversation.Manifest // the build's own
	Blocks   []provider.Block
	View     *conversation.View
	Known    []conversation.Edit // edits before this build
	Made     []conversation.Edit // by it
	Read     float64             // price of tokens from the provider's cache
	Write    float64             // and into it
	Price    float64             // of a token, as counted, at a price of 1
	Cold     bool                // the provider's cache holds nothing of the build before
}

// Compare compares a build with the previous one.
func (c *Comparison) Compare() Prefix {
	if c.Before.Manifest == nil {
		return Prefix{BrokenBy: c.erasedSince(c.Before.Erased)}
	}
	stable := provider.CommonPrefix(c.Before.Blocks, c.Blocks)
	r := Prefix{
		StableBlocks: int32(stable), PreviousBlocks: int32(len(c.Before.Blocks)),
		FixedInputChanged: c.Before.Manifest.FixedHash != c.Manifest.FixedHash,
	}
	for i := range c.Blocks[:stable] {
		r.StableTokens += int64(c.Blocks[i].Tokens)
	}
	if stable < len(c.Before.Blocks) {
		r.BrokenBy = c.brokenBy(stable)
		if r.BrokenBy != BreakTailReplaced {
			r.Rewrite = c.rewritten(stable)
		}
	}
	return r
}

// brokenBy names the cause that explains the first block that differs.
func (c *Comparison) brokenBy(stable int) Break {
	before, p, m := c.Before.Blocks, c.Before.Manifest, c.Manifest
	switch {
	case stable == len(before)-1 && before[stable].Index < 0:
		return BreakTailReplaced
	case p.Budget != m.Budget || p.Model != m.Model:
		return BreakOtherCoordinates
	case c.spannedSince(p.EditSeq) != BreakNone:
		return c.spannedSince(p.EditSeq)
	case !p.Window.Equal(&m.Window):
		return BreakWindowMoved
	case p.LeadingSystem != m.LeadingSystem || !slices.Equal(p.Pins, m.Pins):
		return BreakPinned
	case before[stable].Index < 0: // a fixed result, and there is a real one now
		return BreakTailReplaced
	default:
		return c.editedBy(p.EditSeq, before[stable].Index)
	}
}

// editedBy says what kind of edit, since an earlier build, changed what a message was shown as.
func (c *Comparison) editedBy(since int64, index int32) Break {
	restored := false
	for _, edits := range [][]conversation.Edit{c.Known, c.Made} {
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
func (c *Comparison) erasedSince(m *conversation.Manifest) Break {
	if m != nil && slices.ContainsFunc(c.Known, func(e conversation.Edit) bool {
		return e.Seq > m.EditSeq && e.Kind == conversation.EditRecall && e.Erases
	}) {
		return BreakMemory
	}
	return BreakFirstBuild
}

// spannedSince says whether a range was summarized, taken back or brought back after an edit, or a summary dissolved by a correction.
func (c *Comparison) spannedSince(since int64) Break {
	what := BreakNone
	for _, edits := range [][]conversation.Edit{c.Known, c.Made} {
		for i := range edits {
			if e := &edits[i]; e.Seq > since && c.changesRange(e) {
				what = max(what, breakOf(e))
			}
		}
	}
	return what
}

// changesRange says whether an edit takes a whole range out of the view, or brings it back.
func (c *Comparison) changesRange(e *conversation.Edit) bool {
	switch e.Kind {
	case conversation.EditSummarize, conversation.EditHide, conversation.EditUnhide, conversation.EditTakeOut, conversation.EditPutBack:
		return true
	case conversation.EditCorrect:
		return c.View.Dissolves(e)
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

// Prefix compares a context with the previous build's in the same format.
type Prefix struct {
	StableBlocks      int32
	StableTokens      int64
	PreviousBlocks    int32
	FixedInputChanged bool
	BrokenBy          Break
	Rewrite           Rewrite // the zero one if nothing was changed that the previous build had shown
}
