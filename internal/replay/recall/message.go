// Package recall says what messages hold that a later one may take up: references, and runs of their words.
package recall

import (
	"encoding/json"
	"iter"
	"slices"
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

// Holds says whether blocks hold a key, from the newest back, where it most often is. What a block holds is kept by its bytes.
func Holds[S ~map[K]struct{}, K comparable](kept map[string]S, of func([]validate.Item) S, blocks []validate.Block, key K) bool {
	for _, b := range slices.Backward(blocks) {
		keys, ok := kept[b.JSON]
		if !ok {
			keys = of(b.Items)
			kept[b.JSON] = keys
		}
		if _, ok := keys[key]; ok {
			return true
		}
	}
	return false
}

// saidIn are the texts in which items say something: of a call what it is given, without JSON's own signs.
func saidIn(items []validate.Item) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, item := range items {
			for _, text := range item.Texts {
				switch item.Kind {
				case validate.Call:
					text = Leaves(text)
				case validate.Text, validate.Result:
				default:
					continue
				}
				if !yield(text) {
					return
				}
			}
		}
	}
}

// Leaves returns the keys and values of JSON, one a line; what is no JSON as it
// stands.
func Leaves(text string) string {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var b strings.Builder
	for {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		switch v := token.(type) {
		case string:
			b.WriteString(v)
		case json.Number:
			b.WriteString(v.String())
		}
		b.WriteByte('\n')
	}
	if decoder.InputOffset() < int64(len(strings.TrimRight(text, " \n\r\t"))) {
		return text
	}
	return b.String()
}
