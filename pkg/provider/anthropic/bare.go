package anthropic

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// readBare reads a block that stands where a message should, if only one side can have sent it. It is false for anything
// that is not a block.
func readBare(r *provider.Reading, o *provider.Object) bool {
	kind := o.Get("type")
	switch text := r.Text(kind); {
	case text == "tool_result":
		p, ok := readGiven(r, o)
		if ok {
			r.AddInput(o.Node, []conversation.Part{p})
		}
	case text == "thinking", text == "redacted_thinking", strings.HasSuffix(text, "tool_use"), strings.HasSuffix(text, "_tool_result"):
		if p, ok := readBlock(r, o); ok {
			r.Join(o.Node, []conversation.Part{p})
		}
	case isPiece(text):
		r.Unclear(o.Node, "block")
	case isEvent(text):
		r.Streamed(o.Node)
	default:
		return false
	}
	return true
}

func isPiece(kind string) bool {
	switch kind {
	case "text", "image", "document", "search_result", "container_upload":
		return true
	default:
		return false
	}
}

func isEvent(kind string) bool {
	switch kind {
	case "message_start", "message_stop", "content_block_start", "content_block_stop", "ping", "error":
		return true
	default:
		return strings.HasSuffix(kind, "_delta")
	}
}
