package view

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// Composition is a view that is laid out and written for a provider.
type Composition struct {
	Window           conversation.Window
	Units            []conversation.Unit
	Weights          []int64 // weights of the units as written
	Tail             int     // number of units before the tail
	Lead             int     // number of blocks of leading system messages
	head             int     // number of blocks before the tail
	starts           []int   // index of the first block of each unit
	Blocks           []provider.Block
	Repairs          []provider.Repair
	Messages         []provider.Message
	Removed          []conversation.Item  // messages of the tail that are not shown: removed, or all of their blocks dropped
	Hidden           []conversation.Edit  // edits of what was taken back
	TakenOut         []conversation.Edit  // edits of what the caller's list lacks
	Summarized       []conversation.Range // ranges that the summaries in force stand for
	DroppedSummaries []conversation.Edit  // summaries in force for which the window has no room
	madeFrom         []conversation.Edit  // summaries in force, with the ranges that they were made from
	NoRoom           []conversation.Range // messages before the window that it would show if it had room
	Used             map[unitKey]provider.UnitBlocks
	Original         func(*conversation.Message) *conversation.Message // returns a message as it was appended
}

// Composer writes views of one conversation for a format and a model.
type Composer struct {
	Loaded *Loaded
	Kept   conversation.Kept
	Format provider.Format
	Model  string
	count  func(string) int
}

// NewComposer returns a composer for a loaded conversation. kept is what is shown wherever a window starts.
func NewComposer(w *Loaded, kept conversation.Kept, f provider.Format, model string, counter tokens.Counter) *Composer {
	count := func(text string) int { n, _ := counter.Count(text); return n }
	return &Composer{Loaded: w, Kept: kept, Format: f, Model: model, count: count}
}

// Cache returns the cache of this composer's written units.
func (c *Composer) Cache() *unitCache {
	return c.Loaded.unitCacheFor(renderKey{c.Format.Format(), c.Model}, c.Format.Traits())
}

// Compose lays out the view for a window and writes all its units.
func (c *Composer) Compose(view *conversation.View, win conversation.Window) (*Composition, error) {
	out := &Composition{Window: win, Units: view.Layout(c.Loaded.Messages, win, c.Kept)}
	out.Used, out.Blocks = make(map[unitKey]provider.UnitBlocks, len(out.Units)), make([]provider.Block, 0, 2*len(out.Units))
	out.Original, out.madeFrom = c.Loaded.Original, view.Summaries()
	view = view.In(win)
	out.Weights = make([]int64, len(out.Units))
	out.Hidden, out.TakenOut, out.Summarized = view.Hides(), view.Lacked(), summarizedRanges(view)
	for _, e := range view.Summaries() {
		if cut, ok := win.CutOf(0, e.Summary.ID); ok && cut.Leaves() {
			out.DroppedSummaries = append(out.DroppedSummaries, e)
		}
	}
	for _, c := range win.Cuts {
		if c.Leaves() && c.Summary == 0 && c.Message < win.Start {
			unit, ok := view.VerbatimUnit(c.Message)
			if !ok {
				unit = conversation.Range{First: c.Message, End: c.Message + 1}
			}
			out.NoRoom = append(out.NoRoom, unit)
		}
	}
	out.Removed = view.Gone(c.Loaded.Messages, max(win.Start, c.Kept.LeadingSystem))
	neighbors, err := c.findNeighbors(out)
	if err != nil {
		return nil, err
	}
	for i := range out.Units {
		if err := IgnoreMissing(c.addUnit(out, i, neighbors[i])); err != nil {
			return nil, err
		}
	}
	if err := c.Loaded.Extras.Incomplete(); err != nil {
		return nil, err
	}
	blocks, repairs := provider.Finish(c.Format.Traits(), out.Blocks, c.count)
	if grown := len(blocks) - len(out.Blocks); grown > 0 && slices.ContainsFunc(repairs, opensContext) {
		out.head++
		first := slices.IndexFunc(blocks, func(b provider.Block) bool { return !b.System })
		for i := range out.starts {
			if out.starts[i] >= first {
				out.starts[i]++
			}
		}
	}
	out.Blocks, out.Repairs = blocks, append(out.Repairs, repairs...)
	return out, nil
}

func opensContext(r provider.Repair) bool { return r.Reason == conversation.ReasonOpenerAdded }

func (c *Composer) addUnit(out *Composition, i int, neighbors provider.Neighbors) error {
	u := &out.Units[i]
	written, err := c.writeUnit(out, i, neighbors)
	if err != nil {
		return err
	}
	for b := range written.Blocks {
		out.Weights[i] += int64(written.Blocks[b].Tokens)
	}
	out.starts = append(out.starts, len(out.Blocks))
	out.Blocks = append(out.Blocks, written.Blocks...)
	out.Repairs = append(out.Repairs, written.Repairs...)
	out.Messages = append(out.Messages, written.Messages...)
	if u.First() < out.Window.Start || u.First() < c.Kept.LeadingSystem || u.Summary != nil {
		out.Tail, out.head = i+1, len(out.Blocks)
	}
	if u.First() < c.Kept.LeadingSystem && u.Summary == nil {
		out.Lead = len(out.Blocks)
	}
	return nil
}

