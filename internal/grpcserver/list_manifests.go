package grpcserver

import (
	"context"
	"math"
	"strconv"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func listManifestsRules() table[*pb.ListManifestsRequest] {
	return table[*pb.ListManifestsRequest]{
		conversationID("conversation_id", (*pb.ListManifestsRequest).GetConversationId),
		pageSize((*pb.ListManifestsRequest).GetPageSize),
		numberPageToken[*pb.ListManifestsRequest](math.MaxInt64),
	}
}

// ListManifests lists the builds on record, newest first.
func (s *service) ListManifests(ctx context.Context, req *pb.ListManifestsRequest) (*pb.ListManifestsResponse, error) {
	before, err := openNumber(req)
	if err != nil {
		return nil, err
	}
	if before == nil {
		before = new(int64)
	}
	found, more, err := s.engine.Manifests(ctx, s.key(req.GetConversationId()), *before, pageLimit(req))
	if err != nil {
		return nil, err
	}
	out := &pb.ListManifestsResponse{Manifests: each(found, toManifest)}
	if more && len(found) > 0 {
		out.NextPageToken, err = sealPage(req, strconv.FormatInt(found[len(found)-1].Seq, 10))
	}
	return out, err
}
