package policyservice

import (
	"context"
	"time"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
)

// PutModelProfile creates or replaces a model's profile.
func (s *Service) PutModelProfile(ctx context.Context, req *pb.PutModelProfileRequest) (*pb.PutModelProfileResponse, error) {
	profile := convert.FromModelProfile(req.GetProfile())
	err := s.engine.PutModelProfile(ctx, convert.Namespace(ctx), profile, convert.FromRequest(req))
	return &pb.PutModelProfileResponse{Profile: convert.ToModelProfile(profile)}, err
}

// GetModelProfile returns a model's profile.
func (s *Service) GetModelProfile(ctx context.Context, req *pb.GetModelProfileRequest) (*pb.GetModelProfileResponse, error) {
	found, err := s.engine.ModelProfile(ctx, convert.Namespace(ctx), req.GetModel())
	if err != nil {
		return nil, err
	}
	return &pb.GetModelProfileResponse{Profile: convert.ToModelProfile(*found)}, nil
}

// ListModelProfiles lists the profiles by model name.
func (s *Service) ListModelProfiles(ctx context.Context, req *pb.ListModelProfilesRequest) (*pb.ListModelProfilesResponse, error) {
	after, _ := paging.Open(req)
	found, next, err := s.engine.ModelProfiles(ctx, convert.Namespace(ctx), after, paging.Limit(req))
	return &pb.ListModelProfilesResponse{Profiles: convert.Each(found, convert.ToModelProfile), NextPageToken: paging.Next(req, next)}, err
}

// DeleteModelProfile removes a model's profile.
func (s *Service) DeleteModelProfile(ctx context.Context, req *pb.DeleteModelProfileRequest) (*pb.DeleteModelProfileResponse, error) {
	return &pb.DeleteModelProfileResponse{}, s.engine.DeleteModelProfile(ctx, convert.Namespace(ctx), req.GetModel(), convert.FromRequest(req))
}

func profileRules() rules.Table[*pb.ModelProfile] {
	return rules.Table[*pb.ModelProfile]{
		rules.Text("model", schema.NameLimit(), (*pb.ModelProfile).GetModel),
		rules.OptionalNumber("context_window_tokens", schema.WindowLimit(), func(p *pb.ModelProfile) *int32 { return p.ContextWindowTokens }),
		schema.BelowWindow(rules.OptionalNumber("reserved_output_tokens", schema.TokensLimit(), func(p *pb.ModelProfile) *int32 { return p.ReservedOutputTokens }),
			func(p *pb.ModelProfile) (reserved, window *int32) {
				return p.ReservedOutputTokens, p.ContextWindowTokens
			}),
		rules.ClosedText("counter", (*pb.ModelProfile).GetCounter, schema.CounterName),
		rules.Decimal("factor", 0.5, 2, func(p *pb.ModelProfile) *float64 { return p.Factor }),
		rules.OptionalNumber("media_tokens", rules.NumberRange(0, 1_000_000), func(p *pb.ModelProfile) *int32 { return p.MediaTokens }),
		rules.Decimal("input_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.InputPrice }),
		rules.Decimal("cache_read_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.CacheReadPrice }),
		rules.Decimal("cache_write_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.CacheWritePrice }),
		rules.Decimal("output_price", 0, 1_000_000, func(p *pb.ModelProfile) *float64 { return p.OutputPrice }),
		rules.Anything[*pb.ModelProfile]("live_prefix"),
		rules.Duration("cache_lifetime", "0 to 24 hours", 24*time.Hour, (*pb.ModelProfile).GetCacheLifetime),
		rules.Enum("reasoning_binding", (*pb.ModelProfile).GetReasoningBinding),
	}
}
