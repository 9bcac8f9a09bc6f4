package engine_test

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestEngine_Append_ActionPolicies_SayWhatIsCited: the policy of the agent's action comes first, then that of the action, then
// that of the tool, then the conversation's.
func TestEngine_Append_ActionPolicies_SayWhatIsCited(t *testing.T) {
	on, off := conversation.ActionCitations{On: ptr(true)}, conversation.ActionCitations{On: ptr(false)}
	from := func(chars int32) conversation.ActionCitations {
		return conversation.ActionCitations{ThresholdChars: &chars}
	}
	agent, action, tool := conversation.ActionKey{AgentActionID: "a"}, conversation.ActionKey{ActionID: "b"}, conversation.ActionKey{ToolName: "fetch"}
	both := []conversation.ActionRef{{AgentActionID: "a", ActionID: "b"}}
	two := []conversation.ActionRef{{AgentActionID: "a"}, {ActionID: "b"}}
	for name, c := range map[string]struct {
		cites    bool // the conversation's setting
		policies map[conversation.ActionKey]conversation.ActionCitations
		actions  []conversation.ActionRef
		chars    int
		want     bool
	}{
		"nothing said, off":                   {false, nil, both, 9_000, false},
		"nothing said, on":                    {true, nil, both, 9_000, true},
		"tool on":                             {false, map[conversation.ActionKey]conversation.ActionCitations{tool: on}, nil, 9_000, true},
		"tool off":                            {true, map[conversation.ActionKey]conversation.ActionCitations{tool: off}, nil, 9_000, false},
		"tool's threshold, under it":          {true, map[conversation.ActionKey]conversation.ActionCitations{tool: from(20_000)}, nil, 9_000, false},
		"tool's threshold, over it":           {true, map[conversation.ActionKey]conversation.ActionCitations{tool: from(4_000)}, nil, 9_000, true},
		"tool's threshold switches nothing":   {false, map[conversation.ActionKey]conversation.ActionCitations{tool: from(4_000)}, nil, 9_000, false},
		"action before tool":                  {true, map[conversation.ActionKey]conversation.ActionCitations{action: off, tool: on}, both, 9_000, false},
		"agent's action before action":        {true, map[conversation.ActionKey]conversation.ActionCitations{agent: on, action: off}, both, 9_000, true},
		"an agent's policy of other things":   {true, map[conversation.ActionKey]conversation.ActionCitations{agent: {}, action: off}, both, 9_000, false},
		"of two actions, one on":              {false, map[conversation.ActionKey]conversation.ActionCitations{agent: off, action: on}, two, 9_000, true},
		"of two actions, the least threshold": {true, map[conversation.ActionKey]conversation.ActionCitations{agent: from(20_000), action: from(4_000)}, two, 9_000, true},
	} {
		for _, form := range []string{"result", "message", "text"} {
			if form == "text" && c.actions == nil { // a text belongs to no tool
				continue
			}
			t.Run(name+", by "+form, func(t *testing.T) {
				b := citingBench()
				b.cites(t, "c", func(p *conversation.CitationsPolicy) { p.On = &c.cites })
				for key, cite := range c.policies {
					b.putPolicy(t, conversation.ActionPolicy{Key: key, Citations: cite})
				}
				b.append(t, "c", toolCall("1", "fetch", "{}"))
				m := result("1", prose(1, c.chars))
				switch form {
				case "result":
					m.Parts[0].Result.Actions = c.actions
				case "message":
					m.Actions = c.actions
				default:
					m = user(prose(1, c.chars))
					m.Type, m.Actions = conversation.TypeActionResult, c.actions
				}
				if got := len(b.append(t, "c", m).Citations[0]) == 1; got != c.want {
					t.Errorf("cited: %v", got)
				}
			})
		}
	}
}
