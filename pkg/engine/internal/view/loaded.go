// Package view holds what is loaded of a conversation, and writes it for a provider: the messages and edits from the window's start on,
// the view into which both fold, and the blocks that its units were written as. A view may stay in memory between builds.
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

// BuildSlots is the prefix of the slots that every build reads, such as windows and calibrations.
const BuildSlots = "build/"

// HistorySlot remembers the whole lists that callers have sent.
const HistorySlot = BuildSlots + "history"

// Loaded is what a build needs of a conversation: the messages it may show, and the view over them. Its cost depends on the model's
// window and not on the length of the history. It may stay in memory between builds, and is then updated with what was committed since.
// Only one caller uses it at a time.
type Loaded struct {
	Key   store.Key
	Head  store.Head
	Info  store.Info
	Slots Slots

	loaded   []conversation.Range   // the ranges that Messages holds, in order and disjoint
	Messages []conversation.Message // with corrections applied
	Edits    []conversation.Edit
	View     *conversation.View

	Originals map[int32]conversation.Message // corrected messages, as they were appended

	lastManifest []conversation.Manifest // the last manifest at the time of opening; empty if there was none
	unitCaches   map[renderKey]*unitCache
	Fixed        fixedWeight
	lines        lineCache

	Extras    Extras
	measured  int   // number of messages weighed for the cache
	bytes     int64 // size of these messages in memory
	notStored bool  // nothing is stored yet: a change that is not committed creates the conversation
}

// erases reports whether an edit erased messages. If another process made the edit, the messages held here would still have the text.
func erases(e conversation.Edit) bool { return e.Erases }

// MaxIndex is greater than the index of any message.
const MaxIndex = 1<<31 - 1

// maxDelta is the number of new messages up to which an old window is updated. With more, the window's start would move past them
// anyway.
const maxDelta = 4096

// New makes a Loaded, without messages, from a snapshot.
func New(key store.Key, snap *store.Snapshot) *Loaded {
	return &Loaded{
		Key: key, Head: snap.Head, Info: *snap.Info, Slots: snap.Slots, View: (&conversation.View{}).Fold(nil),
		unitCaches: make(map[renderKey]*unitCache),
	}
}

// actor is the actor of the conversation. Older heads do not name it; the attributes do.
func (w *Loaded) actor() string { return cmp.Or(w.Head.ActorID, w.Info.ActorID) }

// advance adds what was committed since the window was used last.
func (w *Loaded) advance(snap *store.Snapshot) {
	added := conversation.Range{First: w.Head.Messages, End: snap.Head.Messages}
	w.Head, w.Info, w.Slots = snap.Head, *snap.Info, snap.Slots
	// After a canceled build the window may not reach to the end, so the new messages are a range of their own.
	w.Messages = append(w.Messages, snap.Messages...)
	w.loaded = conversation.MergeRanges(append(w.loaded, added))
	if len(snap.Edits) > 0 {
		w.Edits = append(w.Edits, snap.Edits...)
		w.View = w.View.Fold(snap.Edits)
	}
	w.applyCorrections()
}

// Load loads the missing parts of the ranges, with their edits.
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

// RestoredRanges lists what was brought back by edits after seq after, up to the ends of its units: a unit that was the newest one may
// have grown since. Where the end is not known, it lists what must be loaded to find it.
func (w *Loaded) RestoredRanges(after int64) []conversation.Range {
	var out []conversation.Range
	for _, r := range conversation.MergeRanges(w.View.Restorations(after)) {
		for {
			next := pastHidden(w.View, r.End)
			if next >= w.Head.Messages {
				break
			}
			m, ok := w.Message(next)
			if !ok {
				out = append(out, conversation.Range{First: next, End: min(next+lookAhead, w.Head.Messages)})
				break
			}
			if first, known := m.UnitFirst(); known && first == next {
				out = append(out, conversation.Range{First: next, End: next + 1}) // the next call then finds it loaded
				break
			}
			r.End = next + 1
		}
		out = append(out, r)
	}
	return out
}

// lookAhead is how many messages are read at a time to find the end of a unit that was brought back.
const lookAhead = 4

