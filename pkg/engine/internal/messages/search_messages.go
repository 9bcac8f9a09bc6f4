package messages

import (
	"cmp"
	"context"
	"slices"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/search"
)

const (
	// searchedText is how many bytes of a message are searched at most.
	searchedText = 256 << 10
	// searchedBlockBytes is how many bytes of blocks a search holds at a time, no matter how long the conversation is.
	searchedBlockBytes = 64 << 20
)

// SearchMessages ranks the originals of a conversation, with corrections applied, by how well they match a query. It does not
// matter whether the view shows them.
func (ms *Service) SearchMessages(ctx context.Context, r SearchMessagesRequest) (*SearchMessagesResult, error) {
	l, err := ms.open(ctx, r.Key)
	if err != nil {
		return nil, err
	}
	spans, err := ms.Views.Spans(ctx, l.loaded)
	if err != nil {
		return nil, err
	}
	view := (&conversation.View{}).Fold(spans)
	s := &messageSearch{
		reader: l, request: &r, tools: l.loaded.Info.Policy.Or(ms.Defaults).RecallTools(), asked: askedHash(r.Query), query: search.NewQuery(r.Query),
		within: clip(r.Range, l.loaded.Head.Messages), view: view, out: &SearchMessagesResult{},
	}
	for _, h := range view.Hides() {
		s.hidden = append(s.hidden, h.Range)
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	return s.out, s.describeHits(ctx)
}

// messageSearch is one search over messages.
type messageSearch struct {
	reader  *messageReader
	request *SearchMessagesRequest
	tools   conversation.RecallTools
	asked   uint64
	query   *search.Query
	within  conversation.Range
	hidden  []conversation.Range
	view    *conversation.View // of the edits about ranges and of the corrections

	blocks []*messageBlock // the blocks that are searched together
	held   int64           // their size in bytes
	hits   []search.Hit
	out    *SearchMessagesResult
}

func (s *messageSearch) run(ctx context.Context) error {
	if s.query.Empty() || s.within.Len() <= 0 {
		return nil
	}
	for n := s.within.First / contents.BlockMessages; n*contents.BlockMessages < s.within.End; n++ {
		b, err := s.block(ctx, n)
		if err != nil {
			return err
		}
		if s.held += b.size(); s.held > searchedBlockBytes && len(s.blocks) > 0 {
			if err := s.searchBlocks(ctx); err != nil {
				return err
			}
			s.held = b.size()
		}
		s.blocks = append(s.blocks, b)
	}
	return s.searchBlocks(ctx)
}

// searchBlocks searches the blocks that are held.
func (s *messageSearch) searchBlocks(ctx context.Context) error {
	var runs []*search.Messages
	for _, b := range s.blocks {
		words, err := s.withoutQueryCalls(ctx, b)
		if err != nil {
			return err
		}
		runs = append(runs, words...)
		for j := range b.messages {
			if s.keeps(&b.messages[j]) {
				s.out.Searched++
			}
		}
	}
	first := s.blocks[0].messages[0].Index
	keep := func(index int32) bool {
		at := index - first
		return s.keeps(&s.blocks[at/contents.BlockMessages].messages[at%contents.BlockMessages])
	}
	hits := search.RankMessages(s.query, runs, keep, s.request.Limit)
	s.hits = append(s.hits, hits...)
	slices.SortStableFunc(s.hits, func(a, b search.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Index, b.Index))
	})
	s.hits = s.hits[:min(len(s.hits), s.request.Limit)]
	s.blocks, s.held = nil, 0
	return nil
}

func (s *messageSearch) keeps(m *conversation.Message) bool {
	return s.within.Contains(m.Index) && s.request.Filter.matches(m) && (s.request.Hidden || !s.isHidden(m.Index))
}

func (s *messageSearch) isHidden(index int32) bool {
	return conversation.InRanges(s.hidden, index)
}

// block returns a block of messages prepared for searching. It uses the kept one if that still matches the record.
func (s *messageSearch) block(ctx context.Context, n int32) (*messageBlock, error) {
	head, ready := &s.reader.loaded.Head, s.reader.service.Contents.Cache
	at := clip(blockRange(n), head.Messages)
	if kept, ok := ready.Messages(head.Incarnation, n).(*messageBlock); ok && len(kept.messages) >= int(at.Len()) && s.isCurrent(kept, n) {
		return kept, nil
	}
	b, err := s.readBlock(ctx, at)
	if err != nil {
		return nil, err
	}
	ready.PutMessages(head.Incarnation, n, b, b.size())
	return b, nil
}

// isCurrent reports whether a kept block still has the words and the calls that are to be searched.
func (s *messageSearch) isCurrent(b *messageBlock, n int32) bool {
	return b.corrected == s.view.LastCorrection(blockRange(n)) && slices.Equal(b.tools, s.tools)
}

// blockRange is the range of messages that a block may hold.
func blockRange(n int32) conversation.Range {
	return conversation.Range{First: n * contents.BlockMessages, End: (n + 1) * contents.BlockMessages}
}

// describeHits fills in the hits' messages and their places.
func (s *messageSearch) describeHits(ctx context.Context) error {
	ranges := make([]conversation.Range, len(s.hits))
	for i, h := range s.hits {
		ranges[i] = conversation.Range{First: h.Index, End: h.Index + 1}
	}
	if err := s.reader.loaded.Load(ctx, s.reader.service.Store, conversation.MergeRanges(ranges)...); err != nil {
		return err
	}
	for _, h := range s.hits {
		m, ok := s.reader.loaded.Message(h.Index)
		if !ok {
			return contents.Damaged("a message")
		}
		parts, err := s.searchableParts(ctx, []conversation.Message{*m})
		if err != nil {
			return err
		}
		text, err := s.beginning(ctx, parts[0])
		if err != nil {
			return err
		}
		hit := MessageHit{
			Message: *m, Score: h.Score, Snippet: search.Snippet(s.query, text, s.request.SnippetChars),
			InView: s.reader.inView(m), Hidden: s.isHidden(h.Index),
		}
		hit.Message.Parts = nil
		if utf8.RuneCountInString(text) > 0 { // not all of it was erased
			s.out.Hits = append(s.out.Hits, hit)
		}
	}
	return nil
}
