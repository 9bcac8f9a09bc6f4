package neutral

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

func message(m *provider.Message) []byte {
	out := []byte(`{"role":"` + m.Role.String() + `"`)
	if m.Name != "" {
		out = field(out, `,"name":`, m.Name)
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
		dst = field(dst, `{"type":"text","text":`, p.Text.Inline)
	case conversation.PartMedia:
		return appendMedia(dst, p.Media)
	case conversation.PartToolCall:
		dst = field(dst, `{"type":"tool_call","call_id":`, p.Call.CallID)
		dst = field(dst, `,"name":`, p.Call.Name)
		dst = field(dst, `,"arguments_json":`, p.Call.Arguments.Inline)
	case conversation.PartToolResult:
		dst = appendResult(dst, p.Result)
	case conversation.PartReasoning:
		dst = field(dst, `{"type":"reasoning","text":`, p.Reasoning.Text.Inline)
		dst = field(dst, `,"signature":`, p.Reasoning.Signature.Inline)
		dst = field(dst, `,"provider":`, p.Reasoning.Provider)
		dst = field(dst, `,"model":`, p.Reasoning.Model)
	case conversation.PartOpaque:
		dst = field(dst, `{"type":"opaque","provider":`, p.Opaque.Provider)
		dst = field(dst, `,"json":`, p.Opaque.JSON.Inline)
	default:
		dst = append(dst, `{"type":"unspecified"`...)
	}
	return append(dst, '}')
}

// field appends a key, as it is, and a string.
func field(dst []byte, key, value string) []byte {
	return provider.AppendString(append(dst, key...), value)
}

func appendMedia(dst []byte, m *conversation.Media) []byte {
	dst = field(dst, `{"type":"media","mime_type":`, m.MIMEType)
	if m.URI != "" {
		dst = field(dst, `,"uri":`, m.URI)
	} else {
		dst = provider.AppendBase64(append(dst, `,"data":`...), m.Data.Inline)
	}
	if m.Detail != "" {
		dst = field(dst, `,"detail":`, m.Detail)
	}
	return append(dst, '}')
}

func appendResult(dst []byte, r *conversation.ToolResult) []byte {
	dst = field(dst, `{"type":"tool_result","call_id":`, r.CallID)
	dst = field(dst, `,"name":`, r.Name)
	state := "COMPLETED"
	if r.State == conversation.ResultError {
		state = "ERROR"
	}
	dst = field(dst, `,"state":`, state)
	switch r.Output {
	case conversation.OutputParts:
		return appendParts(append(dst, `,"parts":[`...), r.Parts)
	case conversation.OutputJSON:
		return field(dst, `,"json":`, r.Text.Inline)
	default:
		return field(dst, `,"text":`, r.Text.Inline)
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
		dst = append(field(dst, `{"type":"text","text":`, parts[i].Text.Inline), '}')
	}
	return append(dst, ']')
}
