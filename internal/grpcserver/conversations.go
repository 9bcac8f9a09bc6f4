package grpcserver

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func fromConversation(c *pb.Conversation) engine.Info {
	return engine.Info{
		ActorID:  c.GetActorId(),
		AgentID:  c.GetAgentId(),
		Title:    c.GetTitle(),
		Metadata: c.GetMetadataJson(),
		Policy:   fromPolicy(c.GetPolicy()),
		Counter:  c.GetCounter(),
	}
}

func toConversation(c *engine.Conversation) *pb.Conversation {
	return &pb.Conversation{
		Id:               c.ID,
		ActorId:          c.Info.ActorID,
		AgentId:          c.Info.AgentID,
		Title:            c.Info.Title,
		MetadataJson:     c.Info.Metadata,
		Policy:           toPolicy(c.Info.Policy),
		Counter:          c.Info.Counter,
		Turn:             c.Head.Turn,
		Revision:         c.Head.Revision,
		MessageCount:     c.Head.Messages,
		TokenCount:       c.Head.Tokens,
		WindowStartIndex: c.Head.Start,
		CreateTime:       toTime(c.Head.CreateTime),
		UpdateTime:       toTime(c.Head.UpdateTime),
		ExpireTime:       toTime(c.Head.ExpireTime),
	}
}

// fromRange: the engine reads an end below 0 as the end of the record.
func fromRange(r *pb.IndexRange) conversation.Range {
	if r == nil || r.End == nil {
		return conversation.Range{First: r.GetStart(), End: -1}
	}
	return conversation.Range{First: r.GetStart(), End: r.GetEnd()}
}

func fromFilter(f *pb.MessageFilter) engine.Filter {
	return engine.Filter{
		Roles: each(f.GetRoles(), func(r pb.Role) conversation.Role { return conversation.Role(r) }),
		Tags:  f.GetTags(),
		Types: each(f.GetMessageTypes(), func(t pb.MessageType) conversation.MessageType { return conversation.MessageType(t) }),
		RunID: f.GetRunId(),
	}
}
