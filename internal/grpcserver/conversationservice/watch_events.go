package conversationservice

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func watchEventsRules() rules.Table[*pb.WatchEventsRequest] {
	return rules.Table[*pb.WatchEventsRequest]{
		schema.ConversationID("conversation_id", (*pb.WatchEventsRequest).GetConversationId),
		rules.Text("resume_token", rules.AtMostBytes(4096), (*pb.WatchEventsRequest).GetResumeToken),
	}
}

// WatchEvents streams events until the caller leaves or the server drains: a graceful stop waits for every stream, and this one
// would never end by itself.
func (s *Service) WatchEvents(req *pb.WatchEventsRequest, stream grpc.ServerStreamingServer[pb.WatchEventsResponse]) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(s.drained, cancel)()
	err := s.engine.Watch(ctx, convert.Key(ctx, req.GetConversationId()), req.GetResumeToken(), func(e engine.EventAt) error {
		return stream.Send(&pb.WatchEventsResponse{
			Event: convert.ToEvent(e.Event), EventTime: timestamppb.New(e.Time), ResumeToken: e.Token,
		})
	})
	switch {
	case stream.Context().Err() != nil:
		return nil // the caller has left, as all watchers do: nobody hears an answer, and the log has no error to tell
	case s.drained.Err() != nil:
		return conversation.Errorf(conversation.StoreUnavailable, "the sidecar is shutting down; resume with the last token")
	default:
		return err
	}
}
