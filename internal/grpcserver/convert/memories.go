package convert

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// toRecalledMemories is a block of recalled memories; its text is that of the part.
func toRecalledMemories(text string, m *conversation.RecalledMemories) *pb.RecalledMemories {
	out := &pb.RecalledMemories{Text: text}
	for i := range m.Memories {
		out.Memories = append(out.Memories, toRecalledMemory(&m.Memories[i]))
	}
	return out
}

func toRecalledMemory(m *conversation.RecalledMemory) *pb.Memory {
	out := &pb.Memory{
		Id: m.ID, Kind: pb.MemoryKind(m.Kind), Text: m.Text, SaidBy: m.SaidBy, Time: ToTime(m.Time), Scope: pb.MemoryScope(m.Scope), Score: m.Score,
	}
	for _, s := range m.Sources {
		out.Sources = append(out.Sources, &pb.MemorySource{
			ConversationId: s.Conversation, StartIndex: s.First, EndIndex: EndAfter(s.First, s.Last), Time: ToTime(s.Time),
		})
	}
	return out
}
