package messages

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Rewind takes back the messages from an index on (behaviour §8). They stay on record, but are no longer shown or counted.
func (ms *Service) Rewind(ctx context.Context, r RewindRequest) (*RewindResult, error) {
	return txn.Decide(ctx, ms.Txn, r.Key, func() (*RewindResult, error) { return ms.rewind(ctx, &r) })
}

// rewind tries once.
func (ms *Service) rewind(ctx context.Context, r *RewindRequest) (*RewindResult, error) {
	snap, first, err := ms.Txn.ReadFor(ctx, r.Key, r.Request, store.Query{Info: true, SlotsOf: view.BuildSlots})
	if err != nil {
		return nil, err
	}
	if first != nil {
		hidden := conversation.Range{First: first.FirstIndex, End: first.FirstIndex + first.Count}
		return &RewindResult{Range: hidden, Revision: first.Revision, Duplicate: true}, nil
	}
	b := &rewindChange{service: ms, loaded: view.New(r.Key, snap), from: r.From}
	if err := b.take(ctx); err != nil {
		return nil, err
	}
	c, err := b.change(ctx)
	if err != nil {
		return nil, err
	}
	out := &RewindResult{Range: b.hidden, Dissolved: b.dissolved(), Events: conversation.EventsOf(c.Edits), Revision: c.Head.Revision}
	txn.Remember(c, r.Request, store.Outcome{FirstIndex: b.hidden.First, Count: b.hidden.Len(), Revision: c.Head.Revision})
	return out, ms.commit(ctx, r.Key, &snap.Head, c)
}

// RewindChange returns the change that takes back the messages from an index on, for a caller who commits it together with something else.
// That caller must tell memories about its edits.
func (ms *Service) RewindChange(ctx context.Context, w *view.Loaded, from int32) (*store.Change, error) {
	b := &rewindChange{service: ms, loaded: w, from: from}
	if err := b.take(ctx); err != nil {
		return nil, err
	}
	c, err := b.change(ctx)
	if err != nil {
		return nil, err
	}
	ms.Memories.NoteEdits(&c.Head, c.Edits)
	return c, nil
}

// rewindChange is a rewind in progress.
type rewindChange struct {
	service *Service
	loaded  *view.Loaded
	from    int32
	hidden  conversation.Range
	weight  int64 // weight of the messages taken back, as they were appended
	edit    conversation.Edit
	newest  *conversation.Unit // the newest unit that is left; nil if none is
}

// take loads the messages to be taken back, and weighs them.
func (b *rewindChange) take(ctx context.Context) error {
	head := &b.loaded.Head
	if b.from >= head.Messages {
		return conversation.Errorf(conversation.MessageNotFound, "no message has index %d", b.from)
	}
	b.hidden = conversation.Range{First: b.from, End: head.Messages}
	for at := b.from; at < head.Messages; at += listPage {
		page := conversation.Range{First: at, End: min(at+listPage, head.Messages)}
		if err := b.loaded.Load(ctx, b.service.Store, page); err != nil {
			return err
		}
	}
	if b.loaded.View.Hidden(b.hidden) {
		return conversation.Errorf(conversation.AlreadyRewound, "messages %d-%d were taken back already", b.hidden.First, b.hidden.End-1)
	}
	for i := range b.loaded.Messages {
		if m := &b.loaded.Messages[i]; b.hidden.Contains(m.Index) && b.visible(m) {
			b.weight += int64(b.loaded.Original(m).Tokens)
		}
	}
	return nil
}

func (b *rewindChange) visible(m *conversation.Message) bool { return b.loaded.View.Stands(m.Index) }

// dissolved lists the summaries that are no longer in force.
func (b *rewindChange) dissolved() []int64 {
	return summariesMissing(b.loaded.View, b.loaded.WithEdit(b.edit).View)
}

// summariesMissing lists the summaries in force in one view that are not in force in the other.
func summariesMissing(in, from *conversation.View) []int64 {
	var out []int64
	for _, e := range in.Summaries() {
		if !slices.ContainsFunc(from.Summaries(), func(o conversation.Edit) bool { return o.Summary.ID == e.Summary.ID }) {
			out = append(out, e.Summary.ID)
		}
	}
	return out
}

