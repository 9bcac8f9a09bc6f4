package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func updateConversationRules() table[*pb.UpdateConversationRequest] {
	return table[*pb.UpdateConversationRequest]{
		requiredMessage("conversation", (*pb.UpdateConversationRequest).GetConversation, conversationRules()),
		requiredMessage("update_mask", (*pb.UpdateConversationRequest).GetUpdateMask, maskRules()),
		requestID((*pb.UpdateConversationRequest).GetRequestId),
	}
}

// UpdateConversation changes what the mask names.
func (s *service) UpdateConversation(ctx context.Context, req *pb.UpdateConversationRequest) (*pb.UpdateConversationResponse, error) {
	request, err := requestOf("UpdateConversation", req, &req.RequestId)
	if err != nil {
		return nil, err
	}
	wanted := fromConversation(req.GetConversation())
	paths := req.GetUpdateMask().GetPaths()
	updated, err := s.engine.Update(ctx, engine.UpdateRequest{
		Key:     s.key(req.GetConversation().GetId()),
		Request: request,
		Change:  func(in engine.Info) (engine.Info, error) { return changed(in, wanted, paths) },
	})
	if err != nil {
		return nil, err
	}
	return &pb.UpdateConversationResponse{Conversation: toConversation(updated)}, nil
}

// changed takes from wanted what the paths name. What holds of a policy as a whole must hold of the outcome too.
func changed(info, wanted engine.Info, paths []string) (engine.Info, error) {
	settable := settables()
	for _, path := range paths {
		settable[path](&info, &wanted)
	}
	fit := info.Policy.Fit
	if r, w := fit.ReservedOutputTokens, fit.ContextWindowTokens; r != nil && w != nil && *r >= *w {
		return info, violation("conversation."+pathReserved, reservedOverWindow)
	}
	return info, nil
}
