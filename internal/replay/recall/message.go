package recall

import (
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// Message says what a message says, in the judge's terms.
func Message(m *pb.Message) validate.Message {
	return validate.Message{Role: Role(m.GetRole()), Pinned: m.GetPinned(), Items: Items(m.GetParts())}
}

// Role is the name of who speaks, as providers write it.
func Role(r pb.Role) string { return strings.ToLower(strings.TrimPrefix(r.String(), "ROLE_")) }

// Items are what parts say.
func Items(parts []*pb.Part) []validate.Item {
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
		return Result(v.ToolResult)
	case *pb.Part_Reasoning:
		return validate.Item{Kind: validate.Reasoning, Texts: []string{v.Reasoning.GetText()}}
	default:
		return validate.Item{Kind: validate.Opaque, Texts: []string{p.GetOpaque().GetJson()}}
	}
}

// Result is what a tool's result says.
func Result(r *pb.ToolResult) validate.Item {
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
