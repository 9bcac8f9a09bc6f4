package engine

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/citations"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

const (
	// blockMessages is how many messages are made ready to be searched together. The last block grows with every append, and is made
	// ready anew: that must be quick.
	blockMessages = 256
	// searchedText is how much of one message is searched, in bytes.
	searchedText = 256 << 10
	// searchedRuns is how many bytes of blocks are held for one search at a time, however long the conversation is.
	searchedRuns = 64 << 20
)

// messageBlock is a run of messages that is ready to be searched.
type messageBlock struct {
	words    *citations.Messages
	messages []conversation.Message // without their parts
}

func (b *messageBlock) size() int64 {
	const perMessage = 512
	return b.words.Size() + int64(len(b.messages))*perMessage
}

// SearchMessages ranks the originals of a conversation by how well they answer a query, whether the view shows them or not.
func (e *Engine) SearchMessages(ctx context.Context, r SearchMessagesRequest) (*SearchMessagesResult, error) {
	l, err := e.listing(ctx, r.Key)
	if err != nil {
		return nil, err
	}
	spans, err := e.spans(ctx, l.window)
	if err != nil {
		return nil, err
	}
	s := &messageSearch{listing: l, request: &r, query: citations.NewQuery(r.Query), within: clip(r.Range, l.window.head.Messages), out: &SearchMessagesResult{}}
	for _, x := range spans {
		if x.Kind == conversation.EditHide {
			s.hidden = append(s.hidden, x.Range)
		}
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	return s.out, s.describe(ctx)
}

// messageSearch is one search through messages.
type messageSearch struct {
	*listing
	request *SearchMessagesRequest
	query   *citations.Query
	within  conversation.Range
	hidden  []conversation.Range

	blocks []*messageBlock // that are looked at together
	held   int64           // bytes of them
	hits   []citations.Hit
	out    *SearchMessagesResult
}

func (s *messageSearch) run(ctx context.Context) error {
	if s.query.Empty() || s.within.Len() <= 0 {
		return nil
	}
	for n := s.within.First / blockMessages; n*blockMessages < s.within.End; n++ {
		b, err := s.block(ctx, n)
		if err != nil {
			return err
		}
		if s.held += b.size(); s.held > searchedRuns && len(s.blocks) > 0 {
			s.look()
			s.held = b.size()
		}
		s.blocks = append(s.blocks, b)
	}
	s.look()
	return nil
}

// look searches the blocks at hand.
func (s *messageSearch) look() {
	runs := make([]*citations.Messages, len(s.blocks))
	for i, b := range s.blocks {
		runs[i] = b.words
		for j := range b.messages {
			if s.keeps(&b.messages[j]) {
				s.out.Searched++
			}
		}
	}
	first := s.blocks[0].messages[0].Index
	keep := func(index int32) bool {
		at := index - first
		return s.keeps(&s.blocks[at/blockMessages].messages[at%blockMessages])
	}
	hits := citations.SearchMessages(s.query, runs, keep, s.request.Limit)
	s.hits = append(s.hits, hits...)
	slices.SortStableFunc(s.hits, func(a, b citations.Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		default:
			return int(a.Index - b.Index)
		}
	})
	s.hits = s.hits[:min(len(s.hits), s.request.Limit)]
	s.blocks, s.held = nil, 0
}

func (s *messageSearch) keeps(m *conversation.Message) bool {
	return s.within.Contains(m.Index) && s.request.Filter.matches(m) && (s.request.Hidden || !s.isHidden(m.Index))
}

func (s *messageSearch) isHidden(index int32) bool {
	return slices.ContainsFunc(s.hidden, func(r conversation.Range) bool { return r.Contains(index) })
}

