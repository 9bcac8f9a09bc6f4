package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func searchContentRules() table[*pb.SearchContentRequest] {
	return table[*pb.SearchContentRequest]{
		conversationID("conversation_id", (*pb.SearchContentRequest).GetConversationId),
		requiredMessage("excerpts", (*pb.SearchContentRequest).GetExcerpts, excerptQueryRules()),
		text("run_id", optionalNameLimit(), (*pb.SearchContentRequest).GetRunId),
		number("max_tokens", tokensLimit(), (*pb.SearchContentRequest).GetMaxTokens),
	}
}

// SearchContent answers with the best passages of all contents.
func (s *service) SearchContent(ctx context.Context, req *pb.SearchContentRequest) (*pb.SearchContentResponse, error) {
	done, err := s.admission.search(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	room := contentRoom(defaultReplyBytes)
	result, err := s.engine.SearchContent(ctx, engine.SearchContentRequest{
		Key:       s.key(req.GetConversationId()),
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
		SearchedContents: clamp(int64(result.Searched)),
		SkippedContents:  clamp(int64(result.Skipped)),
	}, nil
}
