package messages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/drafts"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// CorrectRequest gives parts of a message new words. Either Index or MessageID is set.
type CorrectRequest struct {
	Key       store.Key
	Request   txn.Request
	Index     *int32
	MessageID string
	Parts     []CorrectedPart
	Reason    string // in the caller's words; stored with the edit
	// MaxBytes is the limit for the reply (0: no limit), and Size tells how many bytes the message takes in it.
	MaxBytes int
	Size     func(*MessageInView) int
}

// CorrectedPart says what a part says from now on.
type CorrectedPart struct {
	Part   int32
	Output conversation.OutputKind // OutputText or, for a tool result, OutputJSON
	Text   string
}

// CorrectResult is the outcome of a correction.
type CorrectResult struct {
	Message       *MessageInView // as the view shows it now or, if it does not show it, as it would
	Dissolved     []int64        // summaries that were made from the old words, and are dissolved
	Events        []conversation.Event
	Revision      int64
	RewriteTokens int64
	Duplicate     bool
}

// Correct gives parts of a message new words. The record stays as it is. Everything that is shown or made from the message from now on
// has the new words.
func (ms *Service) Correct(ctx context.Context, r CorrectRequest) (*CorrectResult, error) {
	l, err := ms.open(ctx, r.Key)
	if err != nil {
		return nil, err
	}
	index, err := l.find(ctx, r.Index, r.MessageID)
	if err != nil {
		return nil, err
	}
	return txn.Decide(ctx, ms.Txn, r.Key, func() (*CorrectResult, error) { return ms.correct(ctx, index, &r) })
}

// correct tries once.
func (ms *Service) correct(ctx context.Context, index int32, r *CorrectRequest) (*CorrectResult, error) {
	l, first, err := ms.openFor(ctx, r.Key, r.Request)
	if err != nil {
		return nil, err
	}
	m, err := l.load(ctx, index)
	if err != nil {
		return nil, err
	}
	if first != nil {
		shown, err := l.shownNow(ctx, m, r)
		return &CorrectResult{Message: shown, Revision: first.Revision, Duplicate: true}, err
	}
	c := &correction{reader: l, message: m, request: r}
	return c.commit(ctx)
}

// shownNow returns the message as the view shows it, if the answer has room for it. A message that is not in view is returned as it would be
// shown.
func (l *messageReader) shownNow(ctx context.Context, m *conversation.Message, r *CorrectRequest) (*MessageInView, error) {
	shown, err := l.show(ctx, m, true)
	if shown == nil && err == nil {
		shown, err = l.show(ctx, m, false)
	}
	if err == nil && r.MaxBytes > 0 && r.Size(shown) > r.MaxBytes {
		return nil, conversation.Errorf(conversation.ReplyTooLarge, "the corrected message exceeds the reply limit of %d bytes: raise it", r.MaxBytes)
	}
	return shown, err
}

// correction is a correction in progress.
type correction struct {
	reader  *messageReader
	message *conversation.Message // as it was before
	request *CorrectRequest
	edit    conversation.Edit
}

// maxCorrections bounds the corrections of a conversation: all of them are part of every read of its edits.
const maxCorrections = 1000

// countCorrections counts the corrections among edits. All of them are loaded with any message.
func countCorrections(edits []conversation.Edit) int {
	n := 0
	for i := range edits {
		if edits[i].Kind == conversation.EditCorrect {
			n++
		}
	}
	return n
}

// weightIn is the weight of what a view shows of a message, in tokens.
func weightIn(view *conversation.View, m *conversation.Message) int64 {
	it, shown := view.Item(view.Corrected(m))
	if !shown {
		return 0
	}
	return it.Tokens()
}

