package convert

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/alias"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// FromMessage takes a validated message of the API. The result shares its text; what is output only is left out.
func FromMessage(m *pb.Message) conversation.Message {
	return conversation.Message{
		ID:         m.GetId(),
		Role:       conversation.Role(m.GetRole()),
		Name:       m.GetName(),
		Parts:      Each(m.GetParts(), FromPart),
		Type:       conversation.MessageType(m.GetMessageType()),
		Actions:    Each(m.GetActions(), fromAction),
		Expiration: FromExpiration(m.GetExpiration()),
		Importance: conversation.Importance(m.GetImportance()),
		Pinned:     m.GetPinned(),
		Model:      m.GetModel(),
		RunID:      m.GetRunId(),
		StepID:     m.GetStepId(),
		Tags:       m.GetTags(),
		Metadata:   m.GetMetadataJson(),
	}
}

// Each converts a list; an empty one becomes nil.
func Each[A, B any](list []A, convert func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for i := range list {
		out[i] = convert(list[i])
	}
	return out
}

func fromAction(a *pb.ActionRef) conversation.ActionRef {
	return conversation.ActionRef{ActionID: a.GetActionId(), AgentActionID: a.GetAgentActionId()}
}

// FromPart takes a part; what is output only is left out.
func FromPart(p *pb.Part) conversation.Part {
	out := fromContent(p)
	out.Retention = fromRetention(p.GetRetention())
	if r := p.GetResidue(); r != nil {
		out.Residue = &conversation.Residue{Provider: r.GetProvider(), JSON: r.GetJson()}
	}
	return out
}

func fromContent(p *pb.Part) conversation.Part {
	switch content := p.GetContent().(type) {
	case *pb.Part_Text:
		return conversation.Part{Kind: conversation.PartText, Text: inline(content.Text)}
	case *pb.Part_Media:
		return conversation.Part{Kind: conversation.PartMedia, Media: fromMedia(content.Media)}
	case *pb.Part_ToolCall:
		return conversation.Part{Kind: conversation.PartToolCall, Call: FromCall(content.ToolCall)}
	case *pb.Part_ToolResult:
		return conversation.Part{Kind: conversation.PartToolResult, Result: fromResult(content.ToolResult)}
	case *pb.Part_Reasoning:
		return conversation.Part{Kind: conversation.PartReasoning, Reasoning: fromReasoning(content.Reasoning)}
	case *pb.Part_Opaque:
		return conversation.Part{Kind: conversation.PartOpaque, Opaque: fromOpaque(content.Opaque)}
	default:
		return conversation.Part{}
	}
}

func inline(s string) conversation.Content { return conversation.Content{Inline: s} }

func fromMedia(m *pb.Media) *conversation.Media {
	return &conversation.Media{
		MIMEType: m.GetMimeType(),
		Data:     inline(alias.String(m.GetData())),
		URI:      m.GetUri(),
		Detail:   m.GetDetail(),
	}
}

// FromCall takes a tool call.
func FromCall(c *pb.ToolCall) *conversation.ToolCall {
	return &conversation.ToolCall{CallID: c.GetCallId(), Name: c.GetName(), Arguments: inline(c.GetArgumentsJson())}
}

func fromResult(r *pb.ToolResult) *conversation.ToolResult {
	out := &conversation.ToolResult{
		CallID:  r.GetCallId(),
		Name:    r.GetName(),
		State:   conversation.ResultState(r.GetState()),
		Actions: Each(r.GetActions(), fromAction),

		Expiration: FromExpiration(r.GetExpiration()),
		Importance: conversation.Importance(r.GetImportance()),
		Recalled:   fromRecalled(r.GetRecalledFrom()),
		Source:     fromResultSource(r.GetSource()),
	}
	switch output := r.GetOutput().(type) {
	case *pb.ToolResult_Text:
		out.Text = inline(output.Text)
	case *pb.ToolResult_Json:
		out.Output, out.Text = conversation.OutputJSON, inline(output.Json)
	case *pb.ToolResult_Parts:
		out.Output, out.Parts = conversation.OutputParts, Each(output.Parts.GetParts(), fromPiece)
	}
	return out
}

func fromRecalled(r *pb.RecalledFrom) *conversation.Recalled {
	if r == nil {
		return nil
	}
	return &conversation.Recalled{ContentID: r.GetContentId(), Index: r.GetMessageIndex(), Memories: r.GetMemories()}
}

func fromResultSource(s *pb.ResultSource) *conversation.ResultSource {
	if s == nil {
		return nil
	}
	return &conversation.ResultSource{Type: conversation.SourceType(s.GetType()), URL: s.GetUrl(), Title: s.GetTitle()}
}

func fromPiece(p *pb.ToolResultPart) conversation.ResultPart {
	if m := p.GetMedia(); m != nil {
		return conversation.ResultPart{Media: fromMedia(m)}
	}
	return conversation.ResultPart{Text: inline(p.GetText())}
}

func fromReasoning(r *pb.Reasoning) *conversation.Reasoning {
	return &conversation.Reasoning{
		Text:      inline(r.GetText()),
		Signature: inline(r.GetSignature()),
		Provider:  r.GetProvider(),
		Model:     r.GetModel(),
	}
}

func fromOpaque(o *pb.Opaque) *conversation.Opaque {
	return &conversation.Opaque{Provider: o.GetProvider(), JSON: inline(o.GetJson())}
}
