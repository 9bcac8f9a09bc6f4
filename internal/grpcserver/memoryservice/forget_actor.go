package memoryservice

import (
	"context"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func forgetActorRules() rules.Table[*pb.ForgetActorRequest] {
	return rules.Table[*pb.ForgetActorRequest]{
		rules.Text("actor_id", schema.NameLimit(), (*pb.ForgetActorRequest).GetActorId),
		rules.Enum("records", (*pb.ForgetActorRequest).GetRecords),
	}
}

// ForgetActor begins to forget everything that is remembered of an actor.
func (s *Service) ForgetActor(ctx context.Context, req *pb.ForgetActorRequest) (*pb.ForgetActorResponse, error) {
	erase := req.GetRecords() == pb.ForgetRecords_FORGET_RECORDS_DELETE
	forgetting, err := s.engine.ForgetActor(ctx, convert.Namespace(ctx), req.GetActorId(), erase)
	if err != nil {
		return nil, err
	}
	return &pb.ForgetActorResponse{Forget: toForget(forgetting)}, nil
}

func toForget(f *engine.Forgetting) *pb.Forget {
	return &pb.Forget{
		ForgetId:             f.ID,
		State:                pb.ForgetState(f.State),
		DeletedMemories:      f.Deleted,
		DeletedConversations: f.Conversations,
		Residue:              f.Residue,
		CreateTime:           convert.ToTime(f.CreateTime),
		DoneTime:             convert.ToTime(f.DoneTime),
	}
}
