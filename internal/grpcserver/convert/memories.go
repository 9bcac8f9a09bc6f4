package convert

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// ToMemory gives a memory to the API.
func ToMemory(m engine.Memory) *pb.Memory {
	return &pb.Memory{
		Id:           m.ID,
		Kind:         pb.MemoryKind(m.Kind),
		Text:         m.Text,
		SaidBy:       m.SaidBy,
		Sources:      Each(m.Sources, toMemorySource),
		Time:         ToTime(m.Time),
		Scope:        pb.MemoryScope(m.Scope.Kind),
		Score:        m.Score,
		ExpireTime:   ToTime(m.ExpireTime),
		SupersededBy: m.SupersededBy,
		MetadataJson: m.Metadata,
	}
}

func toMemorySource(s engine.MemorySource) *pb.MemorySource {
	return &pb.MemorySource{ConversationId: s.Conversation, StartIndex: s.First, EndIndex: EndAfter(s.First, s.Last), Time: ToTime(s.Time)}
}

// ToDegradation gives what was done otherwise than asked to the API.
func ToDegradation(d engine.Degradation) *pb.Degradation {
	return &pb.Degradation{Asked: d.Asked, Reason: d.Reason, Done: d.Done, Code: d.Code}
}

// toRecalledMemories is a block of recalled memories; its text is that of the part.
func toRecalledMemories(text string, m *conversation.RecalledMemories) *pb.RecalledMemories {
	out := &pb.RecalledMemories{Text: text}
	for i := range m.Memories {
		out.Memories = append(out.Memories, toRecalledMemory(&m.Memories[i]))
	}
	return out
}

func toRecalledMemory(m *conversation.RecalledMemory) *pb.Memory {
	return &pb.Memory{
		Id: m.ID, Kind: pb.MemoryKind(m.Kind), Text: m.Text, SaidBy: m.SaidBy, Time: ToTime(m.Time), Scope: pb.MemoryScope(m.Scope), Score: m.Score,
		Sources: Each(m.Sources, func(s conversation.RecalledSource) *pb.MemorySource {
			return toMemorySource(engine.MemorySource{Conversation: s.Conversation, First: s.First, Last: s.Last, Time: s.Time})
		}),
	}
}
