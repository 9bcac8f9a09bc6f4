package contextservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func reportUsageRules() rules.Table[*pb.ReportUsageRequest] {
	return rules.Table[*pb.ReportUsageRequest]{
		schema.ConversationID("conversation_id", (*pb.ReportUsageRequest).GetConversationId),
		rules.Text("manifest_id", schema.NameLimit(), (*pb.ReportUsageRequest).GetManifestId, schema.BuildID),
		rules.Text("model", schema.OptionalNameLimit(), (*pb.ReportUsageRequest).GetModel),
		rules.Message("usage", (*pb.ReportUsageRequest).GetUsage, usageRules()).Also(func(c *rules.Checker, r *pb.ReportUsageRequest) {
			if (r.GetUsage() == nil) == (r.GetUsageJson() == "") {
				c.Fail("set exactly one of usage and usage_json")
			}
		}),
		usageJSON("usage_json", (*pb.ReportUsageRequest).GetUsageJson),
	}
}

// ReportUsage calibrates the counter by what a provider counted.
func (s *Service) ReportUsage(ctx context.Context, req *pb.ReportUsageRequest) (*pb.ReportUsageResponse, error) {
	usage, err := s.usageOf("usage_json", req.GetUsage(), req.GetUsageJson())
	if err != nil {
		return nil, err
	}
	build, _ := convert.ParseBuildID(req.GetManifestId())
	factor, counted, err := s.engine.ReportUsage(ctx, convert.Key(ctx, req.GetConversationId()), build, req.GetModel(), *usage)
	if err != nil {
		return nil, err
	}
	return &pb.ReportUsageResponse{Factor: factor, Counted: counted}, nil
}

func usageJSON[M any](field string, get func(M) string) rules.Rule[M] {
	return rules.OptionalText(field, rules.AtMostBytes(65_536), get, rules.JSONObject)
}

// usageOf is what a provider counted, as the API has it or as the provider writes it; nil if neither is given.
func (s *Service) usageOf(field string, u *pb.Usage, json string) (*engine.Usage, error) {
	if json == "" {
		return fromUsage(u), nil
	}
	read, err := s.engine.ReadUsage(json)
	if err != nil {
		return nil, inJSON(field, err)
	}
	return read, nil
}
