package messages

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/builds"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// listPage is how many messages are read at a time, and scanPages how many such pages one listing reads, so that a filter that
// matches little ends a page early instead of scanning everything.
const (
	listPage  = 128
	scanPages = 64
)

// Message returns one message as it was appended, with its place in the view.
func (ms *Service) Message(ctx context.Context, key store.Key, index int32) (*MessageInView, error) {
	l, err := ms.open(ctx, key)
	if err != nil {
		return nil, err
	}
	if index, err = l.find(ctx, &index, ""); err != nil {
		return nil, err
	}
	m, err := l.load(ctx, index)
	if err != nil {
		return nil, err
	}
	return l.show(ctx, l.loaded.Original(m), false)
}

// messageReader reads messages together with their place in the view of the last build.
type messageReader struct {
	service *Service
	loaded  *view.Loaded
	last    *conversation.Manifest // nil before the first build
}

func (ms *Service) open(ctx context.Context, key store.Key) (*messageReader, error) {
	snap, err := ms.Contents.ReadSettled(ctx, key, store.Query{Info: true, Manifest: &store.ManifestRange{Limit: 1}})
	if err != nil {
		return nil, err
	}
	return ms.readerOf(key, snap), nil
}

// openFor opens a conversation for a request that changes it. It also returns the outcome if the request was answered before; nil if
// it was not.
func (ms *Service) openFor(ctx context.Context, key store.Key, r txn.Request) (*messageReader, *store.Outcome, error) {
	snap, first, err := ms.Txn.ReadFor(ctx, key, r, store.Query{Info: true, Manifest: &store.ManifestRange{Limit: 1}, SlotsOf: view.BuildSlots})
	if err != nil {
		return nil, nil, err
	}
	return ms.readerOf(key, snap), first, nil
}

// readerOf makes a reader from a snapshot that holds the newest manifest.
func (ms *Service) readerOf(key store.Key, snap *store.Snapshot) *messageReader {
	l := &messageReader{service: ms, loaded: view.New(key, snap)}
	if len(snap.Manifests) > 0 {
		l.last = &snap.Manifests[0]
	}
	return l
}

// show describes a message. Its parts are the recorded ones or, with current, those that the view shows. It returns nil if current
// is set and the view does not show the message.
func (l *messageReader) show(ctx context.Context, m *conversation.Message, current bool) (*MessageInView, error) {
	it, visible := l.loaded.View.Item(l.loaded.View.Corrected(m))
	if current && !visible {
		return nil, nil
	}
	out := &MessageInView{
		Message: *m, Level: l.loaded.View.Level(m.Index), EditSeq: it.EditSeq, EditTime: l.timeOfEdit(it.EditSeq),
		Chars: conversation.PartsChars(m.Parts), Saved: it.Saved + it.Masked + it.Unseen, Expired: it.Level > conversation.Full && it.Reason.Expired(),
		InView:   l.inView(m),
		Hidden:   l.loaded.View.Hidden(conversation.Range{First: m.Index, End: m.Index + 1}),
		TakenOut: l.loaded.View.IsLacked(m.Index),
	}
	out.Expandable = !conversation.Erased(m.Parts) && !out.Hidden && (!visible || it.Level > conversation.Full || it.Masked > 0)
	if s := l.loaded.View.SummaryOf(m.Index); s != nil && !out.Hidden {
		out.Summary = s.Summary.ID
	}
	if out.Level == conversation.Removed {
		out.Saved = int64(m.Tokens)
	}
	out.Message.Parts = l.withCitations(m.Index, m.Parts)
	if current {
		out.Message.Parts = it.Parts
	}
	var err error
	out.Message.Parts, err = l.service.Blobs.Inline(ctx, l.loaded.Key, l.loaded.Head.Incarnation, out.Message.Parts)
	expiry.ShowInForce(&out.Message, l.loaded.Info.Policy.Or(l.service.Defaults).Expiration.Results)
	return out, err
}

// read reads messages as they are recorded, without edits.
func (l *messageReader) read(ctx context.Context, r store.MessageRange) ([]conversation.Message, error) {
	snap, err := l.service.Store.Read(ctx, l.loaded.Key, store.Query{Incarnation: l.loaded.Head.Incarnation, Ranges: []store.MessageRange{r}})
	if err != nil {
		return nil, txn.Failure(err)
	}
	return snap.Messages, nil
}

