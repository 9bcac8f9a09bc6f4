package conversationservice

import (
	"context"
	"math"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func listManifestsRules() rules.Table[*pb.ListManifestsRequest] {
	return rules.Table[*pb.ListManifestsRequest]{
		schema.ConversationID("conversation_id", (*pb.ListManifestsRequest).GetConversationId),
		paging.PageSize((*pb.ListManifestsRequest).GetPageSize),
		paging.NumberToken[*pb.ListManifestsRequest](math.MaxInt64),
	}
}

// ListManifests lists the builds on record, newest first.
func (s *Service) ListManifests(ctx context.Context, req *pb.ListManifestsRequest) (*pb.ListManifestsResponse, error) {
	before := conversation.ValueOr(paging.OpenNumber[int64](req), 0)
	found, more, err := s.engine.Manifests(ctx, convert.Key(ctx, req.GetConversationId()), before, paging.Limit(req))
	if err != nil {
		return nil, err
	}
	out := &pb.ListManifestsResponse{Manifests: convert.Each(found, toManifest)}
	if more && len(found) > 0 {
		out.NextPageToken = paging.NextNumber(req, &found[len(found)-1].Seq)
	}
	return out, nil
}
