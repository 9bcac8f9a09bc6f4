package grpcserver

import (
	"context"
	"math"
	"strconv"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func listSourcesRules() table[*pb.ListSourcesRequest] {
	return table[*pb.ListSourcesRequest]{
		conversationID("conversation_id", (*pb.ListSourcesRequest).GetConversationId),
		text("run_id", optionalNameLimit(), (*pb.ListSourcesRequest).GetRunId),
		pageSize((*pb.ListSourcesRequest).GetPageSize),
		numberPageToken[*pb.ListSourcesRequest](math.MaxInt64),
	}
}

// ListSources lists source records, oldest first.
func (s *service) ListSources(ctx context.Context, req *pb.ListSourcesRequest) (*pb.ListSourcesResponse, error) {
	out, err := s.sources(ctx, req, pageLimit(req))
	if err != nil {
		return nil, err
	}
	if room := defaultReplyBytes - pageTokenBytes; proto.Size(out) > room {
		// The largest metadata for a thousand of them: as many as have room, which is a shorter page of the same listing.
		return s.sources(ctx, req, max(1, fitting(out.GetSources(), room)))
	}
	return out, nil
}

func (s *service) sources(ctx context.Context, req *pb.ListSourcesRequest, limit int) (*pb.ListSourcesResponse, error) {
	query := engine.SourcesRequest{Key: s.key(req.GetConversationId()), RunID: req.GetRunId(), Limit: limit}
	cursor, err := openNumber(req)
	if err != nil {
		return nil, err
	}
	if cursor != nil {
		query.Cursor = *cursor
	}
	result, err := s.engine.ListSources(ctx, query)
	if err != nil {
		return nil, err
	}
	out := &pb.ListSourcesResponse{Sources: each(result.Sources, toSource)}
	if result.Next != 0 {
		out.NextPageToken, err = sealPage(req, strconv.FormatInt(result.Next, 10))
	}
	return out, err
}

// fitting is how many elements of a list have room in so many bytes.
func fitting[M proto.Message](list []M, room int) int {
	for i, m := range list {
		if room -= elementBytes(m); room < 0 {
			return i
		}
	}
	return len(list)
}
