package appends

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Of the images in a result's base64, so many are shown, up to a size: Anthropic takes no image of more than 5 MiB of base64. Beside the
// others stands their line alone.
const (
	maxShownImages     = 10
	maxShownImageBytes = 5 << 20 / 4 * 3
)

// encodedPart is a part with base64 in its texts, which is not shown as text (behaviour §9).
type encodedPart struct {
	blockAt
	texts []encodedText // a result's, or the part's own
	media int32         // what an image of it weighs
}

type encodedText struct {
	text string
	runs []content.Base64
}

// encoded finds base64 in what a tool or an action gave; nil if there is none, or if it is asked for as it is.
func (a *attempt) encoded(r *recallDetection, at blockAt) *encodedPart {
	m := &a.request.Messages[at.message]
	p, e := &m.Parts[at.part], &encodedPart{blockAt: at}
	switch {
	case m.Pinned || p.Plugin != "" || r.excepts(at):
		return nil
	case p.Kind == conversation.PartToolResult:
		for _, text := range p.Result.Texts() {
			e.texts = append(e.texts, findEncoded(text))
		}
	case isAction(m) && p.Kind == conversation.PartText:
		e.texts = []encodedText{findEncoded(p.Text.Inline)}
	}
	if !slices.ContainsFunc(e.texts, func(t encodedText) bool { return len(t.runs) > 0 }) {
		return nil
	}
	return e
}

// findEncoded finds base64 in a text. What it begins with says of most bytes what they are.
func findEncoded(text string) encodedText {
	t := encodedText{text, content.FindBase64(text)}
	for i := range t.runs {
		if mime, _, _ := strings.Cut(http.DetectContentType(t.runs[i].Data), ";"); mime != "application/octet-stream" || t.runs[i].MIMEType == "" {
			t.runs[i].MIMEType = mime
		}
	}
	return t
}

// isAction says whether a user's message is what an action gave.
func isAction(m *conversation.Message) bool {
	return m.Role == conversation.RoleUser && (m.Type == conversation.TypeActionResult || m.Type == conversation.TypeSubAgentResult)
}

// chars is how long the part is without its base64.
func (e *encodedPart) chars() (n int) {
	for _, t := range e.texts {
		n += utf8.RuneCountInString(t.without(""))
	}
	return n
}

// without is a text with a line in the place of each run.
func (t *encodedText) without(more string) string {
	var b strings.Builder
	at := 0
	for i := range t.runs {
		b.WriteString(t.text[at:t.runs[i].Start])
		b.WriteString(t.runs[i].Line(more))
		at = t.runs[i].End
	}
	b.WriteString(t.text[at:])
	return b.String()
}

// images are those of the part that are shown as images, each behind the text that it stands in.
func (t *encodedText) images() (out []conversation.Media) {
	for _, r := range t.runs {
		if provider.IsImage(r.MIMEType) && len(r.Data) <= maxShownImageBytes {
			out = append(out, conversation.Media{MIMEType: r.MIMEType, Data: conversation.Content{Inline: string(r.Data)}})
		}
	}
	return out
}

// weighMedia finds out what images of messages weigh.
func (a *attempt) weighMedia(ctx context.Context, c *citationPlan) error {
	for i := range c.encoded {
		n, err := a.service.Catalogues.MediaTokens(ctx, a.request.Key.Namespace, a.request.Messages[c.encoded[i].message].Model)
		if err != nil {
			return err
		}
		c.encoded[i].media = n
	}
	return nil
}

// leaveOut adds to an append the edits that show lines, and images, for base64.
func (a *attempt) leaveOut(ctx context.Context, c *store.Change) error {
	for i := range a.cited.encoded {
		e := &a.cited.encoded[i]
		m := &a.staged[e.message]
		p := &m.Parts[e.part]
		shown, more := conversation.Part{Kind: conversation.PartText}, " Full text: "+p.Result.Recall(m.Index)
		if p.Kind == conversation.PartText {
			shown.Text.Inline = e.texts[0].without(more)
		} else {
			shown = e.result(p.Result, more)
		}
		placement.Scale{Counter: a.cited.counter.Counter, Media: e.media}.Part(&shown)
		if err := a.stageImages(ctx, e.blockAt, &shown); err != nil {
			return err
		}
		txn.AddEdit(c, conversation.Edit{
			Kind: conversation.EditParts, Range: conversation.Range{First: m.Index, End: m.Index + 1}, Reason: conversation.ReasonBytesInText,
			Parts:  []conversation.PartEdit{{Part: int32(e.part), Level: conversation.Shortened, Shown: shown}},
			Before: int64(p.Tokens), After: int64(shown.Tokens),
		})
	}
	c.Uploads = a.uploads
	return nil
}

// stageImages moves large images out to chunks, once over the attempts of an append. A dry run leaves them where they are.
func (a *attempt) stageImages(ctx context.Context, at blockAt, p *conversation.Part) error {
	if a.dry || p.Result == nil {
		return nil
	}
	images := conversation.Contents([]conversation.Part{*p})
	if a.images[at] == nil {
		uploads, err := a.service.Blobs.StageParts(ctx, a.request.Key, a.stagedFor, []conversation.Part{*p})
		a.uploads = append(a.uploads, uploads...)
		if err != nil {
			return err
		}
		if a.images == nil {
			a.images = map[blockAt][]conversation.Content{}
		}
		for _, c := range images {
			a.images[at] = append(a.images[at], *c)
		}
	}
	for i, c := range images {
		if staged := a.images[at][i]; staged.Ref != nil {
			*c = staged
		}
	}
	return nil
}

// result is a result with lines and images for its base64.
func (e *encodedPart) result(r *conversation.ToolResult, more string) conversation.Part {
	shown := *r
	pieces := r.Parts
	if r.Output != conversation.OutputParts {
		pieces = []conversation.ResultPart{{Text: r.Text}}
	}
	shown.Parts = nil
	next, images := 0, 0
	for _, p := range pieces {
		if p.Media != nil {
			shown.Parts = append(shown.Parts, p)
			continue
		}
		t := &e.texts[next]
		next++
		shown.Parts = append(shown.Parts, conversation.ResultPart{Text: conversation.Content{Inline: t.without(more)}})
		for _, image := range t.images() {
			if images++; images <= maxShownImages {
				shown.Parts = append(shown.Parts, conversation.ResultPart{Media: &image})
			}
		}
	}
	if r.Output != conversation.OutputParts && images == 0 { // text stays text, and JSON JSON
		shown.Text, shown.Parts = shown.Parts[0].Text, nil
	} else {
		shown.Output, shown.Text = conversation.OutputParts, conversation.Content{}
	}
	return conversation.Part{Kind: conversation.PartToolResult, Result: &shown}
}
