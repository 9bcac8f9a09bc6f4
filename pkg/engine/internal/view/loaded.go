// Package view holds what is loaded of a conversation, and writes it for a provider: messages and edits from the window's start on, the
// view that both fold into, and the blocks that its units were written as. A view may stay warm between builds.
package view

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// BuildSlots is the prefix of the slots that builds need: fit starts and calibrations.
const BuildSlots = "build/"

// HistorySlot remembers whole lists that callers have sent.
const HistorySlot = BuildSlots + "history"

// Loaded is what a build touches of a conversation: the messages it may show, and the view over them. Its cost follows the
// model's window, never the length of the history. A window may be kept warm between builds; it is then brought up to date
// with what was committed since. One caller at a time uses a window.
type Loaded struct {
	Key   store.Key
	Head  store.Head
	Info  store.Info
	Slots map[string][]byte

	loaded   []conversation.Range   // what messages holds, in order and apart
	Messages []conversation.Message // with the words that corrections gave them
	Edits    []conversation.Edit
	View     *conversation.View

	Originals map[int32]conversation.Message // of messages that were corrected, as they were appended

	newest     []conversation.Manifest // the last one, as of when the window was opened; none if there is none
	renderings map[renderKey]*rendering
	Fixed      fixedWeight
	lines      map[lineKey][]uint64 // of texts that deduplication has looked at

	// What a plan has asked for beside, while it runs, and what it lacks.
	contents   map[conversation.ID]string
	extraSlots map[string][]byte
	missing    missing
	measured   int   // so many messages were weighed for the cache
	bytes      int64 // what they take
	unborn     bool  // nothing is stored of the conversation: a change that is not committed yet creates it
}

// erased says whether another process has erased what an edit is about: messages that are warm here would still hold it.
func erased(e conversation.Edit) bool { return e.Erases }

// MaxIndex is behind every message.
const MaxIndex = 1<<31 - 1

// maxDelta is how many new messages are worth adding to a warm window: with more, the window's start will move past them.
const maxDelta = 4096

// New is what was read of a conversation, without messages.
func New(key store.Key, snap *store.Snapshot) *Loaded {
	return &Loaded{
		Key: key, Head: snap.Head, Info: *snap.Info, Slots: snap.Slots, View: (&conversation.View{}).Fold(nil),
		renderings: make(map[renderKey]*rendering),
	}
}

// actor is whose the conversation is. Heads that were written before they knew leave it to the attributes.
func (w *Loaded) actor() string { return cmp.Or(w.Head.ActorID, w.Info.ActorID) }

// advance takes in what was committed since the window was warm.
func (w *Loaded) advance(snap *store.Snapshot) {
	added := conversation.Range{First: w.Head.Messages, End: snap.Head.Messages}
	w.Head, w.Info, w.Slots = snap.Head, *snap.Info, snap.Slots
	// A build that was cut short may have left a window that does not reach to the end: the new messages are a range of their own.
	w.Messages = append(w.Messages, snap.Messages...)
	w.loaded = conversation.MergeRanges(append(w.loaded, added))
	if len(snap.Edits) > 0 {
		w.Edits = append(w.Edits, snap.Edits...)
		w.View = w.View.Fold(snap.Edits)
	}
	w.applyCorrections()
}

// Load makes the window hold the ranges, whatever it holds beside them, with their edits.
func (w *Loaded) Load(ctx context.Context, s store.Store, ranges ...conversation.Range) error {
	missing := conversation.SubtractRanges(ranges, w.loaded)
	if len(missing) == 0 {
		return nil
	}
	q := store.Query{Incarnation: w.Head.Incarnation}
	if w.Head.EditSeq > 0 {
		q.Edits = &store.EditRange{Upto: w.Head.EditSeq, Of: missing}
	}
	for _, r := range missing {
		q.Ranges = append(q.Ranges, store.MessageRange{Range: r})
	}
	snap, err := s.Read(ctx, w.Key, q)
	if err != nil {
		return txn.Failure(err)
	}
	w.Supply(snap, missing)
	return nil
}

