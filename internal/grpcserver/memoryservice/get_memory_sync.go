package memoryservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func getMemorySyncRules() rules.Table[*pb.GetMemorySyncRequest] {
	return rules.Table[*pb.GetMemorySyncRequest]{schema.ConversationID("conversation_id", (*pb.GetMemorySyncRequest).GetConversationId)}
}

// GetMemorySync says how far a conversation is remembered.
func (s *Service) GetMemorySync(ctx context.Context, req *pb.GetMemorySyncRequest) (*pb.GetMemorySyncResponse, error) {
	sync, err := s.engine.MemorySync(ctx, convert.Key(ctx, req.GetConversationId()))
	if err != nil {
		return nil, err
	}
	return &pb.GetMemorySyncResponse{Sync: convert.Each(sync, toSync)}, nil
}

func toSync(s engine.MemorySync) *pb.MemorySync {
	return &pb.MemorySync{
		Target:          s.Target,
		SyncedTo:        s.SyncedTo,
		LagMessages:     s.Lag,
		State:           pb.MemorySyncState(s.State),
		Reason:          s.Reason,
		NextTry:         convert.ToTime(s.NextTry),
		SkippedMessages: s.Skipped,
		Residue:         s.Residue,
		Session:         s.Session,
	}
}
