package record

import (
	"encoding/binary"
	"math"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// Entries of a namespace's catalogue are replaced as a whole: what the old one had, and the new one has not, is meant to be gone.

// EncodeModelProfile makes the value of a slot.
func EncodeModelProfile(p *conversation.ModelProfile) []byte {
	return encodeSlot(p, writeModelProfile)
}

// DecodeModelProfile reads what EncodeModelProfile made.
func DecodeModelProfile(value []byte) (conversation.ModelProfile, error) {
	return decodeSlot(value, readModelProfile)
}

func writeModelProfile(b []byte, p *conversation.ModelProfile) []byte {
	b = appendText(b, 1, p.Model)
	b = appendSetting(b, 2, p.ContextWindowTokens)
	b = appendSetting(b, 3, p.ReservedOutputTokens)
	b = appendText(b, 4, p.Counter)
	b = appendNumber(b, 5, p.Factor)
	b = appendSetting(b, 6, p.MediaTokens)
	b = appendNumber(b, 7, p.InputPrice)
	b = appendNumber(b, 8, p.CacheReadPrice)
	b = appendNumber(b, 9, p.CacheWritePrice)
	b = appendNumber(b, 10, p.OutputPrice)
	return appendSwitch(b, 11, p.LivePrefix)
}

func readModelProfile(r *reader, p *conversation.ModelProfile) {
	for r.next() {
		switch r.field {
		case 1:
			p.Model = r.text()
		case 2:
			p.ContextWindowTokens = setting[int32](r)
		case 3:
			p.ReservedOutputTokens = setting[int32](r)
		case 4:
			p.Counter = r.text()
		case 5:
			p.Factor = number(r)
		case 6:
			p.MediaTokens = setting[int32](r)
		case 7:
			p.InputPrice = number(r)
		case 8:
			p.CacheReadPrice = number(r)
		case 9:
			p.CacheWritePrice = number(r)
		case 10:
			p.OutputPrice = number(r)
		case 11:
			p.LivePrefix = toggle(r)
		}
	}
}

// appendNumber is appendSetting for numbers with a point.
func appendNumber(b []byte, field int, v *float64) []byte {
	if v == nil {
		return b
	}
	return binary.LittleEndian.AppendUint64(appendTag(b, field, wireFixed), math.Float64bits(*v))
}

func number(r *reader) *float64 {
	v := r.float()
	return &v
}

// EncodeActionPolicy makes the value of a slot.
func EncodeActionPolicy(p *conversation.ActionPolicy) []byte {
	return encodeSlot(p, writeActionPolicy)
}

// DecodeActionPolicy reads what EncodeActionPolicy made.
func DecodeActionPolicy(value []byte) (conversation.ActionPolicy, error) {
	return decodeSlot(value, readActionPolicy)
}

func writeActionPolicy(b []byte, p *conversation.ActionPolicy) []byte {
	b = appendText(b, 1, p.Key.AgentActionID)
	b = appendText(b, 2, p.Key.ActionID)
	b = appendText(b, 3, p.Key.ToolName)
	b = appendNested(b, 4, &p.Expiration, writeExpiration)
	b = appendText(b, 5, p.DefaultPromptID)
	b = appendSwitch(b, 6, p.Citations.On)
	b = appendSetting(b, 7, p.Citations.ThresholdChars)
	return appendInt(b, 8, p.Importance)
}

func readActionPolicy(r *reader, p *conversation.ActionPolicy) {
	for r.next() {
		switch r.field {
		case 1:
			p.Key.AgentActionID = r.text()
		case 2:
			p.Key.ActionID = r.text()
		case 3:
			p.Key.ToolName = r.text()
		case 4:
			nested(r, &p.Expiration, readExpiration)
		case 5:
			p.DefaultPromptID = r.text()
		case 6:
			p.Citations.On = toggle(r)
		case 7:
			p.Citations.ThresholdChars = setting[int32](r)
		case 8:
			p.Importance = conversation.Importance(r.int32())
		}
	}
}

// EncodePrompt makes the value of a slot.
func EncodePrompt(p *conversation.Prompt) []byte { return encodeSlot(p, writePrompt) }

// DecodePrompt reads what EncodePrompt made.
func DecodePrompt(value []byte) (conversation.Prompt, error) { return decodeSlot(value, readPrompt) }

func writePrompt(b []byte, p *conversation.Prompt) []byte {
	b = appendText(b, 1, p.ID)
	b = appendInt(b, 2, p.Version)
	b = appendText(b, 3, p.Template)
	for _, model := range p.Models {
		b = appendElement(b, 4, model)
	}
	return appendInt(b, 5, p.MaxOutput)
}

func readPrompt(r *reader, p *conversation.Prompt) {
	for r.next() {
		switch r.field {
		case 1:
			p.ID = r.text()
		case 2:
			p.Version = r.int32()
		case 3:
			p.Template = r.text()
		case 4:
			p.Models = append(p.Models, r.text())
		case 5:
			p.MaxOutput = r.int32()
		}
	}
}