// RestoredRanges lists what was brought back after an edit, to the ends of its units: one that was the newest then may have grown since.
// Where the end is not known yet, it lists what has to be looked at.
func (w *Loaded) RestoredRanges(after int64) []conversation.Range {
	var out []conversation.Range
	for _, r := range conversation.MergeRanges(w.View.Restorations(after)) {
		for {
			next := w.pastHidden(r.End)
			if next >= w.Head.Messages {
				break
			}
			m, ok := w.Message(next)
			if !ok {
				out = append(out, conversation.Range{First: next, End: min(next+lookAhead, w.Head.Messages)})
				break
			}
			if first, known := m.UnitFirst(); known && first == next {
				out = append(out, conversation.Range{First: next, End: next + 1}) // so that it need not be looked at again
				break
			}
			r.End = next + 1
		}
		out = append(out, r)
	}
	return out
}

// lookAhead is how many messages are read at a time while the end of a unit that was brought back is looked for.
const lookAhead = 4

// pastHidden is the first message from an index on that is not hidden.
func (w *Loaded) pastHidden(index int32) int32 {
	for moved := true; moved; {
		moved = false
		for _, h := range w.View.Hides() {
			if h.Range.Contains(index) {
				index, moved = h.Range.End, true
			}
		}
	}
	return index
}

// ClippedWeight is what a message weighs, with its results clipped to a share, in tokens.
func ClippedWeight(m *conversation.Message, share int64) int64 {
	n := int64(m.Overhead())
	for i := range m.Parts {
		t := int64(m.Parts[i].Tokens)
		if m.Parts[i].Kind == conversation.PartToolResult {
			t = min(t, share)
		}
		n += t
	}
	return n
}

// Supply adds messages and edits that were read, and folds the view anew: edits of older messages come before edits it has. What a plan
// lacked is not missing any more.
func (w *Loaded) Supply(snap *store.Snapshot, ranges []conversation.Range) {
	w.missing = missing{}
	// Views that were laid out before point at their messages: those must stay where they are.
	w.Messages, w.measured, w.bytes = append(slices.Clip(w.Messages), snap.Messages...), 0, 0
	slices.SortFunc(w.Messages, func(a, b conversation.Message) int { return int(a.Index) - int(b.Index) })
	w.loaded = conversation.MergeRanges(append(w.loaded, ranges...))
	w.fold(snap.Edits)
	w.applyCorrections()
}

// fold takes in edits that were read, and folds the view anew.
func (w *Loaded) fold(more []conversation.Edit) {
	if len(more) == 0 {
		return
	}
	w.Edits = append(w.Edits, more...)
	slices.SortFunc(w.Edits, func(a, b conversation.Edit) int { return int(a.Seq - b.Seq) })
	w.Edits = slices.CompactFunc(w.Edits, func(a, b conversation.Edit) bool { return a.Seq == b.Seq })
	w.View = (&conversation.View{}).Fold(w.Edits)
}

// ApplyCommit moves the window to what a build has committed.
func (w *Loaded) ApplyCommit(c *store.Change, view *conversation.View) {
	w.Head, w.unborn = c.Head, false
	w.Edits = append(w.Edits, c.Edits...)
	w.View = view
	w.Slots = withSlots(w.Slots, c)
}

// withSlots are slots of builds as a change leaves them.
func withSlots(before map[string][]byte, c *store.Change) map[string][]byte {
	slots := make(map[string][]byte, len(before)+len(c.Slots))
	maps.Copy(slots, before)
	for name, value := range c.Slots {
		slots[name] = value
		if value == nil || !strings.HasPrefix(name, BuildSlots) {
			delete(slots, name)
		}
	}
	return slots
}

// Trim forgets messages and edits before the earliest start that a budget may still need, but for what is kept.
func (w *Loaded) Trim(from int32, kept []conversation.Range) {
	keep := conversation.MergeRanges(append(slices.Clone(kept), conversation.Range{First: from, End: w.Head.Messages}))
	if len(conversation.SubtractRanges(w.loaded, keep)) == 0 {
		return
	}
	within := func(i int32) bool {
		return conversation.InRanges(keep, i)
	}
	w.Messages = slices.Clip(slices.DeleteFunc(w.Messages, func(m conversation.Message) bool { return !within(m.Index) }))
	w.measured, w.bytes = 0, 0
	w.Edits = slices.Clip(slices.DeleteFunc(w.Edits, func(ed conversation.Edit) bool {
		return perMessage(ed.Kind) && !slices.ContainsFunc(keep, ed.Range.Overlaps)
	}))
	maps.DeleteFunc(w.Originals, func(i int32, _ conversation.Message) bool { return !within(i) })
	w.loaded = conversation.IntersectRanges(w.loaded, keep)
	w.View = (&conversation.View{}).Fold(w.Edits)
	w.trimLines()
}

