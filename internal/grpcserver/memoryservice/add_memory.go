package memoryservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func addMemoryRules() rules.Table[*pb.AddMemoryRequest] {
	return scopeRules(
		rules.Text("text", rules.ByteRange(1, 16_000), (*pb.AddMemoryRequest).GetText),
		rules.OptionalText("metadata_json", rules.AtMostBytes(4_096), (*pb.AddMemoryRequest).GetMetadataJson, rules.JSONObject),
		rules.Time("expire_time", (*pb.AddMemoryRequest).GetExpireTime),
		schema.RequestID((*pb.AddMemoryRequest).GetRequestId),
	)
}

// AddMemory remembers a text as it is.
func (s *Service) AddMemory(ctx context.Context, req *pb.AddMemoryRequest) (*pb.AddMemoryResponse, error) {
	of, err := changed(ctx, req)
	if err != nil {
		return nil, err
	}
	add := engine.AddMemoryRequest{Of: of, Text: req.GetText(), Metadata: req.GetMetadataJson(), RequestID: req.GetRequestId()}
	if req.GetExpireTime() != nil {
		add.ExpireTime = req.GetExpireTime().AsTime()
	}
	id, err := s.engine.AddMemory(ctx, add)
	if err != nil {
		return nil, err
	}
	return &pb.AddMemoryResponse{MemoryId: id}, nil
}
