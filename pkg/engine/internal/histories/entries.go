package histories

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/history"
)

// entriesOf are the messages from an index on that stand, in every way in which builds may have shown them.
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
			case e.Kind == conversation.EditRemove: // a unit goes as one
				out[n].Gone = units[index]
			default:
				show(&out[n], e)
			}
		}
	}
	return out
}

// unitNumber is a number that the messages of a unit share, above 0.
func unitNumber(m *conversation.Message) int32 {
	first, _ := m.UnitFirst()
	return first + 1
}

// entryOf is a message in its two variants.
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

// show adds the form that an edit gave a message.
func show(e *history.Entry, by *conversation.Edit) {
	switch by.Kind {
	case conversation.EditMask:
		for _, i := range by.Mask {
			own(e)[i].Absent = true
		}
	case conversation.EditRecall:
		for i := range by.Parts {
			e.Parts = append([]history.Part{{Forms: []conversation.Part{by.Parts[i].Shown}, Absent: true}}, e.Parts...)
		}
	default:
		for i := range by.Parts {
			showPart(&own(e)[by.Parts[i].Part], &by.Parts[i].Shown, by.Kind)
		}
	}
}

// own are the parts of the message itself, behind blocks of recalled memories.
func own(e *history.Entry) []history.Part {
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
