package conversationservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func updateConversationRules() rules.Table[*pb.UpdateConversationRequest] {
	return rules.Table[*pb.UpdateConversationRequest]{
		rules.RequiredMessage("conversation", (*pb.UpdateConversationRequest).GetConversation, conversationRules()),
		rules.RequiredMessage("update_mask", (*pb.UpdateConversationRequest).GetUpdateMask, maskRules()),
		schema.RequestID((*pb.UpdateConversationRequest).GetRequestId),
	}
}

// UpdateConversation changes what the mask names.
func (s *Service) UpdateConversation(ctx context.Context, req *pb.UpdateConversationRequest) (*pb.UpdateConversationResponse, error) {
	wanted := fromConversation(req.GetConversation())
	paths := req.GetUpdateMask().GetPaths()
	updated, err := s.engine.Update(ctx, engine.UpdateRequest{
		Key:     convert.Key(ctx, req.GetConversation().GetId()),
		Request: convert.FromRequest(req),
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
		return info, rules.Violation("conversation."+pathReserved, schema.ReservedOverWindow)
	}
	return info, nil
}
