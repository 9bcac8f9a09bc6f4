package contextservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

func reportUsageRules() rules.Table[*pb.ReportUsageRequest] {
	return rules.Table[*pb.ReportUsageRequest]{
		schema.ConversationID("conversation_id", (*pb.ReportUsageRequest).GetConversationId),
		rules.Text("manifest_id", schema.NameLimit(), (*pb.ReportUsageRequest).GetManifestId, schema.BuildID),
		rules.Text("model", schema.OptionalNameLimit(), (*pb.ReportUsageRequest).GetModel),
		rules.RequiredMessage("usage", (*pb.ReportUsageRequest).GetUsage, usageRules()),
	}
}

// ReportUsage calibrates the counter by what a provider counted.
func (s *Service) ReportUsage(ctx context.Context, req *pb.ReportUsageRequest) (*pb.ReportUsageResponse, error) {
	build, _ := convert.ParseBuildID(req.GetManifestId())
	factor, counted, err := s.engine.ReportUsage(ctx, convert.Key(ctx, req.GetConversationId()), build, req.GetModel(), *fromUsage(req.GetUsage()))
	if err != nil {
		return nil, err
	}
	return &pb.ReportUsageResponse{Factor: factor, Counted: counted}, nil
}
