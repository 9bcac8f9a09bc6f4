package faults

import (
	"context"
	"fmt"
	"math/rand/v2"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// shortest is the length of the shortest text that expires, and longestLeft what compaction leaves of one at most: neither
// decides whether there is something to erase.
const (
	shortest    = 400
	longestLeft = 100
)

// needle ends the text that a message says alone: what stays in sight of an erased text is before it.
func needle(request string, i int) string { return fmt.Sprintf("needle(%s/%d)", request, i) }

// passing is a user's words and a unit, all of which expires.
func passing(r *rand.Rand, request string) []*pb.Message {
	words := &pb.Message{Role: pb.Role_ROLE_USER, Expiration: life(r), Parts: []*pb.Part{
		textPart(written(r, shortest)), textPart(written(r, 50) + needle(request, 0)),
	}}
	call := said(pb.Role_ROLE_ASSISTANT, r, 30)
	out := []*pb.Message{words, call}
	for i := range 1 + r.IntN(2) {
		id, length := fmt.Sprintf("%s-%d", request, i), shortest+r.IntN(2000)
		if r.IntN(5) == 0 {
			length = 33_000 + r.IntN(50_000) // stored as chunks, and clipped
		}
		call.Parts = append(call.Parts, &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{CallId: id, Name: "read", ArgumentsJson: "{}"}}})
		out = append(out, &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{
			CallId: id, Name: "read", State: pb.ToolResultState_TOOL_RESULT_STATE_COMPLETED, Expiration: life(r),
			Output: &pb.ToolResult_Text{Text: written(r, length) + needle(request, len(out))},
		}}}}})
	}
	return out
}

// life is short. An extract may hold any sentence, so that what is erased is cut after its first characters.
func life(r *rand.Rand) *pb.Expiration {
	e := &pb.Expiration{Turns: new(r.Int32N(3)), Mode: pb.ExpirationMode_EXPIRATION_MODE_REMOVE, PreserveOriginalContent: new(r.IntN(8) > 0)}
	if r.IntN(2) == 0 {
		e.Mode, e.CompactMode = pb.ExpirationMode_EXPIRATION_MODE_COMPACT, pb.CompactMode_COMPACT_MODE_FIRST_N_CHARS
		e.CompactLength = new(1 + r.Int32N(longestLeft))
		if e.GetPreserveOriginalContent() && r.IntN(2) == 0 {
			e.CompactMode = pb.CompactMode_COMPACT_MODE_AI_SUMMARY
		}
	}
	return e
}

// lives are the expirations of a message and of its results.
func lives(m *pb.Message) (out []*pb.Expiration) {
	if m.GetExpiration() != nil {
		out = append(out, m.GetExpiration())
	}
	for _, p := range m.GetParts() {
		if e := p.GetToolResult().GetExpiration(); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// additions are what two plugins add: one block each, beneath a header.
func (o *op) additions() []*pb.AdditionalContent {
	if o.kind != added {
		return nil
	}
	r := rand.New(rand.NewPCG(o.seed, 3))
	var out []*pb.AdditionalContent
	for _, plugin := range []string{"memory", "clock"}[:1+r.IntN(2)] {
		a := &pb.AdditionalContent{
			Plugin: plugin, Header: "## " + plugin, DisplayOnCurrentMessage: r.IntN(3) > 0, Parts: []*pb.Part{textPart(written(r, 80))},
			SaveToChatHistory: &pb.AdditionalContent_KeepLast{KeepLast: 1 + r.Int32N(6)},
		}
		if r.IntN(5) == 0 {
			a.SaveToChatHistory = &pb.AdditionalContent_Always{Always: &pb.Always{}}
		}
		out = append(out, a)
	}
	return out
}

// laid is a message with what plugins add, block by block (behaviour §6).
func laid(m *pb.Message, additions []*pb.AdditionalContent) *pb.Message {
	for _, p := range m.GetParts() {
		p.Retention = &pb.Retention{Policy: &pb.Retention_Permanent{Permanent: &pb.Permanent{}}}
	}
	for _, a := range additions {
		kept := &pb.Retention{Policy: &pb.Retention_Permanent{Permanent: &pb.Permanent{}}}
		if n := a.GetKeepLast(); n > 0 {
			kept.Policy = &pb.Retention_KeepLast{KeepLast: n}
		}
		variant := pb.PartVariant_PART_VARIANT_PERSISTENT_ONLY
		if a.GetDisplayOnCurrentMessage() {
			variant = pb.PartVariant_PART_VARIANT_UNSPECIFIED
		}
		blocks := append([]*pb.Part{textPart(a.GetHeader())}, a.GetParts()...)
		for _, p := range append(blocks, textPart("\n\n")) {
			p.Plugin, p.Retention, p.Variant = a.GetPlugin(), kept, variant
			m.Parts = append(m.Parts, p)
		}
	}
	return m
}

// restore puts the target's unit back in full.
func (o *op) restore(ctx context.Context, c *process.Client) (outcome, error) {
	reply, err := c.Context.ExpandMessage(ctx, &pb.ExpandMessageRequest{
		ConversationId: o.conversation, RequestId: o.request, Mode: pb.ExpandMode_EXPAND_MODE_RESTORE, MaxReplyBytes: new(int32(64 << 20)),
		Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: o.target},
	})
	return outcome{first: o.target, revision: reply.GetRevision(), duplicate: reply.GetDuplicate()}, err
}

// declined says whether an error is what a restoration may be told that finds nothing to bring back, or a retry of what was
// answered before and is erased since.
func (o *op) declined(err error) bool {
	switch process.Reason(err) {
	case "NOT_EDITED", "EXPANSION_TOO_LARGE":
		return o.kind == restoring
	case "RUN_ENDED":
		return o.kind == storing
	case "NOTHING_TO_COMPACT":
		return o.kind == compacting
	case "ALREADY_REWOUND":
		return o.kind == rewinding
	case "EMPTY_CONTEXT", "NO_MESSAGES", "PENDING_TOOL_CALLS": // what was to be answered, or shown, was taken back
		return o.tight && (o.kind == building || o.kind == compacting)
	default:
		return o.spent(err)
	}
}

// spent says whether an error is what a caller is told of an original that was erased meanwhile.
func (o *op) spent(err error) bool {
	switch process.Reason(err) {
	case "ORIGINAL_ERASED":
		return o.kind == restoring
	case "MANIFEST_NOT_REBUILDABLE":
		return o.kind == building
	default:
		return false
	}
}