func (c *Composer) writeUnit(out *Composition, i int, neighbors provider.Neighbors) (provider.UnitBlocks, error) {
	u := &out.Units[i]
	uc := provider.UnitContext{
		Model: c.Model, Count: c.count, Neighbors: neighbors, Leading: u.Summary == nil && u.First() < c.Kept.LeadingSystem,
		Severed: out.isSevered(i),
	}
	key := keyOf(u, uc)
	if u.First() < out.Window.Start || u.Summary != nil {
		key.cut = CutOf(&out.Window, u)
	}
	written, ok := c.Cache().Units[key]
	if ok = ok && key.edit != conversation.Returning; !ok {
		whole, err := c.inlineUnit(u)
		if err != nil || c.Loaded.Extras.lacksAnything() {
			return written, err
		}
		whole = c.shorten(whole, key.cut)
		written = c.Format.Unit(whole, uc)
		for i := range written.Messages {
			written.Messages[i].Shortened = !key.cut.Leaves()
		}
		if key.edit != conversation.Returning { // not for returning units, which all have the same number
			c.Cache().Units[key] = written
		}
	}
	out.Used[key] = written
	return written, nil
}

// isSevered reports whether a unit begins with the assistant while the message directly before it is not shown. Messages that were taken
// back, or removed by the caller, do not count as a message before it.
func (out *Composition) isSevered(i int) bool {
	u, before := &out.Units[i], int32(0)
	if u.Summary != nil || u.Items[0].Message.Role != conversation.RoleAssistant {
		return false
	}
	if i > 0 {
		if out.Units[i-1].Summary != nil {
			return true
		}
		before = out.Units[i-1].Last() + 1
	}
	if before >= u.First() {
		return before > u.First()
	}
	var gone []conversation.Range
	for _, edits := range [][]conversation.Edit{out.Hidden, out.TakenOut} {
		for n := range edits {
			gone = append(gone, edits[n].Range)
		}
	}
	return len(conversation.SubtractRanges([]conversation.Range{{First: before, End: u.First()}}, gone)) > 0
}

// CutOf returns how a window cuts a unit; the zero Cut if it does not.
func CutOf(win *conversation.Window, u *conversation.Unit) conversation.Cut {
	var cut conversation.Cut
	if u.Summary != nil {
		cut, _ = win.CutOf(0, u.Summary.Summary.ID)
	} else {
		cut, _ = win.CutOf(u.First(), 0)
	}
	return cut
}

// shorten returns a unit, with contents inline, as a window's cut shows it.
func (c *Composer) shorten(u *conversation.Unit, cut conversation.Cut) *conversation.Unit {
	if cut.Leaves() {
		return u
	}
	if u.Summary != nil {
		text := compaction.ShowSummary(u.Summary.Summary.Text.Inline, cut)
		edit, summary := *u.Summary, *u.Summary.Summary
		summary.Text, summary.Tokens, edit.Summary = conversation.Content{Inline: text}, int32(c.count(text)), &summary
		return &conversation.Unit{Summary: &edit}
	}
	it, text := u.Items[0], compaction.RenderCut(compaction.UserText(u.Items[0].Parts), cut)
	shown := TextPart(text)
	shown.Tokens = int32(c.count(text))
	it.Parts = []conversation.Part{shown}
	return &conversation.Unit{Items: []conversation.Item{it}}
}

// inlineUnit returns the unit with all contents in memory. The contents are not kept; the written unit is.
func (c *Composer) inlineUnit(u *conversation.Unit) (*conversation.Unit, error) {
	out := *u
	if u.Summary != nil {
		return c.inlineSummary(u.Summary)
	}
	out.Items = append([]conversation.Item(nil), u.Items...)
	for i := range out.Items {
		parts, err := c.Loaded.Extras.Inline(out.Items[i].Parts)
		if err := IgnoreMissing(err); err != nil {
			return nil, err
		}
		out.Items[i].Parts = parts
	}
	return &out, nil
}

func (c *Composer) inlineSummary(e *conversation.Edit) (*conversation.Unit, error) {
	texts, err := c.Loaded.Extras.Texts(e.Summary.Text)
	if err != nil {
		return nil, err
	}
	edit, summary := *e, *e.Summary
	summary.Text, edit.Summary = conversation.Content{Inline: texts[0]}, &summary
	return &conversation.Unit{Summary: &edit}, nil
}

// Tokens is the weight of the composition, before the calibration factor.
func (out *Composition) Tokens() int64 {
	n := int64(0)
	for i := range out.Blocks {
		n += int64(out.Blocks[i].Tokens)
	}
	return n
}

