package provider

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// IDForm is the form of call ids that a provider accepts: a length in characters, and a pattern.
type IDForm struct {
	Max  int
	Only *regexp.Regexp
}

// The forms of ids, as providers document them or name them in refusals.
var (
	// WordID is letters, digits, _ and -, up to 64 of them: what Anthropic names in its refusals ("String should match pattern
	// '^[a-zA-Z0-9_-]+$'"), Bedrock's Converse API as toolUseId, and OpenAI's Responses as call_id ("string too long. Expected ... 64").
	WordID = IDForm{64, regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)}
	// ChatID is what OpenAI's chat completions take: 40 characters ("string too long. Expected a string with maximum length 40").
	ChatID = IDForm{40, regexp.MustCompile(`^[!-~]+$`)}
	// MistralID is nine letters and digits: "Tool call id was ... but must be a-z, A-Z, 0-9, with a length of 9".
	MistralID = IDForm{9, regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)}

	mistrals = regexp.MustCompile(`^(?:open-)?(?:mistral|ministral|mixtral|codestral|pixtral|magistral|devstral|voxtral)`)
)

// takes reports whether a provider takes an id as it is.
func (f IDForm) takes(id string) bool { return len(id) <= f.Max && f.Only.MatchString(id) }

// ChatIDForm is the form of ids for a model called through chat completions.
func ChatIDForm(model string) IDForm {
	if mistrals.MatchString(BareModel(model)) {
		return MistralID
	}
	return ChatID
}

// CallID returns the id with which a call is rendered. It is the call's own id if that is unique in the conversation and the provider
// accepts it. Otherwise it is a made id of nine letters and digits, which all providers accept. It depends on the record alone and not on
// the window.
func (c *UnitContext) CallID(t *Traits, call *conversation.ToolCall) string {
	if call.Unique && (t.IDs == nil || t.IDs(c.Model).takes(call.CallID)) {
		return call.CallID
	}
	return MadeID(call.Ordinal)
}

// AppendCallID appends the id of a call as a JSON string.
func (s *UnitWriter) AppendCallID(dst []byte, call *conversation.ToolCall) []byte {
	return AppendString(dst, s.Context.CallID(&s.Traits, call))
}

// madeIDs is the prefix of made ids. A caller's id with this prefix is never rendered, so that no id occurs twice.
const (
	madeIDs   = "pal"
	madeChars = 9
)

// MadeID makes an id from a call's ordinal.
func MadeID(ordinal int32) string {
	digits := strconv.FormatInt(int64(ordinal), 36)
	return madeIDs + strings.Repeat("0", madeChars-len(madeIDs)-len(digits)) + digits
}

// IsMadeID reports whether an id has the form of a made id.
func IsMadeID(id string) bool { return len(id) == madeChars && strings.HasPrefix(id, madeIDs) }