func (l *messageReader) timeOfEdit(seq int64) time.Time {
	for i := range l.loaded.Edits {
		if l.loaded.Edits[i].Seq == seq {
			return l.loaded.Edits[i].Time
		}
	}
	return time.Time{}
}

// inView reports whether the last committed build showed the message.
func (l *messageReader) inView(m *conversation.Message) bool {
	last := l.last
	return last != nil && m.Index < last.MessageCount &&
		l.loaded.View.Shows(l.loaded.View.Corrected(m), last.Window, conversation.Kept{LeadingSystem: last.LeadingSystem, Pins: last.Pins})
}

// Messages lists the messages of a range. A page ends at the limit, at MaxBytes, or after a bounded amount of scanning.
func (ms *Service) Messages(ctx context.Context, r MessagesRequest) (*MessagesResult, error) {
	l, err := ms.open(ctx, r.Key)
	if err != nil {
		return nil, err
	}
	p := &listingPage{reader: l, request: &r, left: clip(r.Range, l.loaded.Head.Messages), result: &MessagesResult{}}
	p.resume()
	if r.Current && r.Filter.empty() {
		if err := p.findSummaries(ctx); err != nil {
			return nil, err
		}
	}
	for range scanPages {
		if p.left.Len() <= 0 {
			break
		}
		if done, err := p.page(ctx); err != nil || done {
			return p.result, errors.Join(err, p.addSummaries(ctx))
		}
	}
	if p.left.Len() > 0 {
		p.stop(p.next())
	}
	return p.result, p.addSummaries(ctx)
}

// clip cuts a range to the recorded messages. An end below 0 means the end of the record.
func clip(r conversation.Range, messages int32) conversation.Range {
	if r.End < 0 || r.End > messages {
		r.End = messages
	}
	r.First = max(r.First, 0)
	return r
}

// listingPage is one page of a listing in progress.
type listingPage struct {
	reader  *messageReader
	request *MessagesRequest
	all     conversation.Range // the range with which this page began
	left    conversation.Range // the part of all that is still to be read
	bytes   int
	tokens  int64
	result  *MessagesResult

	summaries []conversation.Edit // those in force that overlap this page or later ones
}

// resume continues where the previous page ended.
func (p *listingPage) resume() {
	switch c := p.request.Cursor; {
	case c == nil:
	case p.request.Descending:
		p.left.End = min(p.left.End, *c+1)
	default:
		p.left.First = max(p.left.First, *c)
	}
	p.all = p.left
}

// findSummaries finds the summaries in force and reserves room for them on the page.
func (p *listingPage) findSummaries(ctx context.Context) error {
	spans, err := p.reader.service.Views.Spans(ctx, p.reader.loaded)
	if err != nil {
		return err
	}
	room := int64(0)
	for _, s := range (&conversation.View{}).Fold(spans).Summaries() {
		if s.Range.Overlaps(p.all) {
			p.summaries = append(p.summaries, s)
			room += s.Summary.Text.Bytes() + summaryBytes
		}
	}
	p.bytes += int(min(room, int64(p.request.MaxBytes/2)))
	return nil
}

// summaryBytes is how many bytes a summary takes in an answer besides its text.
const summaryBytes = 256

// addSummaries adds each summary once the page has passed its last message or, in a descending listing, its first.
func (p *listingPage) addSummaries(ctx context.Context) error {
	passed := conversation.Range{First: p.all.First, End: p.left.First}
	if p.request.Descending {
		passed = conversation.Range{First: p.left.End, End: p.all.End}
	}
	if p.left.Len() <= 0 {
		passed = p.all
	}
	for i := range p.summaries {
		s := &p.summaries[i]
		at := min(s.Range.End, p.all.End) - 1
		if p.request.Descending {
			at = max(s.Range.First, p.all.First)
		}
		if !passed.Contains(at) {
			continue
		}
		texts, err := p.reader.service.Blobs.Texts(ctx, p.reader.loaded.Key, p.reader.loaded.Head.Incarnation, s.Summary.Text)
		if err != nil {
			return err
		}
		p.result.Summaries = append(p.result.Summaries, builds.SummaryView(s, texts[0]))
	}
	return nil
}

// next is the index of the next message to look at.
func (p *listingPage) next() int32 {
	if p.request.Descending {
		return p.left.End - 1
	}
	return p.left.First
}

func (p *listingPage) passed(index int32) {
	if p.request.Descending {
		p.left.End = index
	} else {
		p.left.First = index + 1
	}
}

