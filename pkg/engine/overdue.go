package engine

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// gone says whether a message had contents that went with their run.
func (l *listing) gone(index int32) bool {
	return slices.ContainsFunc(l.window.Edits, func(e conversation.Edit) bool {
		return e.Kind == conversation.EditExpireContent && e.Reason == conversation.ReasonRunEnded && e.Range.Contains(index)
	})
}

// lost is the error of a message whose original is not there any more.
func (l *listing) lost(index int32) error {
	if l.gone(index) {
		return contents.Gone()
	}
	return erasedError(index)
}

// withCitations puts in the place of contents that went with their run what cites them, marked as erased: their source records stay.
func (l *listing) withCitations(index int32, parts []conversation.Part) []conversation.Part {
	if !l.gone(index) {
		return parts
	}
	parts = conversation.CloneParts(parts)
	for i := range l.window.Edits {
		e := &l.window.Edits[i]
		if e.Kind != conversation.EditParts || e.Reason != conversation.ReasonOverCitationThreshold || !e.Range.Contains(index) {
			continue
		}
		for _, p := range e.Parts {
			if int(p.Part) < len(parts) && conversation.Erased(parts[p.Part:p.Part+1]) {
				parts[p.Part] = marked(p.Shown, &parts[p.Part])
			}
		}
	}
	return parts
}

// marked is what cites a part, marked with what was erased of it.
func marked(shown conversation.Part, of *conversation.Part) conversation.Part {
	erased := &conversation.ErasedContent{}
	for _, c := range conversation.Contents([]conversation.Part{*of}) {
		if c.Erased != nil {
			erased.Bytes, erased.Chars = erased.Bytes+c.Erased.Bytes, erased.Chars+c.Erased.Chars
		}
	}
	out := conversation.CloneParts([]conversation.Part{shown})
	for _, c := range conversation.Contents(out) {
		c.Erased = erased
		break
	}
	return out[0]
}
