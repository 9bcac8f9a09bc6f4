package conversationservice

import (
	"cmp"
	"context"
	"fmt"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func searchMessagesRules() rules.Table[*pb.SearchMessagesRequest] {
	return rules.Table[*pb.SearchMessagesRequest]{
		schema.ConversationID("conversation_id", (*pb.SearchMessagesRequest).GetConversationId),
		rules.Text("query", rules.ByteRange(1, 65_536), (*pb.SearchMessagesRequest).GetQuery),
		rules.Message("range", (*pb.SearchMessagesRequest).GetRange, rangeRules()),
		rules.Message("filter", (*pb.SearchMessagesRequest).GetFilter, filterRules()),
		rules.Number("max_hits", rules.NumberRange(0, 100), (*pb.SearchMessagesRequest).GetMaxHits).Says(forZero(defaultHits)),
		rules.Number("max_snippet_chars", rules.NumberRange(0, 500), (*pb.SearchMessagesRequest).GetMaxSnippetChars).Says(forZero(defaultSnippetChars)),
		rules.Anything[*pb.SearchMessagesRequest]("include_hidden"),
	}
}

const (
	defaultHits         = 10
	defaultSnippetChars = 200
)

// forZero is what the comment of a number says that stands for another where it is 0.
func forZero(n int) string { return fmt.Sprintf("%d by default, and for 0", n) }

// SearchMessages ranks the messages on record by how well they answer a query.
func (s *Service) SearchMessages(ctx context.Context, req *pb.SearchMessagesRequest) (*pb.SearchMessagesResponse, error) {
	done, err := s.admission.Search(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	result, err := s.engine.SearchMessages(ctx, engine.SearchMessagesRequest{
		Key:          convert.Key(ctx, req.GetConversationId()),
		Query:        req.GetQuery(),
		Range:        fromRange(req.GetRange()),
		Filter:       fromFilter(req.GetFilter()),
		Hidden:       req.GetIncludeHidden(),
		Limit:        cmp.Or(int(req.GetMaxHits()), defaultHits),
		SnippetChars: cmp.Or(int(req.GetMaxSnippetChars()), defaultSnippetChars),
	})
	if err != nil {
		return nil, err
	}
	return &pb.SearchMessagesResponse{Hits: convert.Each(result.Hits, toHit), SearchedMessages: result.Searched}, nil
}

func toHit(h engine.MessageHit) *pb.MessageHit {
	return &pb.MessageHit{
		Index:      h.Message.Index,
		Score:      h.Score,
		Snippet:    h.Snippet,
		Role:       pb.Role(h.Message.Role),
		CreateTime: convert.ToTime(h.Message.CreateTime),
		Id:         h.Message.ID,
		InView:     h.InView,
		Hidden:     h.Hidden,
		TokenCount: h.Message.Tokens,
	}
}
