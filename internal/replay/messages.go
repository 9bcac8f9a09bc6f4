package replay

import (
	"encoding/json"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// messageOf says what a message says, in the judge's terms.
func messageOf(m *pb.Message) validate.Message {
	return validate.Message{Role: roleName(m.GetRole()), Pinned: m.GetPinned(), Items: itemsOf(m.GetParts())}
}

func roleName(r pb.Role) string { return strings.ToLower(strings.TrimPrefix(r.String(), "ROLE_")) }

func itemsOf(parts []*pb.Part) []validate.Item {
	items := make([]validate.Item, len(parts))
	for i, p := range parts {
		items[i] = itemOf(p)
	}
	return items
}

func itemOf(p *pb.Part) validate.Item {
	switch v := p.GetContent().(type) {
	case *pb.Part_Text:
		return validate.Item{Kind: validate.Text, Texts: []string{v.Text}}
	case *pb.Part_Media:
		return validate.Item{Kind: validate.Media, Media: 1}
	case *pb.Part_ToolCall:
		c := v.ToolCall
		return validate.Item{Kind: validate.Call, ID: c.GetCallId(), Name: c.GetName(), Texts: []string{c.GetArgumentsJson()}}
	case *pb.Part_ToolResult:
		return resultItem(v.ToolResult)
	case *pb.Part_Reasoning:
		return validate.Item{Kind: validate.Reasoning, Texts: []string{v.Reasoning.GetText()}}
	default:
		return validate.Item{Kind: validate.Opaque, Texts: []string{p.GetOpaque().GetJson()}}
	}
}

func resultItem(r *pb.ToolResult) validate.Item {
	item := validate.Item{Kind: validate.Result, ID: r.GetCallId(), Name: r.GetName()}
	switch out := r.GetOutput().(type) {
	case *pb.ToolResult_Json:
		item.Texts = []string{out.Json}
	case *pb.ToolResult_Parts:
		for _, p := range out.Parts.GetParts() {
			if p.GetMedia() != nil {
				item.Media++
			} else {
				item.Texts = append(item.Texts, p.GetText())
			}
		}
	default:
		item.Texts = []string{r.GetText()}
	}
	return item
}

// neutralJSON writes neutral messages as the judge reads them.
func neutralJSON(messages []*pb.ContextMessage) []byte {
	type message struct {
		Role  string          `json:"role"`
		Parts []validate.Item `json:"parts"`
	}
	out := make([]message, len(messages))
	for i, m := range messages {
		out[i] = message{roleName(m.GetRole()), itemsOf(m.GetParts())}
	}
	// Strings and numbers always encode.
	raw, _ := json.Marshal(out)
	return raw
}
