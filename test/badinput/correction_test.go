package badinput

import (
	"math"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// correction asks for other words of one part of a conversation's first message.
func correction(id string, part int32, text string) *pb.CorrectMessageRequest {
	return &pb.CorrectMessageRequest{ConversationId: id, Target: &pb.CorrectMessageRequest_MessageIndex{}, Corrections: []*pb.Correction{{
		PartIndex: part, Content: &pb.Correction_Text{Text: text},
	}}}
}

// correctionRows: what corrections can be wrong about.
func correctionRows() []row {
	with := func(change func(*pb.CorrectMessageRequest)) *pb.CorrectMessageRequest {
		r := correction(target, 0, secret)
		change(r)
		return r
	}
	json := func(text string) *pb.Correction { return &pb.Correction{Content: &pb.Correction_Json{Json: text}} }
	const rpc = "CorrectMessage"
	return []row{
		{rpc, "nothing", &pb.CorrectMessageRequest{}, invalid("conversation_id", "target", "corrections")},
		{rpc, "of none", correction(nobody, 0, secret), refusal{codes.NotFound, "CONVERSATION_NOT_FOUND", nil}},
		{rpc, "figures", with(func(r *pb.CorrectMessageRequest) {
			r.Target = &pb.CorrectMessageRequest_MessageIndex{MessageIndex: -1}
			r.Corrections[0].PartIndex, r.MaxReplyBytes = -1, new(int32(-1))
		}), invalid("message_index", "corrections[0].part_index", "max_reply_bytes")},
		{rpc, "names", with(func(r *pb.CorrectMessageRequest) {
			r.Target = &pb.CorrectMessageRequest_MessageId{}
			r.Reason, r.RequestId = strings.Repeat(secret, 100), strings.Repeat(secret, 30)
		}), invalid("message_id", "reason", "request_id")},
		{rpc, "no words", with(func(r *pb.CorrectMessageRequest) {
			r.Corrections = append(r.Corrections, &pb.Correction{Content: &pb.Correction_Text{Text: " \n"}}, &pb.Correction{}, json("{"))
		}), invalid("corrections[1].text", "corrections[2].content", "corrections[3].json")},
		{rpc, "too many", with(func(r *pb.CorrectMessageRequest) { r.Corrections = slices.Repeat(r.Corrections, 257) }), invalid("corrections")},
		{rpc, "past the end", with(func(r *pb.CorrectMessageRequest) {
			r.Target = &pb.CorrectMessageRequest_MessageIndex{MessageIndex: math.MaxInt32}
		}), refusal{codes.NotFound, "MESSAGE_NOT_FOUND", nil}},
		{rpc, "no such id", with(func(r *pb.CorrectMessageRequest) {
			r.Target = &pb.CorrectMessageRequest_MessageId{MessageId: secret}
		}), refusal{codes.NotFound, "MESSAGE_NOT_FOUND", nil}},
		{rpc, "no such part", correction(target, math.MaxInt32, secret), invalid("corrections[0].part_index")},
		{rpc, "one part twice", with(func(r *pb.CorrectMessageRequest) { r.Corrections = append(r.Corrections, r.Corrections[0]) }), invalid("corrections[1].part_index")},
		{rpc, "JSON for a text", with(func(r *pb.CorrectMessageRequest) { r.Corrections = []*pb.Correction{json("{}")} }), invalid("corrections[0].json")},
		{rpc, "no room for the answer", with(func(r *pb.CorrectMessageRequest) { r.MaxReplyBytes = new(int32(1)) }), refusal{codes.ResourceExhausted, "REPLY_TOO_LARGE", nil}},
	}
}
