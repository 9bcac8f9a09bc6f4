package engine

import (
	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// renderKey names a way of writing units.
type renderKey struct {
	format conversation.Format
	model  string
}

// rendering remembers how units were written, so that a unit that did not change is not written again.
type rendering struct {
	units    map[unitKey]provider.UnitBlocks
	assembly *provider.Assembly
	manifest int64 // the build that assembly was made for; 0 for none
}

// unitKey is everything that a unit's blocks depend on, its messages being immutable.
type unitKey struct {
	first, last    int32
	items          int
	edit           int64
	summary        bool
	afterAssistant bool
	leading        bool
	cut            conversation.Cut
}

func keyOf(u *conversation.Unit, c provider.UnitContext) unitKey {
	k := unitKey{first: u.First(), last: u.Last(), items: len(u.Items), afterAssistant: c.AfterAssistant, leading: c.Leading}
	if u.Summary != nil {
		k.summary, k.edit = true, u.Summary.Seq
	}
	for i := range u.Items {
		k.edit = max(k.edit, u.Items[i].EditSeq)
	}
	return k
}

func (r *rendering) bytes() int64 {
	n := int64(0)
	for _, u := range r.units {
		for i := range u.Blocks {
			n += int64(len(u.Blocks[i].JSON)) + 384 // and its entries in the map and in two assemblies
		}
	}
	return n
}

// maxRenderings is how many formats and models a warm window keeps written.
const maxRenderings = 4

func (w *window) rendering(k renderKey, t provider.Traits) *rendering {
	r := w.renderings[k]
	if r == nil {
		if len(w.renderings) >= maxRenderings {
			clear(w.renderings)
		}
		r = &rendering{units: make(map[unitKey]provider.UnitBlocks), assembly: provider.NewAssembly(t)}
		w.renderings[k] = r
	}
	return r
}

// composition is a view laid out and written.
type composition struct {
	window   conversation.Window
	units    []conversation.Unit
	weights  []int64 // of the units as written
	tail     int     // units before the tail
	lead     int     // blocks of leading system messages
	head     int     // blocks before the tail
	blocks   []provider.Block
	repairs  []provider.Repair
	messages []provider.Message
	gone     []conversation.Item  // in the tail, and not shown: removed, or all of their blocks dropped
	hides    []conversation.Edit  // what was taken back
	stoodFor []conversation.Range // what the summaries in force stand for
	gaveWay  []conversation.Edit  // summaries that stand, and that the window has no room for
	noRoom   []conversation.Range // messages before the window that it would show, had it the room
	used     map[unitKey]provider.UnitBlocks
	recorded func(*conversation.Message) *conversation.Message // as it was appended
}

// composer writes views of one conversation for one format and model.
type composer struct {
	window *window
	kept   conversation.Kept
	format provider.Format
	model  string
	count  func(string) int
}

func (e *Engine) composer(w *window, kept conversation.Kept, f conversation.Format, model, counter string) (*composer, error) {
	format, ok := e.formats[f]
	if !ok {
		return nil, conversation.Errorf(conversation.Internal, "the format is not built in")
	}
	c, err := e.counter(counter)
	if err != nil {
		return nil, err
	}
	count := func(text string) int { n, _ := c.Count(text); return n }
	return &composer{window: w, kept: kept, format: format, model: model, count: count}, nil
}

// cache is where this composer's units are remembered.
func (c *composer) cache() *rendering {
	return c.window.rendering(renderKey{c.format.Format(), c.model}, c.format.Traits())
}

// compose lays the view out for a window and writes every unit of it.
func (c *composer) compose(view *conversation.View, win conversation.Window) (*composition, error) {
	out := &composition{window: win, units: view.Layout(c.window.messages, win, c.kept), used: make(map[unitKey]provider.UnitBlocks)}
	out.recorded = c.window.original
	view = view.In(win)
	out.weights = make([]int64, len(out.units))
	out.hides, out.stoodFor = view.Hides(), stoodFor(view)
	for _, e := range view.Summaries() {
		if cut, ok := win.CutOf(0, e.Summary.ID); ok && cut.Leaves() {
			out.gaveWay = append(out.gaveWay, e)
		}
	}
	for _, c := range win.Cuts {
		if c.Leaves() && c.Summary == 0 && c.Message < win.Start {
			out.noRoom = append(out.noRoom, conversation.Range{First: c.Message, End: c.Message + 1})
		}
	}
	out.gone = view.Gone(c.window.messages, max(win.Start, c.kept.LeadingSystem))
	for i := range out.units {
		if err := c.window.missed(c.add(out, i)); err != nil {
			return nil, err
		}
	}
	if err := c.window.all(); err != nil {
		return nil, err
	}
	blocks, repairs := provider.Finish(c.format.Traits(), out.blocks, c.count)
	if grown := len(blocks) - len(out.blocks); grown > 0 && out.opened(repairs) {
		out.head++
	}
	out.blocks, out.repairs = blocks, append(out.repairs, repairs...)
	return out, nil
}

func (out *composition) opened(repairs []provider.Repair) bool {
	for _, r := range repairs {
		if r.Reason == conversation.ReasonOpenerAdded {
			return true
		}
	}
	return false
}

func (c *composer) add(out *composition, i int) error {
	u := &out.units[i]
	written, err := c.write(out, u)
	if err != nil {
		return err
	}
	for b := range written.Blocks {
		out.weights[i] += int64(written.Blocks[b].Tokens)
	}
	out.blocks = append(out.blocks, written.Blocks...)
	out.repairs = append(out.repairs, written.Repairs...)
	out.messages = append(out.messages, written.Messages...)
	if u.First() < out.window.Start || u.First() < c.kept.LeadingSystem || u.Summary != nil {
		out.tail, out.head = i+1, len(out.blocks)
	}
	if u.First() < c.kept.LeadingSystem && u.Summary == nil {
		out.lead = len(out.blocks)
	}
	return nil
}

func (c *composer) write(out *composition, u *conversation.Unit) (provider.UnitBlocks, error) {
	uc := provider.UnitContext{
		Model: c.model, Count: c.count, AfterAssistant: afterAssistant(out.blocks),
		Leading: u.Summary == nil && u.First() < c.kept.LeadingSystem,
	}
	key := keyOf(u, uc)
	if u.First() < out.window.Start || u.Summary != nil {
		key.cut = cutOf(&out.window, u)
	}
	written, ok := c.cache().units[key]
	if !ok && c.window.lacks() { // a unit before it is missing, so that what stands before it is not known
		other := key
		other.afterAssistant = !key.afterAssistant
		written, ok = c.cache().units[other]
	}
	if !ok {
		whole, err := c.inlineUnit(u)
		if err != nil || c.window.lacks() {
			return written, err
		}
		whole = c.shorten(whole, key.cut)
		written = c.format.Unit(whole, uc)
		for i := range written.Messages {
			written.Messages[i].Shortened = !key.cut.Leaves()
		}
		c.cache().units[key] = written
	}
	out.used[key] = written
	return written, nil
}

func afterAssistant(blocks []provider.Block) bool {
	if len(blocks) == 0 {
		return false
	}
	last := &blocks[len(blocks)-1]
	return !last.System && (last.Role == "assistant" || last.Role == "model")
}

// cutOf is how a window cuts a unit; none if it does not.
func cutOf(win *conversation.Window, u *conversation.Unit) conversation.Cut {
	var cut conversation.Cut
	if u.Summary != nil {
		cut, _ = win.CutOf(0, u.Summary.Summary.ID)
	} else {
		cut, _ = win.CutOf(u.First(), 0)
	}
	return cut
}

// shorten is a unit, contents inline, as a window's cut shows it.
func (c *composer) shorten(u *conversation.Unit, cut conversation.Cut) *conversation.Unit {
	if cut.Leaves() {
		return u
	}
	if u.Summary != nil {
		text := compaction.ShowSummary(u.Summary.Summary.Text.Inline, cut)
		edit, summary := *u.Summary, *u.Summary.Summary
		summary.Text, summary.Tokens, edit.Summary = conversation.Content{Inline: text}, int32(c.count(text)), &summary
		return &conversation.Unit{Summary: &edit}
	}
	it, text := u.Items[0], compaction.ShowWords(compaction.OwnWords(u.Items[0].Parts), cut)
	shown := line(text)
	shown.Tokens = int32(c.count(text))
	it.Parts = []conversation.Part{shown}
	return &conversation.Unit{Items: []conversation.Item{it}}
}

// inlineUnit is the unit with all contents in memory. What is read for it is not kept: what was written is.
func (c *composer) inlineUnit(u *conversation.Unit) (*conversation.Unit, error) {
	out := *u
	if u.Summary != nil {
		return c.inlineSummary(u.Summary)
	}
	out.Items = append([]conversation.Item(nil), u.Items...)
	for i := range out.Items {
		parts, err := c.window.inline(out.Items[i].Parts)
		if err := c.window.missed(err); err != nil {
			return nil, err
		}
		out.Items[i].Parts = parts
	}
	return &out, nil
}

func (c *composer) inlineSummary(e *conversation.Edit) (*conversation.Unit, error) {
	texts, err := c.window.texts(e.Summary.Text)
	if err != nil {
		return nil, err
	}
	edit, summary := *e, *e.Summary
	summary.Text, edit.Summary = conversation.Content{Inline: texts[0]}, &summary
	return &conversation.Unit{Summary: &edit}, nil
}

// tokens is what the composition weighs, before the factor.
func (out *composition) tokens() int64 {
	n := int64(0)
	for i := range out.blocks {
		n += int64(out.blocks[i].Tokens)
	}
	return n
}

// newest is the position of the newest unit that is written as anything: an answer that was aborted before its first word may
// come after it.
func (out *composition) newest() int {
	for i := len(out.units) - 1; i > out.tail; i-- {
		if out.weights[i] > 0 {
			return i
		}
	}
	return min(out.tail, len(out.units)-1)
}

// silentTail says whether the tail is written as nothing.
func (out *composition) silentTail() bool {
	for _, n := range out.weights[out.tail:] {
		if n > 0 {
			return false
		}
	}
	return true
}

// speaks says whether anybody but the system says anything, in whatever role a format writes it.
func (out *composition) speaks() bool { return out.lastSpeaker() >= 0 }

// lastSpeaker is the position of the newest unit in which anybody but the system says anything; -1 if there is none.
func (out *composition) lastSpeaker() int {
	for i := len(out.units) - 1; i >= 0; i-- {
		u := &out.units[i]
		if out.weights[i] > 0 && (u.Summary != nil || u.Items[0].Message.Role != conversation.RoleSystem) {
			return i
		}
	}
	return -1
}

// breakpoints are where a cache breakpoint pays: after the system messages, before the tail, and at the end of what is on
// record (a synthetic last block comes and goes).
func (out *composition) breakpoints() []int32 {
	end := len(out.blocks)
	for end > 0 && out.blocks[end-1].Index < 0 {
		end--
	}
	var points []int32
	for _, n := range []int{out.lead, out.head, end} {
		if n > 0 && n <= end && (len(points) == 0 || points[len(points)-1] < int32(n-1)) {
			points = append(points, int32(n-1))
		}
	}
	return points
}
