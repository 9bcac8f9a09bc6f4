package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// RewindConversation takes back the newest messages.
func (s *service) RewindConversation(ctx context.Context, req *pb.RewindConversationRequest) (*pb.RewindConversationResponse, error) {
	request, err := requestOf("RewindConversation", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	_, err = s.engine.Rewind(ctx, engine.RewindRequest{Key: s.key(req.GetConversationId()), Request: request, From: req.GetFromIndex()})
	return nil, err
}
