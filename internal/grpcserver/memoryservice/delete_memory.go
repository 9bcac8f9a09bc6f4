package memoryservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func deleteMemoryRules() rules.Table[*pb.DeleteMemoryRequest] {
	return scopeRules(rules.Text("memory_id", schema.NameLimit(), (*pb.DeleteMemoryRequest).GetMemoryId, rules.NoControls))
}

// DeleteMemory forgets one memory.
func (s *Service) DeleteMemory(ctx context.Context, req *pb.DeleteMemoryRequest) (*pb.DeleteMemoryResponse, error) {
	of, err := changed(ctx, req)
	if err != nil {
		return nil, err
	}
	deleted, err := s.engine.DeleteMemory(ctx, of, req.GetMemoryId())
	if err != nil {
		return nil, err
	}
	return &pb.DeleteMemoryResponse{Deleted: deleted}, nil
}
