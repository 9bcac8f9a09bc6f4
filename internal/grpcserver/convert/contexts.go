package convert

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// ToContextMessages returns the messages of a build.
func ToContextMessages(messages []engine.Message) []*pb.ContextMessage {
	if len(messages) == 0 {
		return nil
	}
	out := make([]*pb.ContextMessage, len(messages))
	for i := range messages {
		m := &messages[i]
		out[i] = &pb.ContextMessage{
			Role:   pb.Role(m.Role),
			Name:   m.Name,
			Parts:  toParts(m.Parts),
			Tokens: m.Tokens,
			EditId: EditID(m.EditSeq),
			Origin: toOrigin(m),

			Shortened: m.Shortened,
		}
		if m.Summary == 0 && m.Synthetic == "" {
			out[i].EndIndex = EndAfter(m.Index, m.Last)
		}
	}
	return out
}

func toOrigin(m *engine.Message) *pb.Origin {
	switch {
	case m.Summary > 0:
		return &pb.Origin{Source: &pb.Origin_SummaryId{SummaryId: SummaryID(m.Summary)}}
	case m.Synthetic != "":
		return &pb.Origin{Source: &pb.Origin_Synthetic{Synthetic: m.Synthetic}}
	default:
		return &pb.Origin{Source: &pb.Origin_MessageIndex{MessageIndex: m.Index}}
	}
}
