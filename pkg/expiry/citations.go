package expiry

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Citing returns what action policies say about citing a result (behaviour §9): those of its actions, or else that of its tool. Policies
// that do not mention citations do not count.
func (o *Origin) Citing(policies Policies) conversation.ActionCitations {
	var out conversation.ActionCitations
	for _, a := range o.Actions {
		c := policies.citing(conversation.ActionKey{AgentActionID: a.AgentActionID})
		if c == (conversation.ActionCitations{}) {
			c = policies.citing(conversation.ActionKey{ActionID: a.ActionID})
		}
		out = stricter(out, c)
	}
	if out == (conversation.ActionCitations{}) {
		out = o.tool(policies).Citations
	}
	return out
}

func (p Policies) citing(key conversation.ActionKey) conversation.ActionCitations {
	if key == (conversation.ActionKey{}) {
		return conversation.ActionCitations{}
	}
	return p[key].Citations
}

// stricter combines the policies of two actions behind one result: cited if either says so, from the smaller threshold on.
func stricter(a, b conversation.ActionCitations) conversation.ActionCitations {
	if b.On != nil && (a.On == nil || *b.On) {
		a.On = b.On
	}
	if b.ThresholdChars != nil && (a.ThresholdChars == nil || *b.ThresholdChars < *a.ThresholdChars) {
		a.ThresholdChars = b.ThresholdChars
	}
	return a
}
