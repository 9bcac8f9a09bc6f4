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

// UndoRewind brings back what the newest rewind took back. This only works while nothing was appended since: a later message was paired,
// numbered and shown without them.
func (ms *Service) UndoRewind(ctx context.Context, r UndoRewindRequest) (*UndoRewindResult, error) {
	return txn.Decide(ctx, ms.Txn, r.Key, func() (*UndoRewindResult, error) { return ms.undoRewind(ctx, &r) })
}

// undoRewind tries once.
func (ms *Service) undoRewind(ctx context.Context, r *UndoRewindRequest) (*UndoRewindResult, error) {
	snap, first, err := ms.Txn.ReadFor(ctx, r.Key, r.Request, store.Query{Info: true, SlotsOf: view.BuildSlots})
	if err != nil {
		return nil, err
	}
	if first != nil {
		back := conversation.Range{First: first.FirstIndex, End: first.FirstIndex + first.Count}
		return &UndoRewindResult{Range: back, Revision: first.Revision, Duplicate: true}, nil
	}
	u := &rewindUndo{loaded: view.New(r.Key, snap)}
	if err := u.load(ctx, ms); err != nil {
		return nil, err
	}
	c, err := u.change(ms)
	if err != nil {
		return nil, err
	}
	out := &UndoRewindResult{Range: u.back, Revived: summariesMissing(u.after.View, u.loaded.View), Events: conversation.EventsOf(c.Edits), Revision: c.Head.Revision}
	txn.Remember(c, r.Request, store.Outcome{FirstIndex: u.back.First, Count: u.back.Len(), Revision: c.Head.Revision})
	return out, ms.commit(ctx, r.Key, &snap.Head, c)
}

// rewindUndo is the undoing of a rewind.
type rewindUndo struct {
	loaded *view.Loaded
	back   conversation.Range // what is brought back
	after  *view.Loaded       // the conversation as it is then
	weight int64              // weight of what is brought back, as it was appended
	open   bool               // the newest unit so far may still grow
}

// load finds the newest rewind and loads the messages that it took back.
func (u *rewindUndo) load(ctx context.Context, ms *Service) error {
	end := u.loaded.Head.Messages
	if end > 0 { // edits about ranges are part of a read of any message
		if err := u.loaded.Load(ctx, ms.Store, conversation.Range{First: end - 1, End: end}); err != nil {
			return err
		}
	}
	hides := u.loaded.View.Hides()
	if len(hides) == 0 || hides[len(hides)-1].Range.End != end {
		return conversation.Errorf(conversation.NothingToUndo, "no rewind stands, or messages were appended after it")
	}
	u.back = hides[len(hides)-1].Range
	for at := u.back.First; at < end; at += listPage {
		if err := u.loaded.Load(ctx, ms.Store, conversation.Range{First: at, End: min(at+listPage, end)}); err != nil {
			return err
		}
	}
	return nil
}

func (u *rewindUndo) change(ms *Service) (*store.Change, error) {
	w := u.loaded
	c := &store.Change{Expect: w.Head.Version, Head: txn.NextHead(w.Head, ms.Txn.Now()), Slots: map[string][]byte{}}
	c.Head.Revision++
	edit := txn.AddEdit(c, conversation.Edit{Kind: conversation.EditUnhide, Range: u.back, Reason: conversation.ReasonRewindRequest})
	u.after = w.WithEdit(*edit)
	u.changeHead(&c.Head)
	edit.After = u.weight
	if err := drafts.Drop(w, c); err != nil {
		return nil, err
	}
	return c, w.Slots.ForgetWindows(c, func(*conversation.Window) bool { return true }) // they were found without the messages that come back
}

// changeHead repeats on the head what appending the messages did. The rewind had left the head as it was before them.
func (u *rewindUndo) changeHead(h *store.Head) {
	h.Unanswered, h.Pins = slices.Clone(h.Unanswered), slices.Clone(h.Pins)
	place := h.Place
	u.open = h.UnitStart < h.Messages
	for _, place := range []*int32{&h.LeadingSystem, &h.UnitStart, &h.CallsEnd} { // a place at the end moves to the start of what comes back
		if *place == h.Messages {
			*place = u.back.First
		}
	}
	for i := u.back.First; i < u.back.End; i++ {
		m, ok := u.loaded.Message(i)
		if !ok || u.after.View.Hidden(conversation.Range{First: i, End: i + 1}) {
			u.passHidden(h, i)
			continue
		}
		again := *m
		u.readmit(h, &again)
		if u.after.View.Stands(i) {
			u.weight += int64(u.loaded.Original(m).Tokens)
		}
	}
	if h.Place.Carrying == 0 { // a rewind only counts back to a message that carries
		h.Place = place
	}
}

// passHidden moves places that point to a message which stays hidden to the index behind it.
func (u *rewindUndo) passHidden(h *store.Head, index int32) {
	if !u.open {
		h.UnitStart = index
	}
	for _, place := range []*int32{&h.LeadingSystem, &h.UnitStart, &h.CallsEnd} {
		if *place == index {
			*place = index + 1
		}
	}
}

// readmit repeats what a recorded message does to a head: the message keeps its unit, and its calls and results keep their ordinals.
func (u *rewindUndo) readmit(h *store.Head, m *conversation.Message) {
	first, _ := m.UnitFirst()
	if first == m.Index {
		h.UnitStart, u.open = first, m.Role == conversation.RoleAssistant && m.HasCalls() && !m.Aborted()
		placement.ForgetOldest(h)
	}
	placement.LeaveOpen(h, m, first < m.Index)
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case conversation.PartToolCall:
			placement.RememberCall(h, p.Call)
			h.Unanswered = append(h.Unanswered, store.Call{CallID: p.Call.CallID, Name: p.Call.Name, Ordinal: p.Call.Ordinal, Message: m.Index, Closed: m.Aborted()})
		case conversation.PartToolResult:
			placement.Readmit(h, m, p.Result)
		}
	}
	at := m.Place
	_ = placement.Admit(h, m) // there was room for its pin before, so there is no error
	if at.Carrying > 0 {
		h.Place = at
	}
}
