package convert

import (
	"math"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/alias"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// ToMessage returns the API's form of a message whose contents are inline. The result shares its text.
func ToMessage(m *conversation.Message) *pb.Message {
	return &pb.Message{
		Id:           m.ID,
		Index:        m.Index,
		Role:         pb.Role(m.Role),
		Name:         m.Name,
		Parts:        toParts(m.Parts),
		MessageType:  pb.MessageType(m.Type),
		Actions:      Each(m.Actions, toAction),
		Expiration:   ToExpiration(m.Expiration),
		Importance:   pb.Importance(m.Importance),
		Pinned:       m.Pinned,
		Model:        m.Model,
		RunId:        m.RunID,
		StepId:       m.StepID,
		Tags:         m.Tags,
		MetadataJson: m.Metadata,
		CreateTime:   ToTime(m.CreateTime),
		TurnAdded:    m.TurnAdded,
		TokenCount:   m.Tokens,
		Estimated:    m.Estimated,
	}
}

// ToMessageInView returns a message with what the view shows of it.
func ToMessageInView(m *engine.MessageInView) *pb.Message {
	out := ToMessage(&m.Message)
	out.View = &pb.MessageView{
		Level:               toLevel(m.Level),
		EditId:              EditID(m.EditSeq),
		OriginalLengthChars: m.Chars,
		TokensSaved:         m.Saved,
		CanExpand:           m.Expandable,
		CompactedAt:         ToTime(m.EditTime),
		Expired:             m.Expired,
		InView:              m.InView,
		SummaryId:           SummaryID(m.Summary),
		Hidden:              m.Hidden,
		RemovedByCaller:     m.TakenOut,
	}
	return out
}

// toLevel: the API keeps 0 for what is not said.
func toLevel(l conversation.Level) pb.ViewLevel { return pb.ViewLevel(l + 1) }

// ToTime returns nil for a time that is not set.
func ToTime(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// Clamp fits a sum into the API's counts, which are 32 bits wide for the sake of JSON.
func Clamp(n int64) int32 { return int32(max(math.MinInt32, min(n, math.MaxInt32))) }

func toAction(a conversation.ActionRef) *pb.ActionRef {
	return &pb.ActionRef{ActionId: a.ActionID, AgentActionId: a.AgentActionID}
}

func toParts(parts []conversation.Part) []*pb.Part {
	out := make([]*pb.Part, len(parts))
	for i := range parts {
		out[i] = toPart(&parts[i])
	}
	if conversation.Erased(parts) {
		for i := range parts {
			out[i].Erasure = toErasure(parts[i : i+1])
		}
	}
	return out
}

func toPart(p *conversation.Part) *pb.Part {
	out := toContent(p)
	setCitation(out, p)
	out.Retention = toRetention(p.Retention)
	out.Plugin = p.Plugin
	out.Variant = pb.PartVariant(p.Variant)
	if p.Residue != nil {
		out.Residue = &pb.Residue{Provider: p.Residue.Provider, Json: p.Residue.JSON}
	}
	return out
}

// toErasure sums up what was erased of a part; nil if nothing was.
func toErasure(part []conversation.Part) *pb.Erasure {
	var out *pb.Erasure
	for _, c := range conversation.Contents(part) {
		if c.Erased == nil {
			continue
		}
		if out == nil {
			out = &pb.Erasure{}
		}
		out.OriginalLengthBytes += c.Erased.Bytes
		out.OriginalLengthChars += c.Erased.Chars
	}
	return out
}

func toContent(p *conversation.Part) *pb.Part {
	switch p.Kind {
	case conversation.PartText:
		if p.Recalled != nil {
			return &pb.Part{Content: &pb.Part_Recalled{Recalled: toRecalledMemories(p.Text.Inline, p.Recalled)}}
		}
		return &pb.Part{Content: &pb.Part_Text{Text: p.Text.Inline}}
	case conversation.PartMedia:
		return &pb.Part{Content: &pb.Part_Media{Media: toMedia(p.Media)}}
	case conversation.PartToolCall:
		return &pb.Part{Content: &pb.Part_ToolCall{ToolCall: ToCall(p.Call)}}
	case conversation.PartToolResult:
		return &pb.Part{Content: &pb.Part_ToolResult{ToolResult: ToResult(p.Result)}}
	case conversation.PartReasoning:
		return &pb.Part{Content: &pb.Part_Reasoning{Reasoning: toReasoning(p.Reasoning)}}
	case conversation.PartOpaque:
		return &pb.Part{Content: &pb.Part_Opaque{Opaque: &pb.Opaque{Provider: p.Opaque.Provider, Json: p.Opaque.JSON.Inline}}}
	default:
		return &pb.Part{}
	}
}

// ToCall converts a call, arguments inline.
func ToCall(c *conversation.ToolCall) *pb.ToolCall {
	return &pb.ToolCall{CallId: c.CallID, Name: c.Name, ArgumentsJson: c.Arguments.Inline}
}

func toMedia(m *conversation.Media) *pb.Media {
	out := &pb.Media{MimeType: m.MIMEType, Detail: m.Detail}
	switch {
	case m.URI != "":
		out.Source = &pb.Media_Uri{Uri: m.URI}
	case m.Data.Erased == nil:
		out.Source = &pb.Media_Data{Data: alias.Bytes(m.Data.Inline)}
	}
	return out
}

// ToResult returns the API's form of a tool result.
func ToResult(r *conversation.ToolResult) *pb.ToolResult {
	out := &pb.ToolResult{
		CallId:  r.CallID,
		Name:    r.Name,
		State:   pb.ToolResultState(r.State),
		Actions: Each(r.Actions, toAction),

		Expiration:   ToExpiration(r.Expiration),
		Importance:   pb.Importance(r.Importance),
		RecalledFrom: toRecalled(r.Recalled),
		Source:       toResultSource(r.Source),
	}
	switch r.Output {
	case conversation.OutputText:
		out.Output = &pb.ToolResult_Text{Text: r.Text.Inline}
	case conversation.OutputJSON:
		out.Output = &pb.ToolResult_Json{Json: r.Text.Inline}
	case conversation.OutputParts:
		out.Output = &pb.ToolResult_Parts{Parts: &pb.ToolResultParts{Parts: Each(r.Parts, toPiece)}}
	}
	return out
}

func toRecalled(r *conversation.Recalled) *pb.RecalledFrom {
	switch {
	case r == nil:
		return nil
	case r.Memories:
		return &pb.RecalledFrom{Source: &pb.RecalledFrom_Memories{Memories: true}}
	case r.ContentID != "":
		return &pb.RecalledFrom{Source: &pb.RecalledFrom_ContentId{ContentId: r.ContentID}}
	default:
		return &pb.RecalledFrom{Source: &pb.RecalledFrom_MessageIndex{MessageIndex: r.Index}}
	}
}

func toResultSource(s *conversation.ResultSource) *pb.ResultSource {
	if s == nil {
		return nil
	}
	return &pb.ResultSource{Type: pb.SourceType(s.Type), Url: s.URL, Title: s.Title}
}

func toPiece(p conversation.ResultPart) *pb.ToolResultPart {
	if p.Media != nil {
		return &pb.ToolResultPart{Content: &pb.ToolResultPart_Media{Media: toMedia(p.Media)}}
	}
	return &pb.ToolResultPart{Content: &pb.ToolResultPart_Text{Text: p.Text.Inline}}
}

func toReasoning(r *conversation.Reasoning) *pb.Reasoning {
	return &pb.Reasoning{Text: r.Text.Inline, Signature: r.Signature.Inline, Provider: r.Provider, Model: r.Model}
}
