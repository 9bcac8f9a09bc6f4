package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func partFields(f *fields, p *conversation.Part) {
	integer(f, 1, &p.Kind)
	integer(f, 2, &p.Tokens)
	f.bool(3, &p.Estimated)
	section(f, 4, &p.Text, contentFields)
	optional(f, 5, &p.Media, mediaFields)
	optional(f, 6, &p.Call, toolCallFields)
	optional(f, 7, &p.Result, resultFields)
	optional(f, 8, &p.Reasoning, reasoningFields)
	optional(f, 9, &p.Opaque, opaqueFields)
	integer(f, 10, &p.Retention.Kind)
	integer(f, 11, &p.Retention.Last)
	f.text(12, &p.Plugin)
	integer(f, 13, &p.Variant)
	optional(f, 14, &p.Citation, citationFields)
	optional(f, 15, &p.Recalled, recalledMemoriesFields)
	optional(f, 16, &p.Residue, residueFields)
	f.unknown(&p.Unknown)
}

func mediaFields(f *fields, m *conversation.Media) {
	f.text(1, &m.MIMEType)
	section(f, 2, &m.Data, contentFields)
	f.text(3, &m.URI)
	f.text(4, &m.Detail)
}

func toolCallFields(f *fields, c *conversation.ToolCall) {
	f.text(1, &c.CallID)
	f.text(2, &c.Name)
	section(f, 3, &c.Arguments, contentFields)
	integer(f, 4, &c.Ordinal)
}

func resultFields(f *fields, t *conversation.ToolResult) {
	f.text(1, &t.CallID)
	f.text(2, &t.Name)
	integer(f, 3, &t.State)
	integer(f, 4, &t.Output)
	section(f, 5, &t.Text, contentFields)
	list(f, 6, &t.Parts, resultPartFields)
	list(f, 7, &t.Actions, actionFields)
	integer(f, 8, &t.Ordinal)
	optional(f, 9, &t.Expiration, expirationFields)
	optional(f, 10, &t.Recalled, recalledFields)
	optional(f, 11, &t.Source, resultSourceFields)
	integer(f, 12, &t.Importance)
	f.unknown(&t.Unknown)
}

func resultPartFields(f *fields, p *conversation.ResultPart) {
	section(f, 1, &p.Text, contentFields)
	optional(f, 2, &p.Media, mediaFields)
}

func reasoningFields(f *fields, v *conversation.Reasoning) {
	section(f, 1, &v.Text, contentFields)
	section(f, 2, &v.Signature, contentFields)
	f.text(3, &v.Provider)
	f.text(4, &v.Model)
}

func opaqueFields(f *fields, o *conversation.Opaque) {
	f.text(1, &o.Provider)
	section(f, 2, &o.JSON, contentFields)
}

func residueFields(f *fields, v *conversation.Residue) {
	f.text(1, &v.Provider)
	f.text(2, &v.JSON)
}
