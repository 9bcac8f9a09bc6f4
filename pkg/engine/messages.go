package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/build"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"

	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// listPage is how many messages are read at a time, and scanPages how many such pages one listing looks through: a filter that
// matches little ends a page early instead of scanning everything.
const (
	listPage  = 128
	scanPages = 64
)

// Message returns one message as it was appended, with its place in the view.
func (e *Engine) Message(ctx context.Context, key Key, index int32) (*MessageInView, error) {
	l, err := e.listing(ctx, key)
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= l.window.Head.Messages {
		return nil, conversation.Errorf(conversation.MessageNotFound, "no message has index %d", index)
	}
	if err := l.window.Load(ctx, e.store, conversation.Range{First: index, End: index + 1}); err != nil {
		return nil, err
	}
	m, ok := l.window.Message(index)
	if !ok {
		return nil, conversation.Errorf(conversation.MessageNotFound, "no message has index %d", index)
	}
	return l.show(ctx, l.window.Original(m), false)
}

// listing looks at messages together with their place in the view of the last build.
type listing struct {
	engine *Engine
	window *view.Loaded
	last   *conversation.Manifest // nil before the first build
}

func (e *Engine) listing(ctx context.Context, key Key) (*listing, error) {
	snap, err := e.contents.ReadSettled(ctx, key, store.Query{Info: true, Manifest: &store.ManifestRange{Limit: 1}})
	if err != nil {
		return nil, err
	}
	return e.listingOf(key, snap), nil
}

// listingOf looks at what a snapshot with the newest manifest has.
func (e *Engine) listingOf(key Key, snap *store.Snapshot) *listing {
	l := &listing{engine: e, window: view.New(key, snap)}
	if len(snap.Manifests) > 0 {
		l.last = &snap.Manifests[0]
	}
	return l
}

// show describes a message, with its parts as they are given or, current, as the view shows them; nil if it does not show it at all.
func (l *listing) show(ctx context.Context, m *conversation.Message, current bool) (*MessageInView, error) {
	it, visible := l.window.View.Item(l.window.View.Corrected(m))
	if current && !visible {
		return nil, nil
	}
	out := &MessageInView{
		Message: *m, Level: l.window.View.Level(m.Index), EditSeq: it.EditSeq, EditTime: l.edited(it.EditSeq),
		Chars: conversation.PartsChars(m.Parts), Saved: it.Saved + it.Masked + it.Unseen, Expired: it.Level > conversation.Full && it.Reason.Expired(),
		InView: visible && l.inView(m),
		Hidden: l.window.View.Hidden(conversation.Range{First: m.Index, End: m.Index + 1}),
	}
	out.Expandable = !conversation.Erased(m.Parts) && !out.Hidden && (!visible || it.Level > conversation.Full || it.Masked > 0)
	if s := l.window.View.SummaryOf(m.Index); s != nil && !out.Hidden {
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
	out.Message.Parts, err = l.engine.blobs.Inline(ctx, l.window.Key, l.window.Head.Incarnation, out.Message.Parts)
	showLife(&out.Message, l.window.Info.Policy.Or(l.engine.defaults).Expiration.Results)
	return out, err
}

// showLife replaces what is stored of how long a message and its results live by what is in force under the conversation's policy, with
// defaults for what nobody has set.
func showLife(m *conversation.Message, policy conversation.Expiration) {
	if policy != (conversation.Expiration{}) {
		policy.Source = conversation.SourcePolicy
	}
	inForce := func(part int32, stored *conversation.Expiration) *conversation.Expiration {
		below := policy
		if !expiry.Carries(m, part) {
			below = conversation.Expiration{}
		}
		e := expiry.InForce(stored, below)
		if e == (conversation.Expiration{}) {
			return nil
		}
		e = e.WithDefaults()
		return &e
	}
	if m.Expiration != nil || len(expiry.WordsOf(m)) > 0 {
		m.Expiration = inForce(expiry.Words, m.Expiration)
	}
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		if r := m.Parts[i].Result; r != nil {
			shown := *r
			shown.Expiration = inForce(int32(i), r.Expiration)
			m.Parts[i].Result = &shown
		}
	}
}

func (l *listing) edited(seq int64) time.Time {
	for i := range l.window.Edits {
		if l.window.Edits[i].Seq == seq {
			return l.window.Edits[i].Time
		}
	}
	return time.Time{}
}

// inView says whether the last committed build had room for the message.
func (l *listing) inView(message *conversation.Message) bool {
	m, index := l.last, message.Index
	if m == nil || index >= m.MessageCount {
		return false
	}
	if cut, ok := m.Window.CutOf(index, 0); ok && cut.Leaves() {
		return false
	}
	edit, _, restored := l.window.View.Restored(index)
	return index >= m.Window.Start || index < m.LeadingSystem || index == m.Window.Request || index == m.Window.Opening ||
		restored && edit > m.Window.Restored || l.window.View.ShownAgain(message) ||
		slices.ContainsFunc(m.Pins, func(r conversation.Range) bool { return r.Contains(index) })
}

