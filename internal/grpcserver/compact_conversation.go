package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// CompactConversation makes the conversation's view smaller now.
func (s *service) CompactConversation(ctx context.Context, req *pb.CompactConversationRequest) (*pb.CompactConversationResponse, error) {
	request, err := requestOf("CompactConversation", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	_, err = s.engine.Compact(ctx, engine.CompactRequest{Key: s.key(req.GetConversationId()), Request: request})
	return nil, err
}
