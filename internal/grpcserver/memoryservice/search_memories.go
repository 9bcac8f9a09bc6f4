package memoryservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func searchMemoriesRules() rules.Table[*pb.SearchMemoriesRequest] {
	return rules.Table[*pb.SearchMemoriesRequest]{
		schema.ConversationID("conversation_id", (*pb.SearchMemoriesRequest).GetConversationId),
		rules.Text("query", rules.ByteRange(1, 10_000), (*pb.SearchMemoriesRequest).GetQuery),
		schema.MemoryScopes("scopes", (*pb.SearchMemoriesRequest).GetScopes),
		rules.Number("max_results", rules.NumberRange(0, 100), (*pb.SearchMemoriesRequest).GetMaxResults).Says("10 by default, and for 0"),
		rules.Decimal("min_score", 0, 1, func(r *pb.SearchMemoriesRequest) *float64 { return r.MinScore }),
	}
}

// SearchMemories finds the memories that answer a query.
func (s *Service) SearchMemories(ctx context.Context, req *pb.SearchMemoriesRequest) (*pb.SearchMemoriesResponse, error) {
	result, err := s.engine.SearchMemories(ctx, engine.SearchMemoriesRequest{
		Key:      convert.Key(ctx, req.GetConversationId()),
		Query:    req.GetQuery(),
		Scopes:   convert.Each(req.GetScopes(), func(s pb.MemoryScope) engine.MemoryScopeKind { return engine.MemoryScopeKind(s) }),
		Limit:    int(req.GetMaxResults()),
		MinScore: req.GetMinScore(),
	})
	if err != nil {
		return nil, err
	}
	found, _ := paging.Cut(convert.Each(result.Memories, convert.ToMemory))
	return &pb.SearchMemoriesResponse{Memories: found, Degradations: convert.Each(result.Degradations, convert.ToDegradation)}, nil
}
