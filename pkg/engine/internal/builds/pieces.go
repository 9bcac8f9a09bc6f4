package builds

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/appends"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/histories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// pieces puts a view together of what is shown, and of where that stands in the caller's list.
type pieces struct {
	leading    int32                           // messages of the record that are leading system messages
	reasons    map[int32][]conversation.Reason // of messages, why they are shown otherwise
	summarized map[int64]conversation.Range
	matches    map[int32]*match
	shown      map[int32]*view.Shown // one of each message
	out        []appends.ViewPiece
	blocks     [][]provider.Block // of each
	unit       int                // of the last message that is whole
	begun      int                // where its elements begin in the last piece
}

// match is elements of the list and messages of the record that are the same, and cannot be told apart further.
type match struct {
	elements []int32
	messages []int32
	changed  bool
	told     bool // it stands in the view
}

// piecesOf says by place what a view is to the caller's list.
func piecesOf(t provider.Traits, r *report.Result, h *appends.HistoryResult) []appends.ViewPiece {
	p := &pieces{
		leading: r.Manifest.LeadingSystem, reasons: map[int32][]conversation.Reason{}, summarized: map[int64]conversation.Range{},
		matches: map[int32]*match{}, shown: map[int32]*view.Shown{},
	}
	p.explain(r.Decisions)
	for i := range r.Shown {
		p.shown[r.Shown[i].Message] = &r.Shown[i]
	}
	p.match(h.Places)
	p.part(r.Shown)
	p.couple(h.Places)
	if h.Leading > 0 {
		p.add(appends.ViewPiece{Kind: appends.PieceWhole, Elements: countTo(h.Leading), Messages: conversation.Range{End: p.leading}}, nil)
	}
	for i := range r.Shown {
		if s := &r.Shown[i]; s.Message < 0 || s.Message >= p.leading || h.Leading == 0 {
			p.show(s)
		}
	}
	for i := range p.out {
		if len(p.blocks[i]) > 0 {
			p.out[i].JSON = string(t.Messages(p.blocks[i]))
		}
	}
	return p.out
}

// explain notes what decisions say of messages that are shown: those of whole ranges are of others.
func (p *pieces) explain(decisions []conversation.Decision) {
	for i := range decisions {
		switch d := &decisions[i]; d.Kind {
		case conversation.DecisionSummarized:
			p.summarized[d.Summary] = conversation.Range{First: d.First, End: d.Last + 1}
		case conversation.DecisionLeftOut, conversation.DecisionHidden, conversation.DecisionRemoved:
		default:
			for m := d.First; m >= 0 && m <= d.Last; m++ {
				if !slices.Contains(p.reasons[m], d.Reason) {
					p.reasons[m] = append(p.reasons[m], d.Reason)
				}
			}
		}
	}
}

func countTo(n int32) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// match joins elements and messages that have parts of each other.
func (p *pieces) match(places []histories.Place) {
	elements := map[int32]*match{}
	for _, at := range places {
		m := p.matches[at.Message]
		for e := at.First; m == nil && e < at.End; e++ {
			m = elements[e]
		}
		if m == nil {
			m = &match{}
		}
		m.take(p.matches, at.Message)
		for e := at.First; e < at.End; e++ {
			switch other := elements[e]; {
			case other == nil:
				m.elements = append(m.elements, e)
			case other != m:
				for _, message := range other.messages {
					m.take(p.matches, message)
				}
				for _, theirs := range other.elements {
					m.elements, elements[theirs] = append(m.elements, theirs), m
				}
				m.changed = m.changed || other.changed
			}
			elements[e] = m
		}
		s := p.shown[at.Message]
		m.changed = m.changed || at.Changed || s == nil || !s.Whole
	}
	for _, m := range p.matches {
		slices.Sort(m.elements)
	}
}

func (m *match) take(all map[int32]*match, message int32) {
	if all[message] != m {
		all[message], m.messages = m, append(m.messages, message)
	}
}

