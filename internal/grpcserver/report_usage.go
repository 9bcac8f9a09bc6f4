package grpcserver

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func reportUsageRules() table[*pb.ReportUsageRequest] {
	return table[*pb.ReportUsageRequest]{
		conversationID("conversation_id", (*pb.ReportUsageRequest).GetConversationId),
		text("manifest_id", nameLimit(), (*pb.ReportUsageRequest).GetManifestId, buildID),
		text("model", optionalNameLimit(), (*pb.ReportUsageRequest).GetModel),
		requiredMessage("usage", (*pb.ReportUsageRequest).GetUsage, usageRules()),
	}
}

// ReportUsage calibrates the counter by what a provider counted.
func (s *service) ReportUsage(ctx context.Context, req *pb.ReportUsageRequest) (*pb.ReportUsageResponse, error) {
	build, _ := parseID(buildPrefix, req.GetManifestId())
	factor, counted, err := s.engine.ReportUsage(ctx, s.key(req.GetConversationId()), build, req.GetModel(), *fromUsage(req.GetUsage()))
	if err != nil {
		return nil, err
	}
	return &pb.ReportUsageResponse{Factor: factor, Counted: counted}, nil
}
