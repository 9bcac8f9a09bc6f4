package transfer

import (
	"context"
	"math"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

func (im *importer) edit(ctx context.Context, e *conversation.Edit) error {
	h := &im.head
	if e.Seq != im.editSeq+1 || e.Range.First < 0 || e.Range.End > h.Messages || !hasAllItsKindNeeds(e) || !im.sources.noteNames(e) ||
		e.Commit < im.commits.edit || e.Commit > im.from.Head.Version {
		return invalid("edit %d does not fit the record", e.Seq)
	}
	if err := im.rewinds.follow(e); err != nil {
		return err
	}
	im.editSeq++
	im.commits.edit = e.Commit
	if err := im.count(ctx, &store.Change{Edits: []conversation.Edit{*e}}); err != nil {
		return err
	}
	for i := range e.Parts {
		parts := []conversation.Part{e.Parts[i].Shown}
		uploads, err := im.service.Blobs.StageParts(ctx, im.key, im.incarnation, parts)
		if err != nil {
			return err
		}
		e.Parts[i].Shown = parts[0]
		im.uploads = append(im.uploads, uploads...)
	}
	edits, uploads, err := im.service.Blobs.StageSummaries(ctx, im.key, im.incarnation, []conversation.Edit{*e})
	if err != nil {
		return err
	}
	im.uploads = append(im.uploads, uploads...)
	return im.service.Store.Stage(ctx, im.key, &store.Upload{Incarnation: im.incarnation, Time: im.service.Txn.Now(), Edits: edits})
}

// hasAllItsKindNeeds reports whether an edit has everything that its kind needs.
func hasAllItsKindNeeds(e *conversation.Edit) bool {
	about := e.Kind == conversation.EditStoreContent || e.Kind == conversation.EditExpireContent
	if about != (e.Content != "") || e.Range.Len() < 0 || e.Range.Len() == 0 && !about {
		return false
	}
	switch e.Kind {
	case conversation.EditStoreContent, conversation.EditExpireContent:
		return e.Range.Len() <= 1 && len(e.Parts)+len(e.Mask) == 0
	case conversation.EditParts, conversation.EditMask:
		return e.Range.Len() == 1
	case conversation.EditCorrect:
		return e.Range.Len() == 1 && isSoundCorrection(e)
	case conversation.EditReturn:
		return e.Range.Len() == 1 && len(e.Parts) == 0 && e.Summary == nil
	case conversation.EditRecall:
		return e.Range.Len() == 1 && showsOnlyMemories(e)
	case conversation.EditSummarize:
		return e.Summary != nil && decodesFacts(e.Summary)
	case conversation.EditRemove, conversation.EditRestore, conversation.EditHide, conversation.EditUnhide, conversation.EditTakeOut,
		conversation.EditPutBack:
		return true
	default:
		return false
	}
}

// isSoundCorrection reports whether a correction has words for each of its parts, and nothing else.
func isSoundCorrection(e *conversation.Edit) bool {
	return len(e.Parts) > 0 && len(e.Mask) == 0 && e.Summary == nil && !slices.ContainsFunc(e.Parts, func(p conversation.PartEdit) bool {
		text := p.Shown.Kind == conversation.PartText
		output := p.Shown.Kind == conversation.PartToolResult && p.Shown.Result != nil && p.Shown.Result.Output != conversation.OutputParts
		return p.Level != conversation.Full || p.Part < 0 || p.Shown.Citation != nil || !text && !output
	})
}

// showsOnlyMemories reports whether an edit only shows memories, as a build would, or takes them away.
func showsOnlyMemories(e *conversation.Edit) bool {
	if len(e.Parts) == 0 {
		return len(e.Mask) == 0 && e.Summary == nil
	}
	p := &e.Parts[0]
	return len(e.Parts) == 1 && p.Part == conversation.RecalledPart && p.Level == conversation.Full && p.Shown.Kind == conversation.PartText &&
		p.Shown.Recalled != nil && p.Shown.Text.Inline == memory.Block(p.Shown.Recalled.Memories) && len(e.Mask) == 0 && e.Summary == nil
}

// decodesFacts reports whether the facts of an imported summary are valid for its successor. It converts them from JSON, which exports hold,
// to the stored form.
func decodesFacts(s *conversation.Summary) bool {
	if s.Facts.Inline == "" {
		return true
	}
	k, err := record.DecodeFacts([]byte(s.Facts.Inline))
	if err != nil || k.Body < 0 || k.Body > len(s.Text.Inline) || k.Dropped < 0 || k.Dropped > math.MaxInt32 {
		return false
	}
	s.Facts.Inline = string(record.EncodeFacts(&k))
	return true
}
