package conversationservice

import (
	"context"
	"encoding/hex"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func getManifestRules() rules.Table[*pb.GetManifestRequest] {
	return rules.Table[*pb.GetManifestRequest]{
		schema.ConversationID("conversation_id", (*pb.GetManifestRequest).GetConversationId),
		rules.Text("manifest_id", schema.NameLimit(), (*pb.GetManifestRequest).GetManifestId, schema.BuildID),
		rules.Enum("format", (*pb.GetManifestRequest).GetFormat),
		paging.ReplyBytes(func(r *pb.GetManifestRequest) *int32 { return r.MaxReplyBytes }),
	}
}

// GetManifest rebuilds an earlier build.
func (s *Service) GetManifest(ctx context.Context, req *pb.GetManifestRequest) (*pb.GetManifestResponse, error) {
	build, _ := convert.ParseBuildID(req.GetManifestId())
	found, err := s.engine.Manifest(ctx, convert.Key(ctx, req.GetConversationId()), build, conversation.Format(req.GetFormat()))
	if err != nil {
		return nil, err
	}
	out := &pb.GetManifestResponse{
		Manifest: toManifest(found.Manifest),
		Messages: convert.ToContextMessages(found.Messages),
		Rendered: &pb.Rendered{
			SystemJson:       found.System,
			MessagesJson:     found.MessagesJSON,
			ContentSha256:    hex.EncodeToString(found.SHA256[:]),
			CacheBreakpoints: found.Breakpoints,
			Blocks:           found.Blocks,
		},
	}
	return out, paging.CheckReply(out, s.admission.ReplyLimit(req.MaxReplyBytes), 0)
}