// commit makes the edit and reports what it costs.
func (b *correction) commit(ctx context.Context) (*CorrectResult, error) {
	w, ms := b.reader.loaded, b.reader.service
	if countCorrections(w.Edits) >= maxCorrections {
		return nil, conversation.Errorf(conversation.LimitExceeded, "a conversation holds at most %d corrections", maxCorrections)
	}
	if w.View.Hidden(conversation.Range{First: b.message.Index, End: b.message.Index + 1}) {
		return nil, conversation.Errorf(conversation.NotCorrectable, "message %d was taken back by a rewind: nothing shows it", b.message.Index)
	}
	parts, err := b.parts()
	if err != nil {
		return nil, err
	}
	c := &store.Change{Expect: w.Head.Version, Head: txn.NextHead(w.Head, ms.Txn.Now()), Slots: map[string][]byte{}}
	c.Head.Revision++
	c.Head.EditSeq++
	b.edit = conversation.Edit{
		Seq: c.Head.EditSeq, Kind: conversation.EditCorrect, Range: conversation.Range{First: b.message.Index, End: b.message.Index + 1},
		Parts: parts, Reason: conversation.ReasonCorrectionRequest, Turn: w.Head.Turn, Time: c.Head.UpdateTime, Commit: c.Head.Version,
		Said: b.request.Reason,
	}
	return b.change(ctx, c)
}

func (b *correction) change(ctx context.Context, c *store.Change) (*CorrectResult, error) {
	w, ms := b.reader.loaded, b.reader.service
	after := &messageReader{service: ms, loaded: w.WithEdit(b.edit), last: b.reader.last}
	b.edit.Before, b.edit.After = weightIn(w.View, b.message), weightIn(after.loaded.View, b.message)
	dissolved := summariesMissing(w.View, after.loaded.View)
	if err := b.changeSlots(c, len(dissolved) > 0); err != nil {
		return nil, err
	}
	cost, err := b.cost(ctx, dissolved)
	if err != nil {
		return nil, err
	}
	shown, err := after.shownNow(ctx, after.loaded.View.Corrected(b.message), b.request)
	if err != nil {
		return nil, err
	}
	standing := false
	defer func() {
		if !standing && len(c.Uploads) > 0 {
			ms.Txn.Discard(ctx, w.Key, w.Head.Incarnation, c.Uploads...)
		}
	}()
	if c.Edits, err = b.staged(ctx, c); err != nil {
		return nil, err
	}
	txn.AddBytes(&c.Head, txn.GivenBytes(c))
	txn.Remember(c, b.request.Request, store.Outcome{FirstIndex: b.message.Index, Count: 1, Revision: c.Head.Revision})
	err = ms.commit(ctx, w.Key, &w.Head, c)
	standing = txn.MayStand(err)
	return &CorrectResult{
		Message: shown, Dissolved: dissolved, Events: conversation.EventsOf(c.Edits), Revision: c.Head.Revision, RewriteTokens: cost,
	}, err
}

// staged returns the edits in the form to be stored, with large texts in chunks.
func (b *correction) staged(ctx context.Context, c *store.Change) ([]conversation.Edit, error) {
	edit := b.edit
	edit.Parts = slices.Clone(edit.Parts)
	for i := range edit.Parts {
		shown := conversation.CloneParts([]conversation.Part{edit.Parts[i].Shown})
		uploads, err := b.reader.service.Blobs.StageParts(ctx, b.reader.loaded.Key, b.reader.loaded.Head.Incarnation, shown)
		c.Uploads = append(c.Uploads, uploads...)
		if err != nil {
			return nil, err
		}
		edit.Parts[i].Shown = shown[0]
	}
	return []conversation.Edit{edit}, nil
}

// parts returns the corrected parts, or the reason why one cannot be corrected.
func (b *correction) parts() ([]conversation.PartEdit, error) {
	counter, err := b.reader.service.Views.Counter(b.reader.loaded.Info.Counter)
	if err != nil {
		return nil, err
	}
	weights := placement.Scale{Counter: counter}
	var out []conversation.PartEdit
	for i, asked := range b.request.Parts {
		fault := func(field, text string) error {
			return conversation.Errorf(conversation.InvalidField, "the correction does not fit the message").
				At(fmt.Sprintf("corrections[%d].%s", i, field), text)
		}
		switch same := func(p conversation.PartEdit) bool { return p.Part == asked.Part }; {
		case asked.Part < 0 || int(asked.Part) >= len(b.message.Parts):
			return nil, fault("part_index", fmt.Sprintf("the message has %d parts", len(b.message.Parts)))
		case slices.ContainsFunc(out, same):
			return nil, fault("part_index", "must be another part than those before")
		}
		if err := b.correctable(asked.Part); err != nil {
			return nil, err
		}
		part, by := b.message.Parts[asked.Part], conversation.Part{Kind: b.message.Parts[asked.Part].Kind}
		switch content := (conversation.Content{Inline: asked.Text}); {
		case strings.TrimSpace(asked.Text) == "":
			return nil, fault("text", "must not be blank")
		case part.Kind == conversation.PartToolResult:
			by.Result = &conversation.ToolResult{Output: asked.Output, Text: content}
		case asked.Output == conversation.OutputJSON:
			return nil, fault("json", "is for tool results")
		default:
			by.Text = content
		}
		weights.Part(&by)
		out = append(out, conversation.PartEdit{Part: asked.Part, Level: conversation.Full, Shown: part.Corrected(by)})
	}
	return out, nil
}