func perMessage(k conversation.EditKind) bool {
	return k == conversation.EditParts || k == conversation.EditMask || k == conversation.EditRemove || k == conversation.EditReturn
}

// Message finds a loaded message.
func (w *Loaded) Message(index int32) (*conversation.Message, bool) {
	i, ok := slices.BinarySearchFunc(w.Messages, index, func(m conversation.Message, index int32) int { return int(m.Index) - int(index) })
	if !ok {
		return nil, false
	}
	return &w.Messages[i], true
}

// size is about what the window takes in memory.
func (w *Loaded) size() int64 {
	for ; w.measured < len(w.Messages); w.measured++ {
		w.bytes += sizeOf(&w.Messages[w.measured])
	}
	n := 4096 + w.bytes + w.sizeOfLines()
	for _, m := range w.Originals {
		n += sizeOf(&m)
	}
	for _, r := range w.renderings {
		n += r.bytes()
	}
	return n
}

// sizeOf is about what a message takes in memory, with its place in the view.
func sizeOf(m *conversation.Message) int64 {
	n := int64(768)
	for _, c := range conversation.Contents(m.Parts) {
		n += int64(len(c.Inline))
	}
	return n
}

// UnitStart is the first message of the unit that an index lies in; of a hidden message, of the unit before it.
func (w *Loaded) UnitStart(from int32) (int32, error) {
	for from > 0 {
		page := conversation.Range{First: max(0, from-UnitPage), End: from + 1}
		if err := w.Require(page); err != nil {
			return 0, err
		}
		for ; from > page.First; from-- {
			m, ok := w.Message(from)
			if !ok {
				return from, nil
			}
			if w.View.Hidden(conversation.Range{First: from, End: from + 1}) {
				continue
			}
			if first, known := m.UnitFirst(); known {
				return first, nil
			}
		}
	}
	return from, nil
}

// UnitPage is how many messages are read at a time while the beginning or the end of a unit is looked for.
const UnitPage = 64

// UnitOf is the unit of a message; nil of a hidden one.
func (w *Loaded) UnitOf(index int32) (*conversation.Unit, error) {
	first, err := w.UnitStart(index)
	if err != nil {
		return nil, err
	}
	for end := index + UnitPage; ; end += UnitPage {
		end = min(end, w.Head.Messages)
		if err := w.Require(conversation.Range{First: first, End: end}); err != nil {
			return nil, err
		}
		if u, last := w.unitWithin(conversation.Range{First: first, End: end}, index); u == nil || !last || end == w.Head.Messages {
			return u, nil
		}
	}
}

// unitWithin finds the unit of a message in a loaded range; last says that it reaches to the end of that.
func (w *Loaded) unitWithin(r conversation.Range, index int32) (u *conversation.Unit, last bool) {
	var items []conversation.Item
	for i := r.First; i < r.End; i++ {
		if m, ok := w.Message(i); ok && !w.View.Hidden(conversation.Range{First: i, End: i + 1}) {
			items = append(items, conversation.Item{Message: m, Parts: m.Parts})
		}
	}
	units := conversation.Units(items, w.View.Hidden)
	for i := range units {
		for j := range units[i].Items {
			if units[i].Items[j].Message.Index == index {
				return &units[i], i == len(units)-1
			}
		}
	}
	return nil, false
}

// WithEdit is the window with one edit more. It stays when more is loaded.
func (w *Loaded) WithEdit(e conversation.Edit) *Loaded {
	out := *w
	out.Edits = append(slices.Clip(w.Edits), e)
	out.View = w.View.Fold([]conversation.Edit{e})
	return &out
}

// Weight is what the view shows of a message, in tokens.
func (w *Loaded) Weight(m *conversation.Message) int64 {
	it, shown := w.View.Item(w.View.Corrected(m))
	if !shown {
		return 0
	}
	return it.Tokens()
}
