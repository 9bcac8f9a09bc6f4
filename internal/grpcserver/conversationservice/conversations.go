package conversationservice

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func fromConversation(c *pb.Conversation) engine.Info {
	return engine.Info{
		ActorID:  c.GetActorId(),
		AgentID:  c.GetAgentId(),
		Title:    c.GetTitle(),
		Metadata: c.GetMetadataJson(),
		Policy:   convert.FromPolicy(c.GetPolicy()),
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
		Policy:           convert.ToPolicy(c.Info.Policy),
		Counter:          c.Info.Counter,
		Turn:             c.Head.Turn,
		Revision:         c.Head.Revision,
		MessageCount:     c.Head.Messages,
		TokenCount:       c.Head.Tokens,
		WindowStartIndex: c.Head.Start,
		CreateTime:       convert.ToTime(c.Head.CreateTime),
		UpdateTime:       convert.ToTime(c.Head.UpdateTime),
		ExpireTime:       convert.ToTime(c.Head.ExpireTime),
		StoredBytes:      c.Head.Bytes,
		Continues:        c.Info.Continues,
	}
}

func conversationRules() rules.Table[*pb.Conversation] {
	return rules.Table[*pb.Conversation]{
		schema.ConversationID("id", (*pb.Conversation).GetId),
		rules.Text("actor_id", schema.OptionalNameLimit(), (*pb.Conversation).GetActorId),
		rules.Text("agent_id", schema.OptionalNameLimit(), (*pb.Conversation).GetAgentId),
		rules.Text("title", rules.AtMostBytes(1024), (*pb.Conversation).GetTitle),
		rules.OptionalText("metadata_json", rules.AtMostBytes(65_536), (*pb.Conversation).GetMetadataJson, rules.JSONObject),
		rules.Message("policy", (*pb.Conversation).GetPolicy, schema.Policy()),
		rules.ClosedText("counter", (*pb.Conversation).GetCounter, schema.CounterName),
	}.OutputOnly("turn", "revision", "message_count", "token_count", "window_start_index", "create_time", "update_time", "expire_time", "stored_bytes", "continues")
}
