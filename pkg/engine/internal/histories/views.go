package histories

import (
	"context"
	"iter"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/history"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Bounds on the search for a view: how many of the last builds are read, and how many different views are compared.
const (
	maxBuilds = 256
	maxViews  = 16
)

// shownViews yields, newest first, the record as builds have shown it, for each build that left out or replaced something.
func (f *Finder) shownViews(ctx context.Context, w *view.Loaded, entries []history.Entry) iter.Seq2[[]history.Entry, error] {
	return func(yield func([]history.Entry, error) bool) {
		snap, err := f.store.Read(ctx, w.Key, store.Query{Incarnation: w.Head.Incarnation, Manifest: &store.ManifestRange{Limit: maxBuilds}})
		if err != nil {
			yield(nil, txn.Failure(err))
			return
		}
		var seen []conversation.Manifest
		for i := range snap.Manifests {
			m := &snap.Manifests[i]
			if slices.ContainsFunc(seen, func(o conversation.Manifest) bool { return showAlike(w, m, &o) }) {
				continue
			}
			if seen = append(seen, *m); len(seen) > maxViews {
				return
			}
			units, err := f.views.Layout(ctx, w, m)
			if !yield(tapeOf(units, entries, m.Window.Start), err) || err != nil {
				return
			}
		}
	}
}

// showAlike reports whether two builds left out and replaced the same before their tails.
func showAlike(w *view.Loaded, a, b *conversation.Manifest) bool {
	between := func(e conversation.Edit) bool {
		return e.Seq > min(a.EditSeq, b.EditSeq) && e.Seq <= max(a.EditSeq, b.EditSeq) &&
			(store.AboutRange(e.Kind) || e.Kind == conversation.EditRemove && e.Range.First < a.Window.Start)
	}
	return a.Window.Equal(&b.Window) && a.Window.Afresh == b.Window.Afresh && a.LeadingSystem == b.LeadingSystem && slices.Equal(a.Pins, b.Pins) &&
		!slices.ContainsFunc(w.Edits, between)
}

// tapeOf returns a view extended to the end of the record: what the build showed before its tail, and the whole tail, in
// any form.
func tapeOf(units []conversation.Unit, entries []history.Entry, start int32) []history.Entry {
	var out []history.Entry
	shown, beside := map[int32][]int32{}, map[int32][]history.Entry{} // parts by message, and entries behind it
	for i := range units {
		u := &units[i]
		if u.Summary != nil {
			out = append(out, summaryEntry(u.Summary))
		}
		for j := range u.Items {
			it := &u.Items[j]
			e, ok := entryAt(entries, it.Message.Index)
			if !ok || u.First() >= start && !it.Beside {
				continue
			}
			held := heldBy(it, len(e.Parts))
			shown[e.Index] = append(shown[e.Index], held...)
			if e = ofParts(e, held); u.First() < start {
				out = append(out, withShown(e, it))
			} else {
				beside[u.Last()] = append(beside[u.Last()], e)
			}
		}
	}
	for i := range entries {
		e := &entries[i]
		if e.Index < start || isSummarized(units, e.Index) {
			continue
		}
		if left := otherParts(shown[e.Index], len(e.Parts)); len(left) > 0 || len(e.Parts) == 0 {
			out = append(out, ofParts(*e, left))
		}
		out = append(out, beside[e.Index]...)
	}
	return out
}

// heldBy returns those of a message's parts that belong to an item's unit.
func heldBy(it *conversation.Item, parts int) []int32 {
	var out []int32
	for i := range int32(parts) {
		if it.Holds(i) {
			out = append(out, i)
		}
	}
	return out
}

// otherParts returns the numbers of the parts that are not in some.
func otherParts(some []int32, parts int) []int32 {
	var out []int32
	for i := range int32(parts) {
		if !slices.Contains(some, i) {
			out = append(out, i)
		}
	}
	return out
}

// ofParts returns an entry with only the given parts.
func ofParts(e history.Entry, parts []int32) history.Entry {
	if len(parts) == len(e.Parts) {
		return e
	}
	all := e.Parts
	e.Parts = nil
	for _, i := range parts {
		e.Parts = append(e.Parts, all[i])
	}
	return e
}

func isSummarized(units []conversation.Unit, index int32) bool {
	return slices.ContainsFunc(units, func(u conversation.Unit) bool {
		return u.Summary != nil && u.Summary.Range.Contains(index) && u.Summary.Summary.Covers(index)
	})
}

func entryAt(entries []history.Entry, index int32) (history.Entry, bool) {
	i, ok := slices.BinarySearchFunc(entries, index, func(e history.Entry, index int32) int { return int(e.Index - index) })
	if !ok {
		return history.Entry{}, false
	}
	return entries[i], true
}

// withShown adds to an entry the form in which a window cut it: as one text.
func withShown(e history.Entry, it *conversation.Item) history.Entry {
	if len(it.Parts) != 1 || it.Parts[0].Kind != conversation.PartText || len(e.Parts) == 0 {
		return e
	}
	e.Parts = slices.Clone(e.Parts)
	first := &e.Parts[0]
	first.Forms = append(slices.Clip(first.Forms), it.Parts[0])
	for i := 1; i < len(e.Parts); i++ {
		e.Parts[i].Absent = true
	}
	return e
}

func summaryEntry(e *conversation.Edit) history.Entry {
	shown := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: provider.SummaryHeader(e) + e.Summary.Text.Inline}}
	return history.Entry{Index: -1, Role: conversation.RoleAssistant, Parts: []history.Part{{Forms: []conversation.Part{shown}}}}
}
