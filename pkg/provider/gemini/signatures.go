package gemini

import (
	"regexp"

	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// placeholder is what Google documents as the signature of a call that Gemini did not make: on both of its platforms
// (ai.google.dev/gemini-api/docs/thought-signatures, docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures, read 2026-11-26).
const placeholder = "skip_thought_signature_validator"

// newest are models of version 3 and later, by number or by an alias of the newest (ai.google.dev/gemini-api/docs/models,
// github.com/google-gemini/gemini-cli/issues/20588, read 2026-11-26).
var newest = regexp.MustCompile(`^gemini-(?:(?:[3-9]|\d\d)(?:[.-]|$)|(?:pro|flash|flash-lite)-latest$)`)

// takesMediaInResponses reports whether a model takes media beside a function's response, as those from version 3 on do
// (ai.google.dev/gemini-api/docs/function-calling, "Multimodal function responses"). Of a model without a name it is not known.
func takesMediaInResponses(model string) bool { return newest.MatchString(provider.BareModel(model)) }

// demanding says which models refuse a step whose first call has no signature; the first row that matches holds.
var demanding = []struct {
	models  *regexp.Regexp
	demands bool
}{
	// "Gemini 3 Pro Image doesn't return a 400 error" (the second page above).
	{regexp.MustCompile(`^gemini-.*-image(?:-|$)`), false},
	// "When using Gemini 3 models, you must pass back thought signatures" (the first page above); later ones keep to it.
	{newest, true},
}

// demandsSignature reports whether the first call of each step needs a signature: not for a model without a name, of which nothing is known.
func demandsSignature(model string) bool {
	name := provider.BareModel(model)
	for i := range demanding {
		if demanding[i].models.MatchString(name) {
			return demanding[i].demands
		}
	}
	return false
}
