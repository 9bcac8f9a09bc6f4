package grpcserver

import (
	"context"
	"encoding/hex"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func getManifestRules() table[*pb.GetManifestRequest] {
	return table[*pb.GetManifestRequest]{
		conversationID("conversation_id", (*pb.GetManifestRequest).GetConversationId),
		text("manifest_id", nameLimit(), (*pb.GetManifestRequest).GetManifestId, buildID),
		enum("format", (*pb.GetManifestRequest).GetFormat),
		replyBytes(func(r *pb.GetManifestRequest) *int32 { return r.MaxReplyBytes }),
	}
}

// GetManifest rebuilds an earlier build.
func (s *service) GetManifest(ctx context.Context, req *pb.GetManifestRequest) (*pb.GetManifestResponse, error) {
	build, _ := parseID(buildPrefix, req.GetManifestId())
	found, err := s.engine.Manifest(ctx, s.key(req.GetConversationId()), build, conversation.Format(req.GetFormat()))
	if err != nil {
		return nil, err
	}
	out := &pb.GetManifestResponse{
		Manifest: toManifest(found.Manifest),
		Messages: toContextMessages(found.Messages),
		Rendered: &pb.Rendered{
			SystemJson:       found.System,
			MessagesJson:     found.MessagesJSON,
			ContentSha256:    hex.EncodeToString(found.SHA256[:]),
			CacheBreakpoints: found.Breakpoints,
			Blocks:           found.Blocks,
		},
	}
	if err := checkReply(out, replyLimit(req.MaxReplyBytes), 0); err != nil {
		return nil, err
	}
	return out, nil
}
