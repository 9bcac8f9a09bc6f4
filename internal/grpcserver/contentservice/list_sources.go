package contentservice

import (
	"context"
	"math"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func listSourcesRules() rules.Table[*pb.ListSourcesRequest] {
	return rules.Table[*pb.ListSourcesRequest]{
		schema.ConversationID("conversation_id", (*pb.ListSourcesRequest).GetConversationId),
		rules.Text("run_id", schema.OptionalNameLimit(), (*pb.ListSourcesRequest).GetRunId),
		paging.PageSize((*pb.ListSourcesRequest).GetPageSize),
		paging.NumberToken[*pb.ListSourcesRequest](math.MaxInt64),
	}
}

// ListSources lists source records, oldest first.
func (s *Service) ListSources(ctx context.Context, req *pb.ListSourcesRequest) (*pb.ListSourcesResponse, error) {
	out, err := s.sources(ctx, req, paging.Limit(req))
	if err != nil {
		return nil, err
	}
	if proto.Size(out) > paging.DefaultReplyBytes-paging.PageTokenBytes {
		// The largest metadata for a thousand of them: as many as have room, which is a shorter page of the same listing.
		page, _ := paging.Cut(out.GetSources())
		return s.sources(ctx, req, len(page))
	}
	return out, nil
}

func (s *Service) sources(ctx context.Context, req *pb.ListSourcesRequest, limit int) (*pb.ListSourcesResponse, error) {
	cursor := conversation.ValueOr(paging.OpenNumber[int64](req), 0)
	result, err := s.engine.ListSources(ctx, engine.SourcesRequest{Key: convert.Key(ctx, req.GetConversationId()), RunID: req.GetRunId(), Limit: limit, Cursor: cursor})
	if err != nil {
		return nil, err
	}
	out := &pb.ListSourcesResponse{Sources: convert.Each(result.Sources, toSource)}
	if result.Next != 0 {
		out.NextPageToken = paging.NextNumber(req, &result.Next)
	}
	return out, nil
}
