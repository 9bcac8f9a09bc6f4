package neutral

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

func message(m *provider.Message) []byte {
	out := []byte(`{"role":"` + m.Role.String() + `"`)
	if m.Name != "" {
		out = provider.AppendField(out, `,"name":`, m.Name)
	}
	out = append(out, `,"parts":[`...)
	for i := range m.Parts {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendPart(out, &m.Parts[i])
	}
	return append(out, "]}"...)
}

func appendPart(dst []byte, p *conversation.Part) []byte {
	switch p.Kind {
	case conversation.PartText:
		dst = provider.AppendField(dst, `{"type":"text","text":`, p.Text.Inline)
	case conversation.PartMedia:
		return appendMedia(dst, p.Media)
	case conversation.PartToolCall:
		dst = provider.AppendField(dst, `{"type":"tool_call","call_id":`, p.Call.CallID)
		dst = provider.AppendField(dst, `,"name":`, p.Call.Name)
		dst = provider.AppendField(dst, `,"arguments_json":`, p.Call.Arguments.Inline)
	case conversation.PartToolResult:
		dst = appendResult(dst, p.Result)
	case conversation.PartReasoning:
		dst = provider.AppendField(dst, `{"type":"reasoning","text":`, p.Reasoning.Text.Inline)
		dst = provider.AppendField(dst, `,"signature":`, p.Reasoning.Signature.Inline)
		dst = provider.AppendField(dst, `,"provider":`, p.Reasoning.Provider)
		dst = provider.AppendField(dst, `,"model":`, p.Reasoning.Model)
	case conversation.PartOpaque:
		dst = provider.AppendField(dst, `{"type":"opaque","provider":`, p.Opaque.Provider)
		dst = provider.AppendField(dst, `,"json":`, p.Opaque.JSON.Inline)
	default:
		dst = append(dst, `{"type":"unspecified"`...)
	}
	return append(dst, '}')
}

func appendMedia(dst []byte, m *conversation.Media) []byte {
	dst = provider.AppendField(dst, `{"type":"media","mime_type":`, m.MIMEType)
	if m.URI != "" {
		dst = provider.AppendField(dst, `,"uri":`, m.URI)
	} else {
		dst = provider.AppendBase64(append(dst, `,"data":`...), m.Data.Inline)
	}
	if m.Detail != "" {
		dst = provider.AppendField(dst, `,"detail":`, m.Detail)
	}
	return append(dst, '}')
}

func appendResult(dst []byte, r *conversation.ToolResult) []byte {
	dst = provider.AppendField(dst, `{"type":"tool_result","call_id":`, r.CallID)
	dst = provider.AppendField(dst, `,"name":`, r.Name)
	state := "COMPLETED"
	if r.State == conversation.ResultError {
		state = "ERROR"
	}
	dst = provider.AppendField(dst, `,"state":`, state)
	switch r.Output {
	case conversation.OutputParts:
		return appendParts(append(dst, `,"parts":[`...), r.Parts)
	case conversation.OutputJSON:
		return provider.AppendField(dst, `,"json":`, r.Text.Inline)
	default:
		return provider.AppendField(dst, `,"text":`, r.Text.Inline)
	}
}

func appendParts(dst []byte, parts []conversation.ResultPart) []byte {
	for i := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		if m := parts[i].Media; m != nil {
			dst = appendMedia(dst, m)
			continue
		}
		dst = append(provider.AppendField(dst, `{"type":"text","text":`, parts[i].Text.Inline), '}')
	}
	return append(dst, ']')
}