func (p *listingPage) stop(next int32) {
	if p.left.Len() > 0 {
		p.result.Next = &next
	}
}

func (p *listingPage) page(ctx context.Context) (done bool, err error) {
	page := conversation.Range{First: p.left.First, End: min(p.left.End, p.left.First+listPage)}
	if p.request.Descending {
		page = conversation.Range{First: max(p.left.First, p.left.End-listPage), End: p.left.End}
	}
	w := view.New(p.reader.loaded.Key, &store.Snapshot{Head: p.reader.loaded.Head, Info: &p.reader.loaded.Info})
	if err := w.Load(ctx, p.reader.service.Store, page); err != nil {
		return false, err
	}
	p.reader.loaded = w
	if p.request.Descending {
		slices.Reverse(w.Messages)
	}
	for i := range w.Messages {
		if done, err := p.add(ctx, &w.Messages[i]); err != nil || done {
			return done, err
		}
	}
	return false, nil
}

// add adds a message to the page if the filter matches and there is room.
func (p *listingPage) add(ctx context.Context, m *conversation.Message) (done bool, err error) {
	if !p.request.Filter.matches(m) {
		p.passed(m.Index)
		return false, nil
	}
	if !p.request.Current {
		m = p.reader.loaded.Original(m)
	}
	shown, err := p.reader.show(ctx, m, p.request.Current)
	if err != nil || shown == nil {
		p.passed(m.Index)
		return false, err
	}
	size := p.request.Size(shown)
	if p.bytes+size > p.request.MaxBytes {
		if len(p.result.Messages) == 0 {
			return true, conversation.Errorf(conversation.ReplyTooLarge, "message %d alone exceeds the reply limit of %d bytes", m.Index, p.request.MaxBytes)
		}
		p.stop(m.Index)
		return true, nil
	}
	tokens := p.weight(shown)
	if p.request.MaxTokens > 0 && p.tokens+tokens > p.request.MaxTokens && len(p.result.Messages) > 0 {
		p.stop(m.Index)
		return true, nil
	}
	p.bytes, p.tokens = p.bytes+size, p.tokens+tokens
	p.result.Messages = append(p.result.Messages, *shown)
	p.passed(m.Index)
	if len(p.result.Messages) == p.request.Limit {
		p.stop(p.next())
		return true, nil
	}
	return false, nil
}

// weight is the weight of a message in the form in which it is listed, in tokens.
func (p *listingPage) weight(m *MessageInView) int64 {
	if p.request.Current {
		return int64(m.Message.Tokens) - m.Saved
	}
	return int64(m.Message.Tokens)
}

func (f *Filter) matches(m *conversation.Message) bool {
	return (len(f.Roles) == 0 || slices.Contains(f.Roles, m.Role)) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, m.Type)) &&
		(f.RunID == "" || f.RunID == m.RunID) &&
		(len(f.Tags) == 0 || slices.ContainsFunc(f.Tags, func(t string) bool { return slices.Contains(m.Tags, t) }))
}

func (f *Filter) empty() bool {
	return len(f.Roles) == 0 && len(f.Types) == 0 && len(f.Tags) == 0 && f.RunID == ""
}

// Count counts the messages of a range that match a filter, and their tokens.
func (ms *Service) Count(ctx context.Context, key store.Key, r conversation.Range, f Filter) (messages int32, tokens int64, err error) {
	snap, err := ms.Txn.Read(ctx, key, store.Query{})
	if err != nil {
		return 0, 0, err
	}
	head := snap.Head
	left := clip(r, head.Messages)
	if f.empty() && left == (conversation.Range{First: 0, End: head.Messages}) {
		return head.Messages, head.Tokens, nil
	}
	return ms.count(ctx, key, head.Incarnation, left, &f)
}

// count counts the messages page by page.
func (ms *Service) count(ctx context.Context, key store.Key, incarnation conversation.ID, left conversation.Range, f *Filter) (messages int32, tokens int64, err error) {
	for left.Len() > 0 {
		page := conversation.Range{First: left.First, End: min(left.End, left.First+listPage)}
		snap, err := ms.Store.Read(ctx, key, store.Query{Incarnation: incarnation, Ranges: []store.MessageRange{{Range: page}}})
		if err != nil {
			return 0, 0, txn.Failure(err)
		}
		for i := range snap.Messages {
			if m := &snap.Messages[i]; f.matches(m) {
				messages++
				tokens += int64(m.Tokens)
			}
		}
		left.First = page.End
	}
	return messages, tokens, nil
}
