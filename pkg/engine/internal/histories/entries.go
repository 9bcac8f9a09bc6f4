package histories

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/history"
)

// entriesOf returns the messages from an index on that were not taken back, in all forms in which builds may have shown
// them.
func entriesOf(w *view.Loaded, from int32) []history.Entry {
	out := make([]history.Entry, 0, len(w.Messages))
	at, units := make(map[int32]int, len(w.Messages)), make(map[int32]int32, len(w.Messages))
	for i := range w.Messages {
		m := w.Original(&w.Messages[i])
		if m.Index < from || w.View.Hidden(conversation.Range{First: m.Index, End: m.Index + 1}) {
			continue
		}
		at[m.Index], units[m.Index] = len(out), unitNumber(m)
		e := entryOf(m)
		e.TakenOut = w.View.IsLacked(m.Index)
		out = append(out, e)
	}
	for i := range w.Edits {
		e := &w.Edits[i]
		for index := e.Range.First; index < e.Range.End && perMessage(e.Kind); index++ {
			switch n, ok := at[index]; {
			case !ok:
			case e.Kind == conversation.EditRemove: // all messages of a unit are removed together
				out[n].Gone = units[index]
			default:
				addForm(&out[n], e)
			}
		}
	}
	return out
}

// unitNumber returns a positive number that the messages of a unit share.
func unitNumber(m *conversation.Message) int32 {
	first, _ := m.UnitFirst()
	return first + 1
}

// entryOf returns a message in its two variants.
func entryOf(m *conversation.Message) history.Entry {
	e := history.EntryOf(m)
	for i := range m.Parts {
		e.Parts[i].Absent = m.Parts[i].Variant != conversation.BothVariants
	}
	return e
}

func perMessage(k conversation.EditKind) bool {
	switch k {
	case conversation.EditParts, conversation.EditRemove, conversation.EditMask, conversation.EditCorrect, conversation.EditRecall:
		return true
	default:
		return false
	}
}

// addForm adds the form in which an edit shows the message.
func addForm(e *history.Entry, by *conversation.Edit) {
	switch by.Kind {
	case conversation.EditMask:
		for _, i := range by.Mask {
			ownParts(e)[i].Absent = true
		}
	case conversation.EditRecall:
		for i := range by.Parts {
			e.Parts = append([]history.Part{{Forms: []conversation.Part{by.Parts[i].Shown}, Absent: true}}, e.Parts...)
		}
	default:
		for i := range by.Parts {
			showPart(&ownParts(e)[by.Parts[i].Part], &by.Parts[i].Shown, by.Kind)
		}
	}
}

// ownParts returns the parts that belong to the message itself, behind the blocks of recalled memories.
func ownParts(e *history.Entry) []history.Part {
	n := 0
	for n < len(e.Parts) && e.Parts[n].Forms[0].Recalled != nil {
		n++
	}
	return e.Parts[n:]
}

func showPart(p *history.Part, shown *conversation.Part, kind conversation.EditKind) {
	switch {
	case shown.Kind == conversation.PartUnspecified:
		p.Absent = true
	case kind == conversation.EditCorrect:
		p.Forms = append(p.Forms, p.Forms[0].Corrected(*shown))
	default:
		p.Forms = append(p.Forms, *shown)
	}
}
