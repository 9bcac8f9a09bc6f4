// Package copies finds the texts that a view names in place of lines, and does not show (behaviour §21).
package copies

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
)

// Missing are the messages of a composition that name copies which it does not show.
func Missing(out *view.Composition) []int32 {
	named := make(map[int32]*conversation.Item)
	for it := range conversation.Items(out.Units) {
		for _, c := range it.Copies {
			named[c.Message] = nil
		}
	}
	if len(named) == 0 {
		return nil
	}
	for i := range out.Units {
		if IsCut(out, i) {
			continue
		}
		for j := range out.Units[i].Items {
			it := &out.Units[i].Items[j]
			if _, ok := named[it.Message.Index]; ok {
				named[it.Message.Index] = together(named[it.Message.Index], it)
			}
		}
	}
	var back []int32
	for it := range conversation.Items(out.Units) {
		if it.Missing(named) && !slices.Contains(back, it.Message.Index) {
			back = append(back, it.Message.Index)
		}
	}
	return back
}

// together is an item with what another unit shows of its message.
func together(other, it *conversation.Item) *conversation.Item {
	if other != nil && it.Of != nil && len(other.Parts)+len(it.Parts) == len(it.Of.Parts) {
		return it.Of
	}
	return it
}

// IsCut says whether a window shows a part of a unit, or whether it is a summary.
func IsCut(out *view.Composition, i int) bool {
	u := &out.Units[i]
	return u.Summary != nil || u.First() < out.Window.Start && !view.CutOf(&out.Window, u).Leaves()
}

// Gains are what units of the tail gain if the window starts behind copies that they name, or further on at all, where copies lapse by that.
func Gains(out *view.Composition, kept conversation.Kept, lapses func(message int32) bool) []compaction.Return {
	var gains []compaction.Return
	for i := out.Tail; i < len(out.Units); i++ {
		u := &out.Units[i]
		for j := range u.Items {
			it := &u.Items[j]
			needs := int32(-1)
			for _, c := range it.Copies {
				at := c.Message
				if at < out.Window.Start && lapses(at) {
					at = out.Window.Start
				}
				if at >= out.Window.Start && c.Message < u.First() && !kept.IsPinned(c.Message) && (needs < 0 || at < needs) {
					needs = at
				}
			}
			if needs >= 0 {
				whole := it.Returned()
				gains = append(gains, compaction.Return{Unit: u.First(), Needs: needs, Tokens: whole.Tokens() - it.Tokens()})
			}
		}
	}
	return gains
}
