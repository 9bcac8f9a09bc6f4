package appends

import (
	"context"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Limits on the bytes of a result that are shown as images: the number and the size of images that every provider accepts.
const (
	maxImages     = 20
	maxImageBytes = 3_750_000 // 5 MB of base64
)

// findEmbedded finds the texts of an append that hold base64 bytes, and what the view shows for them (behaviour §9).
func (a *attempt) findEmbedded(ctx context.Context, r *recallDetection, first int32, scale placement.Scale) (map[blockAt]conversation.Part, error) {
	out := map[blockAt]conversation.Part{}
	for i := range a.request.Messages {
		m := &a.request.Messages[i]
		if m.Pinned || m.Role == conversation.RoleSystem {
			continue
		}
		var err error
		if scale.Media, err = a.service.Catalogues.MediaTokens(ctx, a.request.Key.Namespace, m.Model); err != nil {
			return nil, err
		}
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Plugin == "" && !r.neverCites(blockAt{i, j}) {
				if shown, ok := withoutBytes(p, conversation.ExpandCall(first+int32(i)), scale); ok {
					out[blockAt{i, j}] = shown
				}
			}
		}
	}
	return out, nil
}

// withoutBytes returns what the view shows for a part that holds base64 bytes: the words of a result with images next to them, or the words
// alone if the images would make it weigh as much as the recorded part. It is false if the part stays as it is.
func withoutBytes(p *conversation.Part, recall string, scale placement.Scale) (conversation.Part, bool) {
	var shown conversation.Part
	switch p.Kind {
	case conversation.PartText:
		text, found := content.WithoutBase64(p.Text.Inline, recall)
		if len(found) == 0 {
			return shown, false
		}
		shown = conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: text}}
	case conversation.PartToolResult:
		result, images := resultWithoutBytes(p.Result, recall)
		if result == nil {
			return shown, false
		}
		shown = conversation.Part{Kind: conversation.PartToolResult, Result: withImages(result, images)}
		if scale.Part(&shown); shown.Tokens >= p.Tokens {
			shown.Result = result
		}
	default:
		return shown, false
	}
	scale.Part(&shown)
	return shown, shown.Tokens < p.Tokens
}

// resultWithoutBytes returns a result with a line in place of each run of bytes, and the bytes that are images. It is nil if the result
// holds no bytes.
func resultWithoutBytes(r *conversation.ToolResult, recall string) (*conversation.ToolResult, []*conversation.Media) {
	out, images, holds := *r, []*conversation.Media(nil), false
	out.Parts = slices.Clone(r.Parts)
	replace := func(c *conversation.Content) {
		text, found := content.WithoutBase64(c.Inline, recall)
		for i := range found {
			if b := &found[i]; provider.IsImage(b.Type) && len(b.Data) <= maxImageBytes && len(images) < maxImages {
				images = append(images, &conversation.Media{MIMEType: b.Type, Data: conversation.Content{Inline: b.Data}})
			}
		}
		c.Inline, holds = text, holds || len(found) > 0
	}
	replace(&out.Text)
	for i := range out.Parts {
		replace(&out.Parts[i].Text)
	}
	if !holds {
		return nil, nil
	}
	out.Unknown = "" // Unknown belongs to the original alone
	return &out, images
}

// withImages returns a result with images behind its words.
func withImages(r *conversation.ToolResult, images []*conversation.Media) *conversation.ToolResult {
	if len(images) == 0 {
		return r
	}
	out := *r
	if out.Parts = slices.Clone(r.Parts); r.Output != conversation.OutputParts {
		out.Output, out.Text = conversation.OutputParts, conversation.Content{}
		out.Parts = []conversation.ResultPart{{Text: r.Text}}
	}
	for _, m := range images {
		out.Parts = append(out.Parts, conversation.ResultPart{Media: m})
	}
	return &out
}

// wordsOf returns the words of a text or of a result.
func wordsOf(p *conversation.Part) string {
	if p.Result != nil {
		return p.Result.Words()
	}
	return p.Text.Inline
}

// replaceBytes adds the edits that show lines and images in place of bytes. Cited parts have edits of their own.
func (a *attempt) replaceBytes(ctx context.Context, c *store.Change) error {
	for _, x := range a.cited.parts {
		delete(a.embedded, x.blockAt)
	}
	for i := range a.staging.messages {
		m := &a.staging.messages[i]
		e := conversation.Edit{Kind: conversation.EditParts, Range: conversation.Range{First: m.Index, End: m.Index + 1}, Reason: conversation.ReasonBytesReplaced}
		for j := range m.Parts {
			shown, ok := a.embedded[blockAt{i, j}]
			if !ok {
				continue
			}
			if r := m.Parts[j].Result; r != nil { // the ordinal of the call it answers is known now that the message has its place
				shown.Result.Ordinal = r.Ordinal
			}
			shown, err := a.staging.stageShown(ctx, shown)
			if err != nil {
				return err
			}
			e.Before, e.After = e.Before+int64(m.Parts[j].Tokens), e.After+int64(shown.Tokens)
			e.Parts = append(e.Parts, conversation.PartEdit{Part: int32(j), Level: conversation.Shortened, Shown: shown})
		}
		if len(e.Parts) > 0 {
			txn.AddEdit(c, e)
		}
	}
	c.Uploads = a.staging.uploads
	return nil
}

// stageShown moves large contents of what is shown into chunks. Chunks staged by an earlier try are used again.
func (s *staging) stageShown(ctx context.Context, shown conversation.Part) (conversation.Part, error) {
	parts := []conversation.Part{shown}
	if s.dry || !contents.Large(parts) {
		return shown, nil
	}
	parts = conversation.CloneParts(parts)
	for _, c := range conversation.Contents(parts) {
		if ref, ok := s.shown[c.Inline]; ok {
			*c = conversation.Content{Ref: ref}
		}
	}
	before := conversation.CloneParts(parts)
	uploads, err := s.service.Blobs.StageParts(ctx, s.key, s.incarnation, parts)
	s.uploads = append(s.uploads, uploads...)
	after := conversation.Contents(parts)
	for i, c := range conversation.Contents(before) {
		if ref := after[i].Ref; ref != nil && c.Ref == nil {
			if s.shown == nil {
				s.shown = map[string]*conversation.ContentRef{}
			}
			s.shown[c.Inline] = ref
		}
	}
	return parts[0], err
}
