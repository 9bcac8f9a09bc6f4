package messages

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/citations"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/search"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// withoutQueryCalls returns what is searched of a block: everything but the calls whose argument is the query.
func (s *messageSearch) withoutQueryCalls(ctx context.Context, b *messageBlock) ([]*search.Messages, error) {
	runs := []*search.Messages{b.words}
	for _, index := range b.asks[s.asked] {
		recorded, err := s.reader.read(ctx, store.MessageRange{Range: conversation.Range{First: index, End: index + 1}})
		if err != nil {
			return nil, err
		}
		searched, err := s.searchableParts(ctx, s.corrected(recorded))
		if err != nil || len(searched) == 0 {
			return nil, err
		}
		text, err := s.beginning(ctx, s.dropQueryCalls(searched[0]))
		if err != nil {
			return nil, err
		}
		last := len(runs) - 1
		runs = append(runs[:last], runs[last].Replacing(index, text)...)
	}
	return runs, nil
}

// dropQueryCalls returns the parts without the calls whose argument is the query.
func (s *messageSearch) dropQueryCalls(parts []conversation.Part) []conversation.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p conversation.Part) bool {
		return slices.Contains(asksOf([]conversation.Part{p}), s.asked)
	})
}

// asksOf returns the hashes of the texts that calls have as arguments, without duplicates.
func asksOf(parts []conversation.Part) []uint64 {
	const longest = 64 << 10 // in bytes: no query is longer
	hashes := map[uint64]bool{}
	for i := range parts {
		c := parts[i].Call
		if c == nil || c.Arguments.Ref != nil || len(c.Arguments.Inline) > longest {
			continue
		}
		var value any
		if json.Unmarshal([]byte(c.Arguments.Inline), &value) == nil {
			gatherAsks(value, hashes)
		}
	}
	return slices.Sorted(maps.Keys(hashes))
}

func gatherAsks(value any, into map[uint64]bool) {
	switch v := value.(type) {
	case string:
		into[askedHash(v)] = true
	case []any:
		for _, x := range v {
			gatherAsks(x, into)
		}
	case map[string]any:
		for _, x := range v {
			gatherAsks(x, into)
		}
	}
}

// askedHash is equal for texts that differ only in case, spaces and quotes.
func askedHash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.ToLower(strings.Join(strings.Fields(strings.Trim(text, "\"' \t\n")), " "))))
	return h.Sum64()
}

func (s *messageSearch) noteCalls(recalls map[int32]bool, messages []conversation.Message) {
	for i := range messages {
		for _, p := range messages[i].Parts {
			if p.Call != nil && s.tools.Has(p.Call.Name) {
				recalls[p.Call.Ordinal] = true
			}
		}
	}
}

// recalls reports whether a part is a call of a recall tool, or the result of one.
func (s *messageSearch) recalls(calls map[int32]bool, p *conversation.Part) bool {
	switch {
	case p.Call != nil:
		return s.tools.Has(p.Call.Name)
	case p.Result != nil:
		return p.Result.Recalled != nil && citations.InForm(p.Result.Words()) == "" || s.tools.Has(p.Result.Name) || calls[p.Result.Ordinal]
	default:
		return false
	}
}
