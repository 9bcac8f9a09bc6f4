package messages

import (
	"context"
	"slices"
	"strconv"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
)

// maxExpansion is the share of the budget that a restored unit may take, in percent (behaviour §10).
const maxExpansion = 50

// Expand brings back what left the view. It returns the original and, unless only that is asked for, shows its unit in full again.
func (ms *Service) Expand(ctx context.Context, r ExpandRequest) (*ExpandResult, error) {
	l, err := ms.open(ctx, r.Key)
	if err != nil {
		return nil, err
	}
	if r.Summary > 0 {
		return l.expandSummary(ctx, &r)
	}
	index, err := l.find(ctx, r.Index, r.MessageID)
	if err != nil {
		return nil, err
	}
	if r.ReturnOnly || r.Unit != RangeNone || r.MaxTokens > 0 || r.Cursor != nil {
		return l.original(ctx, index, &r)
	}
	return txn.Decide(ctx, ms.Txn, r.Key, func() (*ExpandResult, error) { return ms.restore(ctx, index, &r) })
}

// find returns the index of the message that a request names by index or by id.
func (l *messageReader) find(ctx context.Context, index *int32, id string) (int32, error) {
	head := &l.loaded.Head
	if index != nil {
		if *index < 0 || *index >= head.Messages {
			return 0, conversation.Errorf(conversation.MessageNotFound, "no message has index %d", *index)
		}
		return *index, nil
	}
	if n, ok := madeID(id); ok && n < head.Messages {
		m, err := l.load(ctx, n)
		if err != nil || m.ID == id {
			return n, err
		}
	}
	return l.search(ctx, id)
}

// madeID returns the index in an id that the engine made.
func madeID(id string) (int32, bool) {
	if len(id) < 2 || id[0] != 'm' {
		return 0, false
	}
	n, err := strconv.ParseInt(id[1:], 10, 32)
	return int32(n), err == nil && n >= 0
}

// search finds the message with an id that its caller gave. It reads the record backward.
func (l *messageReader) search(ctx context.Context, id string) (int32, error) {
	for end := l.loaded.Head.Messages; end > 0; end -= listPage {
		page := conversation.Range{First: max(0, end-listPage), End: end}
		messages, err := l.read(ctx, store.MessageRange{Range: page, Reverse: true})
		if err != nil {
			return 0, err
		}
		if at := slices.IndexFunc(messages, func(m conversation.Message) bool { return m.ID == id }); at >= 0 {
			return messages[at].Index, nil
		}
	}
	return 0, conversation.Errorf(conversation.MessageNotFound, "no message has this id")
}

// load loads a message with its edits.
func (l *messageReader) load(ctx context.Context, index int32) (*conversation.Message, error) {
	if err := l.loaded.Load(ctx, l.service.Store, conversation.Range{First: index, End: index + 1}); err != nil {
		return nil, err
	}
	m, ok := l.loaded.Message(index)
	if !ok {
		return nil, conversation.Errorf(conversation.MessageNotFound, "no message has index %d", index)
	}
	return m, nil
}

// restore tries once to show a unit in full again.
func (ms *Service) restore(ctx context.Context, index int32, r *ExpandRequest) (*ExpandResult, error) {
	l, first, err := ms.openFor(ctx, r.Key, r.Request)
	if err != nil {
		return nil, err
	}
	if first != nil {
		out, err := l.original(ctx, index, r)
		if err == nil {
			out.Revision, out.Duplicate = first.Revision, true
		}
		return out, err
	}
	u, err := l.unit(ctx, index)
	if err != nil {
		return nil, err
	}
	if err := l.addJoined(ctx, u); err != nil {
		return nil, err
	}
	if err := l.restorable(u, index); err != nil {
		return nil, err
	}
	out, err := l.original(ctx, index, r)
	if err != nil {
		return nil, err
	}
	return out, ms.commitRestore(ctx, l, u, r, out)
}

// unit returns the unit that a message belongs to, made of originals.
func (l *messageReader) unit(ctx context.Context, index int32) (*conversation.Unit, error) {
	var u *conversation.Unit
	err := l.service.Views.RunPlan(ctx, l.loaded, func() (err error) {
		u, err = l.loaded.UnitOf(index)
		return err
	})
	if err == nil && u == nil {
		err = conversation.Errorf(conversation.NotEdited, "the message was taken back by a rewind, which an expansion does not undo")
	}
	return u, err
}

// maxBehind is how many messages behind a unit are read in search of results that join its calls.
const maxBehind = 1024

// addJoined adds to a unit the results that came behind other messages but are shown next to the unit's calls. Such results have the same
// turn as the unit: no build came between.
func (l *messageReader) addJoined(ctx context.Context, u *conversation.Unit) error {
	open, last := map[int32]bool{}, u.Items[len(u.Items)-1].Message
	for _, c := range u.OpenCalls() {
		open[c.Ordinal] = true
	}
	end := min(last.Index+1+maxBehind, l.loaded.Head.Messages)
	for at := last.Index + 1; at < end && len(open) > 0; at++ {
		m, ok := l.loaded.Message(at)
		if !ok {
			if err := l.loaded.Load(ctx, l.service.Store, conversation.Range{First: at, End: min(at+view.UnitPage, end)}); err != nil {
				return err
			}
			m, ok = l.loaded.Message(at)
		}
		if !ok || m.TurnAdded != last.TurnAdded {
			return nil
		}
		joins := slices.ContainsFunc(m.Parts, func(p conversation.Part) bool { return p.Result != nil && p.Result.Joins && open[p.Result.Ordinal] })
		if joins && !l.loaded.View.Hidden(conversation.Range{First: at, End: at + 1}) {
			u.Items = append(slices.Clip(u.Items), conversation.Item{Message: m, Parts: m.Parts, Beside: true})
			for i := range m.Parts {
				if r := m.Parts[i].Result; r != nil {
					delete(open, r.Ordinal)
				}
			}
		}
	}
	return nil
}