// correctable refuses a part whose words are not the caller's to change, or are a content of their own.
func (b *correction) correctable(part int32) error {
	p, index := &b.message.Parts[part], b.message.Index
	refuse := func(why string) error {
		return conversation.Errorf(conversation.NotCorrectable, "part %d of message %d cannot be corrected: %s", part, index, why)
	}
	switch {
	case p.Plugin != "":
		return refuse("a plugin added it")
	case p.Kind != conversation.PartText && p.Kind != conversation.PartToolResult:
		return refuse("it is neither a text nor a tool result")
	case conversation.Erased(b.message.Parts[part : part+1]):
		return erasedError(index)
	case p.Kind == conversation.PartToolResult && p.Result.Output == conversation.OutputParts:
		return refuse("it is a tool result of several parts")
	case b.wasCited(part):
		return refuse("it lies in a content that searches and ranges read: append a message that says what is right, or take it back and append it anew")
	case p.Kind == conversation.PartText && blankText(p.Text), p.Kind == conversation.PartToolResult && blankText(p.Result.Text):
		return refuse("it has no words")
	default:
		return nil
	}
}

func blankText(c conversation.Content) bool { return c.Ref == nil && strings.TrimSpace(c.Inline) == "" }

// wasCited reports whether a citation was ever shown for a part: its text is a content of its own then.
func (b *correction) wasCited(part int32) bool {
	return slices.ContainsFunc(b.reader.loaded.Edits, func(e conversation.Edit) bool {
		return e.Kind == conversation.EditParts && e.Range.Contains(b.message.Index) && slices.ContainsFunc(e.Parts, func(p conversation.PartEdit) bool {
			return p.Part == part && (p.Shown.Citation != nil || p.Level == conversation.Cited)
		})
	})
}

// changeSlots drops what was prepared from the old words. It also drops windows that rest on a summary which dissolves, or that cut the
// old words: the next build finds them anew.
func (b *correction) changeSlots(c *store.Change, dissolves bool) error {
	w := b.reader.loaded
	draft, _, err := drafts.Of(w)
	if err != nil {
		return err
	}
	if dissolves || slices.ContainsFunc(draft.Plan.Steps, func(s drafts.Step) bool { return s.Range.Overlaps(b.edit.Range) }) {
		if err := drafts.Drop(w, c); err != nil {
			return err
		}
	}
	return w.Slots.ForgetWindows(c, func(win *conversation.Window) bool {
		_, cut := win.CutOf(b.message.Index, 0)
		return cut || dissolves
	})
}

// cost is the weight that the provider must read anew: everything in the last build from the message on, or from the first summary that
// dissolves.
func (b *correction) cost(ctx context.Context, dissolved []int64) (int64, error) {
	if b.reader.last == nil || b.message.Index >= b.reader.last.MessageCount {
		return 0, nil
	}
	units, err := b.reader.lastUnits(ctx)
	if err != nil {
		return 0, err
	}
	cost, changed := int64(0), false
	for i := range units {
		u := &units[i]
		if s := u.Summary; s != nil {
			changed = changed || slices.Contains(dissolved, s.Summary.ID)
		}
		for j := range u.Items {
			changed = changed || u.Items[j].Message.Index == b.message.Index
		}
		if changed && u.First() < b.reader.last.MessageCount {
			cost += u.Tokens()
		}
	}
	if changed {
		cost += b.edit.After - b.edit.Before
	}
	return max(cost, 0), nil
}