// part changes what does not stand together.
func (p *pieces) part(shown []view.Shown) {
	var last *match
	begun := map[*match]bool{}
	for i := range shown {
		m := p.matches[shown[i].Message]
		if m != nil && m != last {
			m.changed, begun[m] = m.changed || begun[m], true
		}
		last = m
	}
}

// couple changes all messages of a unit whose calls have other ids in the view than in the list, if one is changed: a result names its call.
func (p *pieces) couple(places []histories.Place) {
	renamed, units := map[int]bool{}, map[int][]*match{}
	for _, at := range places {
		if s := p.shown[at.Message]; s != nil {
			renamed[s.Unit] = renamed[s.Unit] || s.Renamed || at.Renamed
			units[s.Unit] = append(units[s.Unit], p.matches[at.Message])
		}
	}
	for again := true; again; {
		again = false
		for unit := range renamed {
			if !renamed[unit] || !slices.ContainsFunc(units[unit], func(m *match) bool { return m.changed }) {
				continue
			}
			for _, m := range units[unit] {
				again, m.changed = again || !m.changed, true
			}
		}
	}
}

// show adds a run of blocks to the view.
func (p *pieces) show(s *view.Shown) {
	m := p.matches[s.Message]
	at := conversation.Range{First: s.Message, End: s.Message + 1}
	switch {
	case s.Summary != 0:
		p.add(appends.ViewPiece{Kind: appends.PieceSummary, Messages: p.summarized[s.Summary]}, s.Blocks)
	case s.Message < 0:
		p.add(appends.ViewPiece{Kind: appends.PieceMadeUp}, s.Blocks)
	case m == nil:
		p.add(appends.ViewPiece{Kind: appends.PieceRecorded, Messages: at}, s.Blocks)
	case m.changed:
		p.add(appends.ViewPiece{Kind: appends.PieceChanged, Elements: m.elements, Reasons: p.reasons[s.Message], Messages: at}, s.Blocks)
	case !m.told:
		m.told = true
		p.order(s.Unit)
		p.add(appends.ViewPiece{Kind: appends.PieceWhole, Elements: m.elements, Messages: conversation.Range{
			First: slices.Min(m.messages), End: slices.Max(m.messages) + 1,
		}}, nil)
		slices.Sort(p.out[len(p.out)-1].Elements[p.begun:]) // a turn's results may stand in another order than its calls
	}
}

// order notes where the elements of a unit begin in the piece to which they will belong.
func (p *pieces) order(unit int) {
	n := len(p.out) - 1
	if n < 0 || p.out[n].Kind != appends.PieceWhole {
		p.unit, p.begun = unit, 0
	} else if p.unit != unit {
		p.unit, p.begun = unit, len(p.out[n].Elements)
	}
}

// add puts a piece behind the last one, or makes it a part of that.
func (p *pieces) add(next appends.ViewPiece, blocks []provider.Block) {
	n := len(p.out) - 1
	if n < 0 || !continues(&p.out[n], &next) {
		next.Elements, next.Reasons = slices.Clone(next.Elements), slices.Clone(next.Reasons)
		p.out, p.blocks = append(p.out, next), append(p.blocks, slices.Clone(blocks))
		return
	}
	last := &p.out[n]
	if next.Kind == appends.PieceWhole {
		last.Elements = append(last.Elements, next.Elements...)
	}
	p.blocks[n] = append(p.blocks[n], blocks...)
	last.Messages = conversation.Range{First: min(last.Messages.First, next.Messages.First), End: max(last.Messages.End, next.Messages.End)}
	for _, r := range next.Reasons {
		if !slices.Contains(last.Reasons, r) {
			last.Reasons = append(last.Reasons, r)
		}
	}
}

// continues says whether a piece may be a part of the one before it.
func continues(last, next *appends.ViewPiece) bool {
	switch {
	case last.Kind != next.Kind || next.Kind == appends.PieceSummary:
		return false
	default:
		return next.Kind != appends.PieceChanged || slices.Equal(last.Elements, next.Elements)
	}
}
