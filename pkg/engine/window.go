package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// slotPrefix is the prefix of the slots that builds need: fit starts and calibrations.
const slotPrefix = "build/"

// window is what a build touches of a conversation: the messages it may show, and the view over them. Its cost follows the
// model's window, never the length of the history. A window may be kept warm between builds; it is then brought up to date
// with what was committed since. One caller at a time uses a window.
type window struct {
	key   Key
	head  Head
	info  Info
	slots map[string][]byte

	loaded   []conversation.Range   // what messages holds, in order and apart
	messages []conversation.Message // with the words that corrections gave them
	edits    []conversation.Edit
	view     *conversation.View

	originals map[int32]conversation.Message // of messages that were corrected, as they were appended

	renderings map[renderKey]*rendering
	fixed      fixedWeight

	// What a plan has asked for beside, while it runs, and what it lacks.
	contents map[conversation.ID]string
	beside   map[string][]byte
	missing  missing
}

// open reads the state of a conversation, from a warm window if there is one, and the outcome of the request.
func (e *Engine) open(ctx context.Context, key Key, r Request) (*window, *store.Snapshot, error) {
	warm := e.windows.take(key)
	q := store.Query{Info: true, SlotsOf: slotPrefix, Request: r.key()}
	if warm != nil {
		q.Incarnation = warm.head.Incarnation
		q.Edits = &store.EditRange{After: warm.head.EditSeq}
		q.Ranges = []store.MessageRange{{Range: conversation.Range{First: warm.head.Messages, End: maxIndex}, Limit: maxDelta}}
	}
	snap, err := e.store.Read(ctx, key, q)
	if warm != nil && (err != nil || snap.Head.Messages-warm.head.Messages > maxDelta || slices.ContainsFunc(snap.Edits, erased)) {
		return e.open(ctx, key, r) // cold: the warm window has left the cache
	}
	if err != nil {
		return nil, nil, failure(err)
	}
	if err := e.live(&snap.Head); err != nil {
		return nil, nil, err
	}
	if warm == nil {
		return newWindow(key, snap), snap, nil
	}
	warm.advance(snap)
	return warm, snap, nil
}

// erased says whether another process has erased what an edit is about: messages that are warm here would still hold it.
func erased(e conversation.Edit) bool { return e.Erases }

const maxIndex = 1<<31 - 1

// maxDelta is how many new messages are worth adding to a warm window: with more, the window's start will move past them.
const maxDelta = 4096

func newWindow(key Key, snap *store.Snapshot) *window {
	return &window{
		key: key, head: snap.Head, info: *snap.Info, slots: snap.Slots, view: (&conversation.View{}).Fold(nil),
		renderings: make(map[renderKey]*rendering),
	}
}

// advance takes in what was committed since the window was warm.
func (w *window) advance(snap *store.Snapshot) {
	added := conversation.Range{First: w.head.Messages, End: snap.Head.Messages}
	w.head, w.info, w.slots = snap.Head, *snap.Info, snap.Slots
	// A build that was cut short may have left a window that does not reach to the end: the new messages are a range of their own.
	w.messages = append(w.messages, snap.Messages...)
	w.loaded = merge(append(w.loaded, added))
	if len(snap.Edits) > 0 {
		w.edits = append(w.edits, snap.Edits...)
		w.view = w.view.Fold(snap.Edits)
	}
	w.correct()
}

// load makes the window hold the ranges, whatever it holds beside them, with their edits.
func (w *window) load(ctx context.Context, e *Engine, ranges ...conversation.Range) error {
	missing := subtract(ranges, w.loaded)
	if len(missing) == 0 {
		return nil
	}
	q := store.Query{Incarnation: w.head.Incarnation}
	if w.head.EditSeq > 0 {
		q.Edits = &store.EditRange{Upto: w.head.EditSeq, Of: missing}
	}
	for _, r := range missing {
		q.Ranges = append(q.Ranges, store.MessageRange{Range: r})
	}
	snap, err := e.store.Read(ctx, w.key, q)
	if err != nil {
		return failure(err)
	}
	w.take(snap, missing)
	return nil
}

