package messages

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
)

// contentsWentWithRun reports whether contents of a message were erased with their run.
func (l *messageReader) contentsWentWithRun(index int32) bool {
	return slices.ContainsFunc(l.loaded.Edits, func(e conversation.Edit) bool {
		return e.Kind == conversation.EditExpireContent && e.Reason == conversation.ReasonRunEnded && e.Range.Contains(index)
	})
}

// lostError is the error for a message whose original is gone.
func (l *messageReader) lostError(index int32) error {
	if l.contentsWentWithRun(index) {
		return contents.GoneError()
	}
	return erasedError(index)
}

// withCitations replaces contents that were erased with their run by their citations, marked as erased: the source records still
// exist.
func (l *messageReader) withCitations(index int32, parts []conversation.Part) []conversation.Part {
	if !l.contentsWentWithRun(index) {
		return parts
	}
	parts = conversation.CloneParts(parts)
	for i := range l.loaded.Edits {
		e := &l.loaded.Edits[i]
		if e.Kind != conversation.EditParts || e.Reason != conversation.ReasonOverCitationThreshold || !e.Range.Contains(index) {
			continue
		}
		for _, p := range e.Parts {
			if int(p.Part) < len(parts) && conversation.Erased(parts[p.Part:p.Part+1]) {
				parts[p.Part] = markErased(p.Shown, &parts[p.Part])
			}
		}
	}
	return parts
}

// markErased returns the citation of a part, marked with what was erased from the part.
func markErased(shown conversation.Part, of *conversation.Part) conversation.Part {
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
