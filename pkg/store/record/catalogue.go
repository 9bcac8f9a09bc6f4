package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Entries of a namespace's catalogue are replaced as a whole: what the old one had, and the new one has not, is meant to be gone.

// EncodeModelProfile makes the value of a slot, and DecodeModelProfile reads it.
var EncodeModelProfile, DecodeModelProfile = slotOf(modelProfileFields)

func modelProfileFields(f *fields, p *conversation.ModelProfile) {
	f.text(1, &p.Model)
	setting(f, 2, &p.ContextWindowTokens)
	setting(f, 3, &p.ReservedOutputTokens)
	f.text(4, &p.Counter)
	f.number(5, &p.Factor)
	setting(f, 6, &p.MediaTokens)
	f.number(7, &p.InputPrice)
	f.number(8, &p.CacheReadPrice)
	f.number(9, &p.CacheWritePrice)
	f.number(10, &p.OutputPrice)
	f.toggle(11, &p.LivePrefix)
	setting(f, 12, &p.CacheLifetime)
	integer(f, 13, &p.ReasoningBinding)
}

// EncodeActionPolicy makes the value of a slot, and DecodeActionPolicy reads it.
var EncodeActionPolicy, DecodeActionPolicy = slotOf(actionPolicyFields)

func actionPolicyFields(f *fields, p *conversation.ActionPolicy) {
	f.text(1, &p.Key.AgentActionID)
	f.text(2, &p.Key.ActionID)
	f.text(3, &p.Key.ToolName)
	nested(f, 4, &p.Expiration, expirationFields)
	f.text(5, &p.DefaultPromptID)
	f.toggle(6, &p.Citations.On)
	setting(f, 7, &p.Citations.ThresholdChars)
	integer(f, 8, &p.Importance)
}

// EncodePrompt makes the value of a slot, and DecodePrompt reads it.
var EncodePrompt, DecodePrompt = slotOf(promptFields)

func promptFields(f *fields, p *conversation.Prompt) {
	f.text(1, &p.ID)
	integer(f, 2, &p.Version)
	f.text(3, &p.Template)
	f.texts(4, &p.Models)
	integer(f, 5, &p.MaxOutput)
}