// change is what the rewind commits. It drops what is prepared, and the windows that start behind what is now the newest unit: the next
// build finds them anew.
func (b *rewindChange) change(ctx context.Context) (*store.Change, error) {
	w := b.loaded
	c := &store.Change{Expect: w.Head.Version, Head: txn.NextHead(w.Head, b.service.Txn.Now()), Slots: map[string][]byte{}}
	c.Head.Revision++
	b.edit = *txn.AddEdit(c, conversation.Edit{Kind: conversation.EditHide, Range: b.hidden, Reason: conversation.ReasonRewindRequest, Before: b.weight})
	if err := drafts.Drop(w, c); err != nil {
		return nil, err
	}
	dissolves := len(b.dissolved()) > 0
	if err := w.Slots.ForgetWindows(c, func(win *conversation.Window) bool {
		return dissolves || win.Start >= b.from || win.Request >= b.from
	}); err != nil {
		return nil, err
	}
	if err := b.changeHead(ctx, &c.Head); err != nil {
		return nil, err
	}
	if u := b.newest; u != nil && b.hasLeftView(u) {
		txn.AddEdit(c, conversation.Edit{
			Kind: conversation.EditRestore, Range: conversation.Range{First: u.First(), End: u.Last() + 1}, Reason: conversation.ReasonRewindRequest,
			After: u.Tokens(),
		})
	}
	return c, nil
}

// hasLeftView reports whether the unit that is now the newest has to be brought back because it had left the view: the newest unit is always
// shown. If it has open calls again, all of it must be shown.
func (b *rewindChange) hasLeftView(u *conversation.Unit) bool {
	lost, open, view := false, len(u.OpenCalls()) > 0, b.loaded.WithEdit(b.edit).View
	for i := range u.Items {
		m := u.Items[i].Message
		if conversation.Erased(m.Parts) {
			return false
		}
		now, shown := view.Item(m)
		lost = lost || !shown || open && (now.Level > conversation.Full || now.Masked > 0)
	}
	return lost
}

// changeHead makes the head what it would be without the messages taken back. Only indices are not used again.
func (b *rewindChange) changeHead(ctx context.Context, h *store.Head) error {
	h.Start = min(h.Start, b.from)
	if b.from <= h.LeadingSystem { // only leading system messages are left, so that a system message that comes next is one of them
		h.LeadingSystem = h.Messages
	}
	h.Unanswered = slices.DeleteFunc(slices.Clone(h.Unanswered), func(c store.Call) bool { return c.Message >= b.from })
	h.Pins = slices.DeleteFunc(slices.Clone(h.Pins), func(p conversation.Range) bool { return p.First >= b.from })
	b.freeCalls(h)
	h.UnitStart, h.CallsEnd, h.Request = h.Messages, 0, -1
	if h.Opening >= b.from {
		h.Opening = -1
	}
	carries := h.Place.Carrying > 0
	inputs := int32(0)
	if err := b.visitBackward(ctx, func(m *conversation.Message) (more bool) {
		if h.Request < 0 && m.OwnWords() {
			h.Request = m.Index
		}
		if carries && m.Place.Carrying > 0 {
			h.Place, carries = conversation.Place{Carrying: m.Place.Carrying, Inputs: m.Place.Inputs + inputs}, false
		}
		if m.Role == conversation.RoleUser || m.Role == conversation.RoleTool {
			inputs++
		}
		return h.Request < 0 || carries
	}); err != nil {
		return err
	}
	if carries {
		h.Place = conversation.Place{Inputs: inputs}
	}
	if err := b.reopenLateCalls(ctx, h); err != nil {
		return err
	}
	return b.reopen(ctx, h)
}

// visitBackward goes through the messages that are left, newest first, until look returns false.
func (b *rewindChange) visitBackward(ctx context.Context, look func(*conversation.Message) (more bool)) error {
	for at := b.from; at > 0; {
		page := conversation.Range{First: max(0, at-view.UnitPage), End: at}
		if err := b.loaded.Load(ctx, b.service.Store, page); err != nil {
			return err
		}
		for ; at > page.First; at-- {
			if m, ok := b.loaded.Message(at - 1); ok && b.visible(m) && !look(m) {
				return nil
			}
		}
	}
	return nil
}

