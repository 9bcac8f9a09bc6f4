package contentservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func searchContentRules() rules.Table[*pb.SearchContentRequest] {
	return rules.Table[*pb.SearchContentRequest]{
		schema.ConversationID("conversation_id", (*pb.SearchContentRequest).GetConversationId),
		rules.RequiredMessage("excerpts", (*pb.SearchContentRequest).GetExcerpts, excerptQueryRules()),
		rules.Text("run_id", schema.OptionalNameLimit(), (*pb.SearchContentRequest).GetRunId),
		rules.Number("max_tokens", schema.TokensLimit(), (*pb.SearchContentRequest).GetMaxTokens),
	}
}

// SearchContent answers with the best passages of all contents.
func (s *Service) SearchContent(ctx context.Context, req *pb.SearchContentRequest) (*pb.SearchContentResponse, error) {
	done, err := s.admission.Search(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	room := contentRoom(paging.DefaultReplyBytes)
	result, err := s.engine.SearchContent(ctx, engine.SearchContentRequest{
		Key:       convert.Key(ctx, req.GetConversationId()),
		Query:     *fromExcerptQuery(req.GetExcerpts()),
		RunID:     req.GetRunId(),
		MaxTokens: req.GetMaxTokens(),
		MaxBytes:  room,
	})
	if err != nil {
		return nil, err
	}
	return &pb.SearchContentResponse{
		Excerpts:         toExcerpts(result.Excerpts, room),
		SearchedContents: convert.Clamp(int64(result.Searched)),
		SkippedContents:  convert.Clamp(int64(result.Skipped)),
	}, nil
}