// pastHidden is the first message from index on that a view does not hide.
func pastHidden(view *conversation.View, index int32) int32 {
	for moved := true; moved; {
		moved = false
		for _, h := range view.Hides() {
			if h.Range.Contains(index) {
				index, moved = h.Range.End, true
			}
		}
	}
	return index
}

// ClippedWeight is the weight of a message in tokens if its results are clipped to share tokens each.
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

// Supply adds messages and edits that were read, and folds the view anew, because edits of older messages come before edits it has.
// Nothing counts as missing after that.
func (w *Loaded) Supply(snap *store.Snapshot, ranges []conversation.Range) {
	w.Extras.missing = missing{}
	// Earlier layouts point at the messages, so those must not move.
	w.Messages, w.measured, w.bytes = append(slices.Clip(w.Messages), snap.Messages...), 0, 0
	slices.SortFunc(w.Messages, func(a, b conversation.Message) int { return int(a.Index) - int(b.Index) })
	w.loaded = conversation.MergeRanges(append(w.loaded, ranges...))
	w.fold(snap.Edits)
	w.applyCorrections()
}

// fold adds edits that were read, and folds the view anew.
func (w *Loaded) fold(more []conversation.Edit) {
	if len(more) == 0 {
		return
	}
	w.Edits = append(w.Edits, more...)
	slices.SortFunc(w.Edits, func(a, b conversation.Edit) int { return int(a.Seq - b.Seq) })
	w.Edits = slices.CompactFunc(w.Edits, func(a, b conversation.Edit) bool { return a.Seq == b.Seq })
	w.View = (&conversation.View{}).Fold(w.Edits)
}

// ApplyCommit updates the window to what a build has committed.
func (w *Loaded) ApplyCommit(c *store.Change, view *conversation.View) {
	w.Head, w.notStored = c.Head, false
	w.Edits = append(w.Edits, c.Edits...)
	w.View = view
	w.Slots = withSlots(w.Slots, c)
}

// withSlots returns the build slots after a change.
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

// Trim drops messages and edits before from, the earliest start that a budget may still need, except those that are kept.
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
	w.lines.keep(func(k lineKey) bool {
		_, ok := w.Message(k.message)
		return ok
	})
}

func perMessage(k conversation.EditKind) bool {
	return k == conversation.EditParts || k == conversation.EditMask || k == conversation.EditRemove || k == conversation.EditReturn
}

// Message returns a loaded message.
func (w *Loaded) Message(index int32) (*conversation.Message, bool) {
	i, ok := slices.BinarySearchFunc(w.Messages, index, func(m conversation.Message, index int32) int { return int(m.Index) - int(index) })
	if !ok {
		return nil, false
	}
	return &w.Messages[i], true
}

// size is about how many bytes the window takes in memory.
func (w *Loaded) size() int64 {
	for ; w.measured < len(w.Messages); w.measured++ {
		w.bytes += sizeOf(&w.Messages[w.measured])
	}
	n := 4096 + w.bytes + w.lines.size()
	for _, m := range w.Originals {
		n += sizeOf(&m)
	}
	for _, r := range w.unitCaches {
		n += r.bytes()
	}
	return n
}

// sizeOf is about how many bytes a message takes in memory, with its place in the view.
func sizeOf(m *conversation.Message) int64 {
	n := int64(768)
	for _, c := range conversation.Contents(m.Parts) {
		n += int64(len(c.Inline))
	}
	return n
}

// UnitStart is the first message of the unit that an index lies in. For a hidden message, it is that of the unit before.
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

// UnitPage is how many messages are read at a time to find the beginning or the end of a unit.
const UnitPage = 64

// UnitOf returns the unit of a message; nil if the message is hidden.
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

// unitWithin finds the unit of a message in a loaded range. last reports that the unit reaches to the end of the range.
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

// WithEdit returns the window with one more edit. The edit stays when more is loaded.
func (w *Loaded) WithEdit(e conversation.Edit) *Loaded {
	out := *w
	out.Edits = append(slices.Clip(w.Edits), e)
	out.View = w.View.Fold([]conversation.Edit{e})
	return &out
}