// reopenLateCalls makes calls wait again whose late results are taken back. In the head they come before the calls of the newest unit.
func (b *rewindChange) reopenLateCalls(ctx context.Context, h *store.Head) error {
	late := b.lateResults()
	if len(late) == 0 {
		return nil
	}
	if err := b.visitBackward(ctx, func(m *conversation.Message) (more bool) {
		for i := range m.Parts {
			if c := m.Parts[i].Call; c != nil && late[c.Ordinal] {
				delete(late, c.Ordinal)
				h.Unanswered = append(h.Unanswered, store.Call{CallID: c.CallID, Name: c.Name, Ordinal: c.Ordinal, Message: m.Index, Closed: m.Aborted()})
			}
		}
		return len(late) > 0
	}); err != nil {
		return err
	}
	slices.SortFunc(h.Unanswered, func(x, y store.Call) int { return int(x.Ordinal) - int(y.Ordinal) })
	return nil
}

// freeCalls frees the ids of the first call that is taken back and of all later ones.
func (b *rewindChange) freeCalls(h *store.Head) {
	for i := range b.loaded.Messages {
		m := &b.loaded.Messages[i]
		for p := range m.Parts {
			if c := m.Parts[p].Call; c != nil && b.hidden.Contains(m.Index) {
				placement.ForgetCalls(h, c.Ordinal)
				return
			}
		}
	}
}

// lateResults returns the ordinals of calls that stay although a result that answers them is taken back.
func (b *rewindChange) lateResults() map[int32]bool {
	out := map[int32]bool{}
	for i := range b.loaded.Messages {
		m := &b.loaded.Messages[i]
		if !b.hidden.Contains(m.Index) || !b.visible(m) {
			continue
		}
		for p := range m.Parts {
			if r := m.Parts[p].Result; r != nil && r.Ordinal > 0 {
				out[r.Ordinal] = true
			}
		}
	}
	for i := range b.loaded.Messages {
		m := &b.loaded.Messages[i]
		for p := range m.Parts {
			if c := m.Parts[p].Call; c != nil && b.hidden.Contains(m.Index) {
				delete(out, c.Ordinal)
			}
		}
	}
	return out
}

// reopen lets the newest unit that is left go on: its calls without a result wait for one again.
func (b *rewindChange) reopen(ctx context.Context, h *store.Head) error {
	newest := int32(-1)
	err := b.visitBackward(ctx, func(m *conversation.Message) (more bool) {
		newest = m.Index
		return false
	})
	if err != nil || newest < 0 {
		return err
	}
	past := &messageReader{service: b.service, loaded: b.loaded.WithEdit(b.edit)}
	u, err := past.unit(ctx, newest)
	if err != nil {
		return err
	}
	b.newest = u
	pins := len(h.Pins) - 1
	if pins >= 0 && h.Pins[pins].First == u.First() {
		h.Pins[pins].End = u.Last() + 1
		if !slices.ContainsFunc(u.Items, func(it conversation.Item) bool { return it.Message.Pinned }) && !joinsCall(u.Items[0].Message) {
			h.Pins = h.Pins[:pins]
		}
	}
	if m := u.Items[0].Message; m.Role != conversation.RoleAssistant || !m.HasCalls() || m.Aborted() {
		return nil // no later message can join it
	}
	h.UnitStart = u.First()
	if u.Items[len(u.Items)-1].Message.Role == conversation.RoleAssistant {
		h.CallsEnd = h.Messages
	}
	h.Unanswered = slices.DeleteFunc(h.Unanswered, func(c store.Call) bool { return c.Message >= u.First() })
	h.Unanswered = append(h.Unanswered, openCallsOf(u)...)
	return nil
}

// joinsCall reports whether a message has a result that is shown next to its call. Such a message is pinned together with the call.
func joinsCall(m *conversation.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p conversation.Part) bool { return p.Result != nil && p.Result.Joins })
}

// openCallsOf lists the calls of a unit that none of its results answers.
func openCallsOf(u *conversation.Unit) []store.Call {
	var out []store.Call
	open := u.OpenCalls()
	for i := range u.Items {
		m := u.Items[i].Message
		for p := range m.Parts {
			if c := m.Parts[p].Call; c != nil && slices.Contains(open, c) {
				out = append(out, store.Call{CallID: c.CallID, Name: c.Name, Ordinal: c.Ordinal, Message: m.Index})
			}
		}
	}
	return out
}
