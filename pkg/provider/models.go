package provider

import (
	"regexp"
	"strings"
)

// SameModel reports whether two names are names of the same model, on any platform, so that reasoning of one may be sent to the other. An
// empty name matches any. A release date at the end is ignored, because providers answer a request for an alias with the name of the
// release.
func SameModel(a, b string) bool {
	return a == "" || b == "" || a == b || BareModel(a) == BareModel(b)
}

// What platforms add to the name that a model's maker gave it.
var (
	// Bedrock: a region or "global", then the maker: us.anthropic.claude-sonnet-4-6.
	makerPrefix = regexp.MustCompile(`^(?:[a-z]{2,6}(?:-gov)?\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|writer|zai)\.`)
	// Bedrock: -v1:0, for Claude also -v1; Vertex AI: @20260217, @default; routers: :free, :thinking, :nitro.
	platformSuffix = regexp.MustCompile(`(?:-v\d+:\d+(?::\w+)?|@\w[\w-]*|:(?:free|thinking|nitro|floor|exacto|extended|online|beta|batch))$`)
	claudeVersion  = regexp.MustCompile(`^(claude-.*)-v\d+$`)
	// A release date at the end: eight digits, with or without hyphens.
	releaseDate = regexp.MustCompile(`-(?:\d{8}|\d{4}-\d{2}-\d{2})$`)
	claudeDot   = regexp.MustCompile(`^(claude-.*\d)\.(\d.*)$`)
)

// BareModel returns a model's name as its maker gives it, in lower case. It drops the folder of a router (anthropic/claude-sonnet-4-6), the
// region and maker of Bedrock, a platform's version, and the release date.
func BareModel(name string) string {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	name = makerPrefix.ReplaceAllString(name, "")
	name = platformSuffix.ReplaceAllString(name, "")
	name = claudeVersion.ReplaceAllString(name, "$1")
	name = claudeDot.ReplaceAllString(name, "$1-$2") // a router's claude-sonnet-4.6
	return releaseDate.ReplaceAllString(name, "")
}
