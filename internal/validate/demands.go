package validate

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// chatSaid is what a message of the assistant's holds beside what every provider reads.
type chatSaid struct {
	fields map[string][]byte
	signed []bool // of each call, whether a signature of Gemini's is with it
}

// chatDemands are what a model's provider demands beyond OpenAI's rules.
type chatDemands struct {
	thought string   // reasoning_content: "calls" on messages with calls, "all" on all of the assistant's
	filled  bool     // and not an empty text
	refused []string // members
	strict  bool     // it refuses all members but its own
	ids     *regexp.Regexp
	signed  bool // the first call of a message
}

// chatDemandsOf are the demands by the beginning of a model's name, as their refusals tell, each read on 2026-11-26:
// api-docs.deepseek.com/guides/thinking_mode, api-docs.deepseek.com/guides/reasoning_model (R1), github.com/theopenco/llmgateway/pull/2093 and
// github.com/MoonshotAI/kimi-cli/pull/2498 (Kimi), github.com/BerriAI/litellm/issues/30835 (Mistral), ai.google.dev/gemini-api/docs/thought-signatures.
var chatDemandsOf = []struct {
	models  *regexp.Regexp
	demands chatDemands
}{
	{regexp.MustCompile(`^deepseek-r1`), chatDemands{refused: []string{"reasoning_content"}}},
	{regexp.MustCompile(`^deepseek-(chat|reasoner|flash|pro|v3[.-][1-9]|v[4-9])`), chatDemands{thought: "calls"}},
	{regexp.MustCompile(`^kimi-k2\.[56]`), chatDemands{thought: "calls", filled: true}},
	{regexp.MustCompile(`^kimi-(k2\.[7-9]|k[3-9])`), chatDemands{thought: "all"}},
	{regexp.MustCompile(`^kimi-k2-thinking`), chatDemands{thought: "calls"}},
	{
		regexp.MustCompile(`^(open-)?(mistral|ministral|mixtral|codestral|pixtral|magistral|devstral|voxtral)`),
		chatDemands{ids: regexp.MustCompile(`^[a-zA-Z0-9]{9}$`), strict: true},
	},
	{regexp.MustCompile(`^gemini-[3-9]`), chatDemands{signed: true}},
}

func demandsOf(model string) *chatDemands {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for i := range chatDemandsOf {
		if d := &chatDemandsOf[i]; d.models.MatchString(model) {
			return &d.demands
		}
	}
	return &chatDemands{}
}

func (d *chatDemands) check(r *reader, entries []*entry) {
	for i, e := range entries {
		if e.said == nil {
			continue
		}
		where := at("messages", i)
		d.checkMembers(r, e, where)
		if thought := e.said.fields["reasoning_content"]; d.thought == "all" || d.thought == "calls" && len(e.calls) > 0 {
			if thought == nil || d.filled && string(thought) == `""` {
				r.fault(where+".reasoning_content", RuleThought)
			}
		}
		for _, id := range e.calls {
			if d.ids != nil && !d.ids.MatchString(id) {
				r.fault(where+".tool_calls", RuleID)
			}
		}
		if d.signed && len(e.said.signed) > 0 && !e.said.signed[0] {
			r.fault(where+".tool_calls[0]", RuleSignature)
		}
	}
}

func (d *chatDemands) checkMembers(r *reader, e *entry, where string) {
	for _, key := range d.refused {
		if e.said.fields[key] != nil {
			r.fault(where, RuleUnknownKey)
		}
	}
	for key := range e.said.fields {
		if d.strict && key != "role" && key != "content" && key != "tool_calls" && key != "prefix" && key != "name" {
			r.fault(where, RuleUnknownKey)
		}
	}
}

// isSigned reports whether a call carries a signature of Gemini's.
func isSigned(call []byte) bool {
	if !bytes.Contains(call, []byte("thought_signature")) {
		return false
	}
	var signed struct {
		Extra struct {
			Google struct {
				Signature string `json:"thought_signature"`
			} `json:"google"`
		} `json:"extra_content"`
	}
	return json.Unmarshal(call, &signed) == nil && signed.Extra.Google.Signature != ""
}
