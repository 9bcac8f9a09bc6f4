package contextservice

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// callBytes is what the arguments of all calls in an answer may take, which has to reach clients that take 4 MiB.
const callBytes = 1 << 20

// toCalls converts the calls that wait for a result.
func toCalls(calls []engine.OpenCall) []*pb.AppendedCall {
	room := callBytes
	return convert.Each(calls, func(c engine.OpenCall) *pb.AppendedCall {
		out := &pb.AppendedCall{ToolCall: convert.ToCall(&c.Call), Recalls: c.Recalls, MessageIndex: c.Message}
		if room -= len(out.GetToolCall().GetArgumentsJson()); room < 0 {
			out.ToolCall.ArgumentsJson = ""
		}
		return out
	})
}

func toHistory(h *engine.HistoryResult) *pb.HistoryResult {
	if h == nil {
		return nil
	}
	out := &pb.HistoryResult{KnownCount: h.KnownCount, KnownSha256: h.KnownSHA256, MatchedCount: h.Matched, ConversationId: h.Conversation}
	if h.Rewound.Len() > 0 {
		out.Rewound = toRange(h.Rewound)
	}
	out.Removed = convert.Each(h.Removed, toRange)
	out.View = convert.Each(h.View, toViewPiece)
	return out
}

func toReason(r conversation.Reason) pb.DecisionReason { return pb.DecisionReason(r) }

func toViewPiece(p engine.ViewPiece) *pb.ViewPiece {
	out := &pb.ViewPiece{
		Kind: pb.ViewPieceKind(p.Kind), ListIndexes: p.Elements, Json: p.JSON, Reasons: convert.Each(p.Reasons, toReason),
	}
	if p.Messages.Len() > 0 {
		out.Messages = toRange(p.Messages)
	}
	return out
}
