package openaichat

import "github.com/palimpsest-context/palimpsest/pkg/provider"

// readBare reads something that stands where a message should and whose speaker is clear: a choice of an answer, or a call. It is false for
// anything else.
func readBare(r *provider.Reading, o *provider.Object) bool {
	kind, object := o.Get("type"), o.Get("object")
	isCall := o.Has("id") && o.Has("function") || kind.Says("custom") && o.Has("custom")
	switch {
	case o.Has("delta"), object.Says("chat.completion.chunk"), isCall && o.Has("index"):
		r.Streamed(o.Node)
	case o.Has("message"):
		r.First(o.Get("index"))
		readMessage(r, r.Object(o.Get("message")), true)
	case isCall:
		m := assistant{reading: r, message: o}
		m.toolCall(o)
		r.Join(o.Node, m.parts)
	case isPiece(kind):
		r.Unclear(o.Node, "piece of content")
	default:
		return false
	}
	return true
}

func isPiece(kind provider.Node) bool {
	switch kind.JSON {
	case `"text"`, `"refusal"`, `"image_url"`, `"input_audio"`, `"file"`:
		return true
	default:
		return false
	}
}
