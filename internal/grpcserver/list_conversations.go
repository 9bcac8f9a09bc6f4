package grpcserver

import (
	"context"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func listConversationsRules() table[*pb.ListConversationsRequest] {
	return table[*pb.ListConversationsRequest]{
		pageSize((*pb.ListConversationsRequest).GetPageSize),
		pageToken[*pb.ListConversationsRequest](),
		text("actor_id", optionalNameLimit(), (*pb.ListConversationsRequest).GetActorId),
		text("agent_id", optionalNameLimit(), (*pb.ListConversationsRequest).GetAgentId),
	}
}

// ListConversations lists conversations by id.
func (s *service) ListConversations(ctx context.Context, req *pb.ListConversationsRequest) (*pb.ListConversationsResponse, error) {
	after, _ := openPage(req)
	result, err := s.engine.List(ctx, engine.ListRequest{
		Namespace: defaultNamespace,
		After:     after,
		Limit:     pageLimit(req),
		ActorID:   req.GetActorId(),
		AgentID:   req.GetAgentId(),
	})
	if err != nil {
		return nil, err
	}
	return conversationsPage(req, result)
}

// conversationsPage ends the page where the answer would grow past the reply limit: a thousand conversations with the largest
// metadata would be 64 MiB.
func conversationsPage(req *pb.ListConversationsRequest, result *engine.ListResult) (*pb.ListConversationsResponse, error) {
	out := &pb.ListConversationsResponse{}
	next := result.Next
	size := 0
	for i := range result.Conversations {
		c := toConversation(&result.Conversations[i])
		if size += elementBytes(c); size > defaultReplyBytes-pageTokenBytes && i > 0 {
			next = result.Conversations[i-1].ID
			break
		}
		out.Conversations = append(out.Conversations, c)
	}
	var err error
	out.NextPageToken, err = nextPage(req, next)
	return out, err
}

// pageTokenBytes is the most that a page token adds to an answer.
const pageTokenBytes = 512

// elementBytes is what an element of a list adds to an answer: itself, its tag and its length.
func elementBytes(m proto.Message) int { return proto.Size(m) + 6 }

// nextPage seals a cursor; an empty one ends the listing.
func nextPage(req continued, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	return sealPage(req, cursor)
}
