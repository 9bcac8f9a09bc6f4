package messages

import (
	"context"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/search"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// messageBlock is a run of messages that is prepared for searching.
type messageBlock struct {
	words    *search.Messages
	messages []conversation.Message // without their parts
	tools    conversation.RecallTools
	asks     map[uint64][]int32 // by the hash of a text: the messages with a call that has this text as an argument

	corrected int64 // seq of the last correction of one of the messages; 0 for none
}

func (b *messageBlock) size() int64 {
	const perMessage, perAsk = 512, 64
	return b.words.Size() + int64(len(b.messages))*perMessage + int64(len(b.asks))*perAsk
}

// readBlock prepares messages for searching. Calls of recall tools and their results are left out: otherwise a search would find
// earlier searches.
func (s *messageSearch) readBlock(ctx context.Context, at conversation.Range) (*messageBlock, error) {
	recorded, err := s.reader.read(ctx, store.MessageRange{Range: at})
	if err != nil {
		return nil, err
	}
	messages := s.corrected(recorded)
	searched, err := s.searchableParts(ctx, messages)
	if err != nil {
		return nil, err
	}
	b := &messageBlock{words: &search.Messages{}, messages: messages, tools: s.tools, asks: map[uint64][]int32{}}
	b.corrected = s.view.LastCorrection(blockRange(at.First / contents.BlockMessages))
	for i := range b.messages {
		m := &b.messages[i]
		text, err := s.beginning(ctx, searched[i])
		if err != nil {
			return nil, err
		}
		b.words.Add(m.Index, text)
		for _, hash := range asksOf(searched[i]) {
			b.asks[hash] = append(b.asks[hash], m.Index)
		}
		m.Parts, m.Metadata, m.Actions = nil, "", nil
	}
	return b, nil
}

// corrected returns the messages with their corrections applied.
func (s *messageSearch) corrected(messages []conversation.Message) []conversation.Message {
	out := make([]conversation.Message, len(messages))
	for i := range messages {
		out[i] = *s.view.Corrected(&messages[i])
	}
	return out
}

// searchableParts returns the parts of adjacent messages without calls of recall tools and their results.
func (s *messageSearch) searchableParts(ctx context.Context, messages []conversation.Message) ([][]conversation.Part, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	recalls := map[int32]bool{} // by ordinal of the call
	s.noteCalls(recalls, messages)
	if first, known := messages[0].UnitFirst(); known && first < messages[0].Index && placement.HasResults(messages[0]) {
		before, err := s.reader.read(ctx, store.MessageRange{Range: conversation.Range{First: first, End: messages[0].Index}})
		if err != nil {
			return nil, err
		}
		s.noteCalls(recalls, before)
	}
	out := make([][]conversation.Part, len(messages))
	for i := range messages {
		out[i] = slices.DeleteFunc(slices.Clone(messages[i].Parts), func(p conversation.Part) bool { return s.recalls(recalls, &p) })
	}
	return out, nil
}

// beginning returns the text of parts that is searched: texts, results of tools, and calls.
func (s *messageSearch) beginning(ctx context.Context, parts []conversation.Part) (string, error) {
	var b strings.Builder
	for i := range parts {
		for _, c := range wordsOf(&parts[i]) {
			room := searchedText - b.Len()
			if room <= 0 || c.Erased != nil {
				continue
			}
			text, err := s.beginningOf(ctx, c, room)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

// beginningOf returns the first bytes of a content, up to room, in whole characters.
func (s *messageSearch) beginningOf(ctx context.Context, c conversation.Content, room int) (string, error) {
	text := c.Inline
	if c.Ref != nil {
		snap, err := s.reader.service.Store.Read(ctx, s.reader.loaded.Key, store.Query{
			Incarnation: s.reader.loaded.Head.Incarnation, Contents: []store.ContentRange{{ID: c.Ref.ID, Length: int64(room)}},
		})
		if err != nil {
			return "", txn.Failure(err)
		}
		text = string(snap.Contents[0])
	}
	if len(text) > room {
		text = text[:room]
	}
	return text[:contents.WholeRunes([]byte(text))], nil
}

// wordsOf returns the contents of a part that a search covers.
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
