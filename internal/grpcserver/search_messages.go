package grpcserver

import (
	"context"
	"fmt"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func searchMessagesRules() table[*pb.SearchMessagesRequest] {
	return table[*pb.SearchMessagesRequest]{
		conversationID("conversation_id", (*pb.SearchMessagesRequest).GetConversationId),
		text("query", byteRange(1, 65_536), (*pb.SearchMessagesRequest).GetQuery),
		message("range", (*pb.SearchMessagesRequest).GetRange, rangeRules()),
		message("filter", (*pb.SearchMessagesRequest).GetFilter, filterRules()),
		byDefault(defaultHits, number("max_hits", numberRange(0, 100), (*pb.SearchMessagesRequest).GetMaxHits)),
		byDefault(defaultSnippetChars, number("max_snippet_chars", numberRange(0, 500), (*pb.SearchMessagesRequest).GetMaxSnippetChars)),
		anything[*pb.SearchMessagesRequest]("include_hidden"),
	}
}

const (
	defaultHits         = 10
	defaultSnippetChars = 200
)

// byDefault is a number that stands for another where it is 0, which the comment must say too.
func byDefault[M any](n int, r rule[M]) rule[M] {
	r.limits = append(r.limits, fmt.Sprintf("%d by default, and for 0", n))
	return r
}

// or is n, or for 0 the default.
func or(n int32, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return int(n)
}

// SearchMessages ranks the messages on record by how well they answer a query.
func (s *service) SearchMessages(ctx context.Context, req *pb.SearchMessagesRequest) (*pb.SearchMessagesResponse, error) {
	done, err := s.admission.search(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	result, err := s.engine.SearchMessages(ctx, engine.SearchMessagesRequest{
		Key:          s.key(req.GetConversationId()),
		Query:        req.GetQuery(),
		Range:        fromRange(req.GetRange()),
		Filter:       fromFilter(req.GetFilter()),
		Hidden:       req.GetIncludeHidden(),
		Limit:        or(req.GetMaxHits(), defaultHits),
		SnippetChars: or(req.GetMaxSnippetChars(), defaultSnippetChars),
	})
	if err != nil {
		return nil, err
	}
	return &pb.SearchMessagesResponse{Hits: each(result.Hits, toHit), SearchedMessages: result.Searched}, nil
}

func toHit(h engine.MessageHit) *pb.MessageHit {
	return &pb.MessageHit{
		Index:      h.Message.Index,
		Score:      h.Score,
		Snippet:    h.Snippet,
		Role:       pb.Role(h.Message.Role),
		CreateTime: toTime(h.Message.CreateTime),
		Id:         h.Message.ID,
		InView:     h.InView,
		Hidden:     h.Hidden,
		TokenCount: h.Message.Tokens,
	}
}