// restorable refuses a unit that was erased, that is shown in full already, or that would take too much room.
func (l *messageReader) restorable(u *conversation.Unit, index int32) error {
	full := true
	for i := range u.Items {
		m := u.Items[i].Message
		if conversation.Erased(m.Parts) {
			return l.lostError(m.Index)
		}
		full = full && l.isShownInFull(m)
	}
	switch {
	case l.last == nil:
		return conversation.Errorf(conversation.NotEdited, "no context was built yet, so that nothing has left the view")
	case full:
		return conversation.Errorf(conversation.NotEdited, "message %d is in view in full", index)
	}
	weight, room := int64(tokens.Scale(int(u.Tokens()), l.last.Factor)), l.last.Budget*maxExpansion/100
	if weight > room {
		return conversation.Errorf(conversation.ExpansionTooLarge,
			"the unit of messages %d-%d weighs %d tokens in full, and an expansion may take %d: ask with RETURN_ONLY for ranges, such as chars 0 to %d",
			u.First(), u.Last(), weight, room, max(1, l.unitChars(u)*room/max(weight, 1)))
	}
	return nil
}

// isShownInFull reports whether the view shows a message in full.
func (l *messageReader) isShownInFull(m *conversation.Message) bool {
	it, visible := l.loaded.View.Item(m)
	return visible && it.Level == conversation.Full && it.Masked == 0 && (l.inView(m) || l.isNewerThanBuild(m.Index)) && !l.isShortened(m.Index)
}

// notInFull lists the messages of a unit that the view does not show in full.
func (l *messageReader) notInFull(u *conversation.Unit) []int32 {
	var out []int32
	for i := range u.Items {
		if m := u.Items[i].Message; !l.isShownInFull(m) {
			out = append(out, m.Index)
		}
	}
	return out
}

// isShortened reports whether the last build showed only part of the message's words.
func (l *messageReader) isShortened(index int32) bool {
	if l.last == nil || index >= l.last.Window.Start {
		return false
	}
	_, cut := l.last.Window.CutOf(index, 0)
	return cut
}

// unitChars is the length of a unit's texts, in code points.
func (l *messageReader) unitChars(u *conversation.Unit) int64 {
	n := int64(0)
	for i := range u.Items {
		n += conversation.PartsChars(u.Items[i].Message.Parts)
	}
	return n
}

// isNewerThanBuild reports whether the message is newer than the last build, so that the next build shows it anyway.
func (l *messageReader) isNewerThanBuild(index int32) bool {
	return l.last != nil && index >= l.last.MessageCount
}

func erasedError(index int32) error {
	return conversation.Errorf(conversation.OriginalErased, "the original of message %d was erased, as its expiration asked for; do not retry", index)
}

// commitRestore makes the edit that restores a unit, and reports what it costs.
func (ms *Service) commitRestore(ctx context.Context, l *messageReader, u *conversation.Unit, r *ExpandRequest, out *ExpandResult) error {
	w := l.loaded
	brought := l.notInFull(u) // must come before more is loaded
	cost, before, err := l.cost(ctx, u)
	if err != nil {
		return err
	}
	c := &store.Change{Expect: w.Head.Version, Head: txn.NextHead(w.Head, ms.Txn.Now())}
	c.Head.Revision++
	for i, back := range u.Ranges() {
		e := conversation.Edit{Kind: conversation.EditRestore, Range: back, Reason: conversation.ReasonExpandRequest, Said: r.Reason}
		if i == 0 { // only the first edit has the weights, so that they count once
			e.Before, e.After = before, u.Tokens()
		}
		e.Brought = slices.DeleteFunc(slices.Clone(brought), func(index int32) bool { return !back.Contains(index) })
		txn.AddEdit(c, e)
	}
	if err := ms.Builds.HasRoom(ctx, l.loaded, l.last, c.Edits); err != nil {
		return err
	}
	out.Events, out.Revision, out.RewriteTokens = conversation.EventsOf(c.Edits), c.Head.Revision, cost
	txn.Remember(c, r.Request, store.Outcome{FirstIndex: u.First(), Count: u.Last() + 1 - u.First(), Revision: c.Head.Revision})
	return ms.Store.Commit(ctx, w.Key, c)
}

// cost is the weight that the provider must read anew when a unit comes back: the unit, and what came after its place in the last build.
// before is what the view showed of the unit.
func (l *messageReader) cost(ctx context.Context, u *conversation.Unit) (cost, before int64, err error) {
	m := l.last
	units, err := l.lastUnits(ctx)
	if err != nil {
		return 0, 0, err
	}
	cost = u.Tokens()
	lies := u.Ranges()
	for it := range conversation.Items(units) {
		switch index := it.Message.Index; {
		case index >= m.MessageCount:
		case conversation.InRanges(lies, index):
			before += it.Tokens()
		case index > u.Last() && (index >= m.Window.Start || u.First() < m.Window.Start):
			cost += it.Tokens()
		}
	}
	return cost, before, nil
}

// lastUnits lays out the current view with the window of the last build.
func (l *messageReader) lastUnits(ctx context.Context) ([]conversation.Unit, error) {
	m, win := l.last, l.loaded
	all := conversation.Kept{LeadingSystem: m.LeadingSystem, Pins: m.Pins}
	err := l.service.Views.RunPlan(ctx, win, func() error { return win.Require(win.ShownRanges(all, m.Window, m.MessageCount)...) })
	if err != nil {
		return nil, err
	}
	return win.View.Layout(win.Messages, m.Window, all), nil
}
