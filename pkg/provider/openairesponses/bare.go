package openairesponses

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// isItem reports whether an object is an item, or a part of one. Then its member "input" belongs to a call and is not the
// input of a request.
func isItem(o *provider.Object) bool {
	return o.Has("type") || o.Has("role") || o.Has("call_id") || o.Has("name")
}

// readBare reads, by type, something that stands where an item should and is none. It is false for what may be an item.
func readBare(r *provider.Reading, o *provider.Object, kind string) bool {
	switch kind {
	case "output_text", "refusal":
		if p, ok := readPiece(r, o); ok {
			r.Join(o.Node, []conversation.Part{p})
		}
	case "input_text", "input_image", "input_file", "input_audio", "computer_screenshot", "summary_text", "reasoning_text",
		"text", "image", "image_url", "document", "file", "tool_use", "tool_result", "thinking", "redacted_thinking":
		r.Unclear(o.Node, "piece of content")
	case "function", "custom":
		r.Fail(&o.Node, "is a tool, and no item: a call has the type function_call or custom_tool_call")
	case "error", "keepalive":
		r.Streamed(o.Node)
	default:
		if !strings.Contains(kind, ".") { // types of events have a dot, types of items do not
			return false
		}
		r.Streamed(o.Node)
	}
	return true
}
