package recording

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// piece is a block of content, in OpenAI's or Anthropic's form.
type piece struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Refusal   string          `json:"refusal"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Source    *struct {
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
	ImageURL *struct {
		URL    string `json:"url"`
		Detail string `json:"detail"`
	} `json:"image_url"`
}

// partsOf reads content: nothing, a text, or a list of blocks.
func partsOf(content json.RawMessage) ([]*pb.Part, error) {
	if !present(content) {
		return nil, nil
	}
	var text string
	if json.Unmarshal(content, &text) == nil {
		if text == "" {
			return nil, nil
		}
		return []*pb.Part{textPart(text)}, nil
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(content, &raws); err != nil {
		return nil, fmt.Errorf("its content is neither a text nor a list of blocks: %w", err)
	}
	parts := make([]*pb.Part, len(raws))
	for i, raw := range raws {
		var err error
		if parts[i], err = partOf(raw); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
	}
	return parts, nil
}

func partOf(raw json.RawMessage) (*pb.Part, error) {
	var p piece
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	switch p.Type {
	case "text", "input_text", "output_text":
		return textPart(p.Text), nil
	case "refusal":
		return textPart(p.Refusal), nil
	case "tool_use":
		return callPart(p.ID, p.Name, p.Input), nil
	case "tool_result":
		return resultOf(p.ToolUseID, "", p.Content, p.IsError)
	case "thinking":
		return reasoning(p.Thinking, p.Signature, "anthropic"), nil
	case "redacted_thinking":
		return &pb.Part{Content: &pb.Part_Opaque{Opaque: &pb.Opaque{Provider: "anthropic", Json: string(raw)}}}, nil
	case "image", "document", "image_url":
		m, err := p.media()
		return &pb.Part{Content: &pb.Part_Media{Media: m}}, err
	default:
		return nil, fmt.Errorf("no block of type %q is known", p.Type)
	}
}

func textPart(text string) *pb.Part { return &pb.Part{Content: &pb.Part_Text{Text: text}} }

func reasoning(text, signature, provider string) *pb.Part {
	r := &pb.Reasoning{Text: text, Signature: signature, Provider: provider}
	return &pb.Part{Content: &pb.Part_Reasoning{Reasoning: r}}
}

// callPart makes a call of arguments that are a text, as OpenAI has them, or an
// object, as Anthropic has them.
func callPart(id, name string, arguments json.RawMessage) *pb.Part {
	c := &pb.ToolCall{CallId: id, Name: name}
	if json.Unmarshal(arguments, &c.ArgumentsJson) != nil {
		c.ArgumentsJson = compactOrRaw(arguments)
	}
	return &pb.Part{Content: &pb.Part_ToolCall{ToolCall: c}}
}

func compactOrRaw(raw json.RawMessage) string {
	if s := compact(raw); s != "" {
		return s
	}
	return string(raw)
}

// resultOf makes a result of a text, or of text and media.
func resultOf(id, name string, content json.RawMessage, failed bool) (*pb.Part, error) {
	r := &pb.ToolResult{CallId: id, Name: name, State: pb.ToolResultState_TOOL_RESULT_STATE_COMPLETED}
	if failed {
		r.State = pb.ToolResultState_TOOL_RESULT_STATE_ERROR
	}
	parts, err := partsOf(content)
	if len(parts) < 2 && (len(parts) == 0 || parts[0].GetMedia() == nil) {
		text := ""
		if len(parts) == 1 {
			text = parts[0].GetText()
		}
		r.Output = &pb.ToolResult_Text{Text: text}
	} else {
		r.Output = &pb.ToolResult_Parts{Parts: resultParts(parts)}
	}
	return &pb.Part{Content: &pb.Part_ToolResult{ToolResult: r}}, err
}

func resultParts(parts []*pb.Part) *pb.ToolResultParts {
	out := &pb.ToolResultParts{}
	for _, p := range parts {
		if m := p.GetMedia(); m != nil {
			out.Parts = append(out.Parts, &pb.ToolResultPart{Content: &pb.ToolResultPart_Media{Media: m}})
		} else {
			out.Parts = append(out.Parts, &pb.ToolResultPart{Content: &pb.ToolResultPart_Text{Text: p.GetText()}})
		}
	}
	return out
}

// media reads an image or a document, given inline or by its address.
func (p *piece) media() (*pb.Media, error) {
	kind, data, url, detail := "image/*", "", "", ""
	switch {
	case p.Source != nil:
		data, url = p.Source.Data, p.Source.URL
		if p.Source.MediaType != "" {
			kind = p.Source.MediaType
		}
	case p.ImageURL != nil:
		url, detail = p.ImageURL.URL, p.ImageURL.Detail
	}
	if inline, ok := strings.CutPrefix(url, "data:"); ok {
		kind, data, _ = strings.Cut(inline, ";base64,")
	}
	m := &pb.Media{MimeType: kind, Detail: detail}
	if data == "" {
		m.Source = &pb.Media_Uri{Uri: url}
		return m, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(data)
	m.Source = &pb.Media_Data{Data: decoded}
	return m, err
}
