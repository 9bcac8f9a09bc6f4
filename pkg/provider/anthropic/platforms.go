package anthropic

import (
	"regexp"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// platform is a platform that serves Claude, recognized by the form of the model's name.
type platform struct {
	names *regexp.Regexp
	// drops: the platform drops thinking that the model cannot read instead of refusing the request, so all thinking may be sent.
	drops bool
	// systemInside: models that take system messages among the others do so on this platform.
	systemInside bool
}

// platforms are tried in order. Nothing is known about a model whose name fits none. Read 2026-11-26.
var platforms = []platform{
	// Bedrock: us.anthropic.claude-sonnet-4-6-20260217-v1:0. Its page tells a drop of some models alone.
	// https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html
	{names: regexp.MustCompile(`^(?:[a-z-]+\.)?anthropic\.`)},
	// Vertex AI: claude-sonnet-4-6@20260217.
	{names: regexp.MustCompile(`@`)},
	// Anthropic's own, and Claude Platform on AWS, which has the same names: "If the current model can't read a block, the API drops it from
	// that request without an error." https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
	// "available on the Claude API and Claude Platform on AWS": https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
	{names: regexp.MustCompile(`^claude-[a-z]+-[0-9][0-9a-z-]*$`), drops: true, systemInside: true},
}

// systemModels take system messages among the others: Opus from 4.8 on, Fable and Mythos 5, Sonnet and Haiku from 5.5 on.
// https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages, read 2026-11-26.
var systemModels = regexp.MustCompile(`^claude-(?:opus-(?:4-8|[5-9])|(?:fable|mythos)-[5-9]|(?:sonnet|haiku)-(?:5-5|[6-9]))(?:-|$)`)

// thinkers are the models whose signed thinking other models can read: those with the version after the family's name.
var thinkers = regexp.MustCompile(`^claude-[a-z]+-[0-9]`)

func platformOf(model string) platform {
	model = strings.ToLower(model)
	for _, p := range platforms {
		if p.names.MatchString(model) {
			return p
		}
	}
	return platform{}
}

// reads reports whether thinking of one Anthropic model may be sent to another.
func reads(called, writer string) bool {
	return platformOf(called).drops && thinkers.MatchString(provider.BareModel(writer))
}

// takesSystem reports whether a model takes system messages among the others.
func takesSystem(model string) bool {
	return platformOf(model).systemInside && systemModels.MatchString(provider.BareModel(model))
}