// Newest is the index of the newest unit that is written as anything. An answer that was aborted before its first word may come after it.
func (out *Composition) Newest() int {
	for i := len(out.Units) - 1; i > out.Tail; i-- {
		if out.Weights[i] > 0 {
			return i
		}
	}
	return min(out.Tail, len(out.Units)-1)
}

// IsNew reports whether a unit is the newest one, or has a result that came after the newest one began.
func (out *Composition) IsNew(i int) bool {
	newest := out.Newest()
	return i >= newest || slices.ContainsFunc(out.Units[i].Items, func(it conversation.Item) bool {
		return it.Beside && it.Message.Index > out.Units[newest].First()
	})
}

// TailIsEmpty reports whether nothing is written for the tail.
func (out *Composition) TailIsEmpty() bool {
	return !slices.ContainsFunc(out.Weights[out.Tail:], func(n int64) bool { return n > 0 })
}

// HasSpeaker reports whether anybody but the system says anything, no matter in which role a format writes it.
func (out *Composition) HasSpeaker() bool { return out.LastSpeaker() >= 0 }

// LastSpeaker is the index of the newest unit in which anybody but the system says anything; -1 if there is none.
func (out *Composition) LastSpeaker() int {
	for i := len(out.Units) - 1; i >= 0; i-- {
		u := &out.Units[i]
		if out.Weights[i] > 0 && (u.Summary != nil || u.Items[0].Message.Role != conversation.RoleSystem) {
			return i
		}
	}
	return -1
}

// LeftOut returns what is left out before the window's start and has no summary, as one range behind the last summary. Up to that summary's
// end, it does not list what is shown next to summaries or was taken back.
func (out *Composition) LeftOut(m *conversation.Manifest) []conversation.Range {
	known, end := slices.Clone(out.Summarized), int32(0)
	for i := range out.Units {
		if s := out.Units[i].Summary; s != nil {
			end = max(end, s.Range.End)
		}
	}
	for i := range out.DroppedSummaries {
		end = max(end, out.DroppedSummaries[i].Range.End)
	}
	aside := func(r conversation.Range) {
		known = append(known, conversation.Range{First: r.First, End: min(r.End, end)})
	}
	for i := range out.Units {
		if u := &out.Units[i]; u.Summary == nil {
			for _, r := range u.Ranges() {
				aside(r)
			}
		}
	}
	for _, h := range out.Hidden {
		aside(h.Range)
	}
	for _, e := range out.TakenOut {
		known = append(known, e.Range)
	}
	return conversation.SubtractRanges([]conversation.Range{{First: m.LeadingSystem, End: m.Window.Start}}, known)
}

// Beside is the weight, as appended, of messages that a summary was made from although the view shows them: those brought back, those that
// the window keeps, and those behind the start of a window that was found anew.
func (out *Composition) Beside(e *conversation.Edit) int64 {
	made := slices.IndexFunc(out.madeFrom, func(m conversation.Edit) bool { return m.Seq == e.Seq })
	if made < 0 {
		return 0
	}
	weight := int64(0)
	add := func(it *conversation.Item) {
		if i := it.Message.Index; out.madeFrom[made].Range.Contains(i) && e.Summary.Covers(i) {
			weight += int64(out.Original(it.Message).Tokens)
		}
	}
	for it := range conversation.Items(out.Units) {
		add(it)
	}
	for i := range out.Removed {
		add(&out.Removed[i])
	}
	return weight
}

// summarizedRanges returns the ranges that the summaries in force stand for.
func summarizedRanges(view *conversation.View) []conversation.Range {
	summaries := view.Summaries()
	out := make([]conversation.Range, 0, len(summaries))
	for _, e := range summaries {
		out = append(out, conversation.SubtractRanges([]conversation.Range{e.Range}, append(view.Restorations(e.Seq), e.Summary.Except...))...)
	}
	return out
}

// TextPart returns a part that holds a text.
func TextPart(text string) conversation.Part {
	return conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: text}}
}

// TailUnit describes a unit for the policies that cut the tail.
func (out *Composition) TailUnit(i int) compaction.TailUnit {
	u := &out.Units[i]
	return compaction.TailUnit{
		First: u.First(), Tokens: out.Weights[i], Messages: int32(len(u.Items)),
		User: u.Summary == nil && u.Items[0].Message.Role == conversation.RoleUser,
	}
}

// Whole reports whether a composition shows all messages of a unit in full.
func (out *Composition) Whole(unit conversation.Range) bool {
	for i := range out.Units {
		u := &out.Units[i]
		if u.Summary != nil || !unit.Contains(u.First()) {
			continue
		}
		_, cut := out.Window.CutOf(u.First(), 0)
		short := slices.ContainsFunc(u.Items, func(it conversation.Item) bool { return it.Level > conversation.Full || it.Masked > 0 })
		return !short && !(cut && u.First() < out.Window.Start) && u.First() == unit.First
	}
	return false
}