// block is a block of messages, ready to be searched: one that is kept, if it is still what is on record.
func (s *messageSearch) block(ctx context.Context, n int32) (*messageBlock, error) {
	head, lib := &s.window.head, s.engine.library
	at := conversation.Range{First: n * blockMessages, End: min((n+1)*blockMessages, head.Messages)}
	key := shelfKey{head.Incarnation, shelfMessages, int64(n)}
	if kept, ok := lib.get(key); ok && len(kept.block.messages) >= int(at.Len()) {
		return kept.block, nil
	}
	b, err := s.engine.readBlock(ctx, s.window.key, head.Incarnation, at)
	if err != nil {
		return nil, err
	}
	lib.put(key, shelved{block: b, bytes: b.size()})
	return b, nil
}

func (e *Engine) readBlock(ctx context.Context, key Key, incarnation conversation.ID, at conversation.Range) (*messageBlock, error) {
	snap, err := e.store.Read(ctx, key, store.Query{Incarnation: incarnation, Ranges: []store.MessageRange{{Range: at}}})
	if err != nil {
		return nil, failure(err)
	}
	b := &messageBlock{words: &citations.Messages{}, messages: slices.Clone(snap.Messages)}
	for i := range b.messages {
		m := &b.messages[i]
		text, err := e.beginning(ctx, key, incarnation, m.Parts)
		if err != nil {
			return nil, err
		}
		b.words.Add(m.Index, text)
		m.Parts, m.Metadata, m.Actions = nil, "", nil
	}
	return b, nil
}

// beginning is what is searched of a message: its texts, what its tools said, and the calls that it makes.
func (e *Engine) beginning(ctx context.Context, key Key, incarnation conversation.ID, parts []conversation.Part) (string, error) {
	var b strings.Builder
	add := func(c conversation.Content) error {
		room := searchedText - b.Len()
		if room <= 0 || c.Erased != nil {
			return nil
		}
		text := c.Inline
		if c.Ref != nil {
			snap, err := e.store.Read(ctx, key, store.Query{Incarnation: incarnation, Contents: []store.ContentRange{{ID: c.Ref.ID, Length: int64(room)}}})
			if err != nil {
				return failure(err)
			}
			text = string(snap.Contents[0])
		}
		if len(text) > room {
			text = text[:room]
		}
		b.WriteString(text[:wholeRunes([]byte(text))])
		b.WriteByte('\n')
		return nil
	}
	for i := range parts {
		for _, c := range wordsOf(&parts[i]) {
			if err := add(c); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}

// wordsOf are the contents of a part that somebody may look for.
func wordsOf(p *conversation.Part) []conversation.Content {
	switch p.Kind {
	case conversation.PartText:
		return []conversation.Content{p.Text}
	case conversation.PartToolCall:
		return []conversation.Content{{Inline: p.Call.Name}, p.Call.Arguments}
	case conversation.PartToolResult:
		if p.Result.Output != conversation.OutputParts {
			return []conversation.Content{p.Result.Text}
		}
		var out []conversation.Content
		for i := range p.Result.Parts {
			if p.Result.Parts[i].Media == nil {
				out = append(out, p.Result.Parts[i].Text)
			}
		}
		return out
	default:
		return nil
	}
}

// describe says of the hits what they are and where they stand.
func (s *messageSearch) describe(ctx context.Context) error {
	ranges := make([]conversation.Range, len(s.hits))
	for i, h := range s.hits {
		ranges[i] = conversation.Range{First: h.Index, End: h.Index + 1}
	}
	if err := s.window.load(ctx, s.engine, merge(ranges)...); err != nil {
		return err
	}
	for _, h := range s.hits {
		m, ok := s.window.message(h.Index)
		if !ok {
			return damaged("a message")
		}
		text, err := s.engine.beginning(ctx, s.window.key, s.window.head.Incarnation, m.Parts)
		if err != nil {
			return err
		}
		_, visible := s.window.view.Item(m)
		hit := MessageHit{
			Message: *m, Score: h.Score, Snippet: citations.Snippet(s.query, text, s.request.SnippetChars),
			InView: visible && s.inView(m), Hidden: s.isHidden(h.Index),
		}
		hit.Message.Parts = nil
		if utf8.RuneCountInString(text) > 0 { // something of it is left
			s.out.Hits = append(s.out.Hits, hit)
		}
	}
	return nil
}