// restored lists what was brought back after an edit, to the ends of its units: one that was the newest then may have grown since.
// Where the end is not known yet, it lists what has to be looked at.
func (w *window) restored(after int64) []conversation.Range {
	var out []conversation.Range
	for _, r := range merge(w.view.Restorations(after)) {
		for {
			next := w.pastHidden(r.End)
			if next >= w.head.Messages {
				break
			}
			m, ok := w.message(next)
			if !ok {
				out = append(out, conversation.Range{First: next, End: min(next+lookAhead, w.head.Messages)})
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
func (w *window) pastHidden(index int32) int32 {
	for moved := true; moved; {
		moved = false
		for _, h := range w.view.Hides() {
			if h.Range.Contains(index) {
				index, moved = h.Range.End, true
			}
		}
	}
	return index
}

func clippedWeight(m *conversation.Message, share int64) int64 {
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

// take adds messages and edits that were read, and folds the view anew: edits of older messages come before edits it has.
func (w *window) take(snap *store.Snapshot, ranges []conversation.Range) {
	// Views that were laid out before point at their messages: those must stay where they are.
	w.messages = append(slices.Clip(w.messages), snap.Messages...)
	slices.SortFunc(w.messages, func(a, b conversation.Message) int { return int(a.Index) - int(b.Index) })
	w.loaded = merge(append(w.loaded, ranges...))
	w.fold(snap.Edits)
	w.correct()
}

// fold takes in edits that were read, and folds the view anew.
func (w *window) fold(more []conversation.Edit) {
	if len(more) == 0 {
		return
	}
	w.edits = append(w.edits, more...)
	slices.SortFunc(w.edits, func(a, b conversation.Edit) int { return int(a.Seq - b.Seq) })
	w.edits = slices.CompactFunc(w.edits, func(a, b conversation.Edit) bool { return a.Seq == b.Seq })
	w.view = (&conversation.View{}).Fold(w.edits)
}

// committed moves the window to what a build has committed.
func (w *window) committed(c *store.Change, view *conversation.View) {
	w.head = c.Head
	w.edits = append(w.edits, c.Edits...)
	w.view = view
	slots := make(map[string][]byte, len(w.slots)+len(c.Slots))
	for name, value := range w.slots {
		slots[name] = value
	}
	for name, value := range c.Slots {
		slots[name] = value
		if value == nil {
			delete(slots, name)
		}
	}
	w.slots = slots
}

// trim forgets messages and edits before the earliest start that a budget may still need, but for what is kept.
func (w *window) trim(from int32, kept []conversation.Range) {
	keep := merge(append(slices.Clone(kept), conversation.Range{First: from, End: w.head.Messages}))
	if len(subtract(w.loaded, keep)) == 0 {
		return
	}
	within := func(i int32) bool {
		return slices.ContainsFunc(keep, func(r conversation.Range) bool { return r.Contains(i) })
	}
	w.messages = slices.Clip(slices.DeleteFunc(w.messages, func(m conversation.Message) bool { return !within(m.Index) }))
	w.edits = slices.Clip(slices.DeleteFunc(w.edits, func(ed conversation.Edit) bool {
		return perMessage(ed.Kind) && !slices.ContainsFunc(keep, ed.Range.Overlaps)
	}))
	maps.DeleteFunc(w.originals, func(i int32, _ conversation.Message) bool { return !within(i) })
	w.loaded = intersect(w.loaded, keep)
	w.view = (&conversation.View{}).Fold(w.edits)
}

func perMessage(k conversation.EditKind) bool {
	return k == conversation.EditParts || k == conversation.EditMask || k == conversation.EditRemove
}

// message finds a loaded message.
func (w *window) message(index int32) (*conversation.Message, bool) {
	i, ok := slices.BinarySearchFunc(w.messages, index, func(m conversation.Message, index int32) int { return int(m.Index) - int(index) })
	if !ok {
		return nil, false
	}
	return &w.messages[i], true
}

// size is about what the window takes in memory.
func (w *window) size() int64 {
	const perMessage = 768 // the structs of a message and of its place in the view
	n := int64(4096)
	weigh := func(m *conversation.Message) {
		n += perMessage
		for _, c := range conversation.Contents(m.Parts) {
			n += int64(len(c.Inline))
		}
	}
	for i := range w.messages {
		weigh(&w.messages[i])
	}
	for _, m := range w.originals {
		weigh(&m)
	}
	for _, r := range w.renderings {
		n += r.bytes()
	}
	return n
}

// unitStart is the first message of the unit that an index lies in; of a hidden message, of the unit before it.
func (w *window) unitStart(from int32) (int32, error) {
	for from > 0 {
		page := conversation.Range{First: max(0, from-unitPage), End: from + 1}
		if err := w.need(page); err != nil {
			return 0, err
		}
		for ; from > page.First; from-- {
			m, ok := w.message(from)
			if !ok {
				return from, nil
			}
			if w.view.Hidden(conversation.Range{First: from, End: from + 1}) {
				continue
			}
			if first, known := m.UnitFirst(); known {
				return first, nil
			}
		}
	}
	return from, nil
}

// unitPage is how many messages are read at a time while the beginning or the end of a unit is looked for.
const unitPage = 64
