package gemini

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// readUnnamed reads a content without a role. It is the user's unless it holds something that only the model makes. It also reads a
// candidate or a part that stands where a content should.
func readUnnamed(r *provider.Reading, o *provider.Object) {
	switch {
	case o.Has("parts"):
		if parts := r.List(o.Get("parts")); slices.ContainsFunc(parts, func(n provider.Node) bool { return n.Is('{') && isMade(r.Object(n)) }) {
			r.Join(o.Node, inContent(r, o, readModel(r, o)))
			return
		}
		readUser(r, o)
	case o.Has("content"), o.Has("finishReason"):
		r.First(o.Get("index"))
		if content := o.Get("content"); !content.Missing() {
			r.Join(content, readModel(r, r.Object(content)))
		}
	case isMade(o):
		r.Join(o.Node, readPart(r, nil, o, r.Calls()))
	case o.Has("functionResponse"):
		if p, ok := readGiven(r, o); ok {
			r.AddInput(o.Node, []conversation.Part{p})
		}
	case slices.ContainsFunc(dataKeys(), o.Has):
		r.Unclear(o.Node, "part")
	default:
		r.Fail(&o.Node, "must be a content, with parts")
	}
}

// isMade reports whether only the model makes such a part.
func isMade(o *provider.Object) bool {
	thought := o.Get("thought")
	return thought.JSON == "true" || slices.ContainsFunc(append(nativeKeys(), "functionCall", "thoughtSignature"), o.Has)
}