// Messages lists messages of a range. A page ends at the limit, at MaxBytes, or when enough was looked through.
func (e *Engine) Messages(ctx context.Context, r MessagesRequest) (*MessagesResult, error) {
	l, err := e.listing(ctx, r.Key)
	if err != nil {
		return nil, err
	}
	p := &paging{listing: l, request: &r, left: clip(r.Range, l.window.Head.Messages), result: &MessagesResult{}}
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

// clip cuts a range to what is on record; an end below 0 means the end of the record.
func clip(r conversation.Range, messages int32) conversation.Range {
	if r.End < 0 || r.End > messages {
		r.End = messages
	}
	r.First = max(r.First, 0)
	return r
}

// paging is one listing on its way through a range.
type paging struct {
	*listing
	request *MessagesRequest
	all     conversation.Range // what this page began with
	left    conversation.Range // what is still to be looked at
	bytes   int
	tokens  int64
	result  *MessagesResult

	summaries []conversation.Edit // in force, over messages of this page or of later ones
}

// resume begins where the page before ended.
func (p *paging) resume() {
	switch c := p.request.Cursor; {
	case c == nil:
	case p.request.Descending:
		p.left.End = min(p.left.End, *c+1)
	default:
		p.left.First = max(p.left.First, *c)
	}
	p.all = p.left
}

// findSummaries finds the summaries in force, and keeps room for them on the page.
func (p *paging) findSummaries(ctx context.Context) error {
	spans, err := p.engine.views.Spans(ctx, p.window)
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

// summaryBytes is what a summary takes in an answer beside its text.
const summaryBytes = 256

// addSummaries adds the summaries whose last message (first, from the end on) this page has passed.
func (p *paging) addSummaries(ctx context.Context) error {
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
		texts, err := p.engine.blobs.Texts(ctx, p.window.Key, p.window.Head.Incarnation, s.Summary.Text)
		if err != nil {
			return err
		}
		p.result.Summaries = append(p.result.Summaries, build.SummaryView(s, texts[0]))
	}
	return nil
}

// next is the index that is to be looked at next.
func (p *paging) next() int32 {
	if p.request.Descending {
		return p.left.End - 1
	}
	return p.left.First
}

func (p *paging) passed(index int32) {
	if p.request.Descending {
		p.left.End = index
	} else {
		p.left.First = index + 1
	}
}

func (p *paging) stop(next int32) {
	if p.left.Len() > 0 {
		p.result.Next = &next
	}
}

func (p *paging) page(ctx context.Context) (done bool, err error) {
	page := conversation.Range{First: p.left.First, End: min(p.left.End, p.left.First+listPage)}
	if p.request.Descending {
		page = conversation.Range{First: max(p.left.First, p.left.End-listPage), End: p.left.End}
	}
	w := view.New(p.window.Key, &store.Snapshot{Head: p.window.Head, Info: &p.window.Info})
	if err := w.Load(ctx, p.engine.store, page); err != nil {
		return false, err
	}
	p.window = w
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

// add puts a message on the page, if it is chosen and there is room.
func (p *paging) add(ctx context.Context, m *conversation.Message) (done bool, err error) {
	if !p.request.Filter.matches(m) {
		p.passed(m.Index)
		return false, nil
	}
	if !p.request.Current {
		m = p.window.Original(m)
	}
	shown, err := p.show(ctx, m, p.request.Current)
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

// weight is what a message weighs in the form in which it is listed.
func (p *paging) weight(m *MessageInView) int64 {
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

// Count counts the messages of a range that a filter chooses, and their tokens.
func (e *Engine) Count(ctx context.Context, key Key, r conversation.Range, f Filter) (messages int32, tokens int64, err error) {
	snap, err := e.txn.Read(ctx, key, store.Query{})
	if err != nil {
		return 0, 0, err
	}
	head := snap.Head
	left := clip(r, head.Messages)
	if f.empty() && left == (conversation.Range{First: 0, End: head.Messages}) {
		return head.Messages, head.Tokens, nil
	}
	return e.count(ctx, key, head.Incarnation, left, &f)
}

// count counts page by page.
func (e *Engine) count(ctx context.Context, key Key, incarnation conversation.ID, left conversation.Range, f *Filter) (messages int32, tokens int64, err error) {
	for left.Len() > 0 {
		page := conversation.Range{First: left.First, End: min(left.End, left.First+listPage)}
		snap, err := e.store.Read(ctx, key, store.Query{Incarnation: incarnation, Ranges: []store.MessageRange{{Range: page}}})
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
