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
	f.bool(5, &c.Unique)
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
	f.bool(13, &t.Joins)
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

func contentFields(f *fields, c *conversation.Content) {
	f.text(1, &c.Inline)
	optional(f, 2, &c.Ref, refFields)
	optional(f, 3, &c.Erased, erasedFields)
}

func refFields(f *fields, ref *conversation.ContentRef) {
	f.id(1, &ref.ID)
	integer(f, 2, &ref.Bytes)
	integer(f, 3, &ref.Chars)
	f.hash(4, &ref.SHA256)
}

func erasedFields(f *fields, e *conversation.ErasedContent) {
	integer(f, 1, &e.Bytes)
	integer(f, 2, &e.Chars)
	f.hash(3, &e.Hash)
}

func citationFields(f *fields, c *conversation.Citation) {
	f.text(1, &c.ContentID)
	integer(f, 2, &c.SourceType)
	f.text(3, &c.SourceURL)
	f.text(4, &c.ContentType)
	integer(f, 5, &c.TotalBytes)
	integer(f, 6, &c.TotalChars)
	f.text(7, &c.Location)
	integer(f, 8, &c.ExcerptFrom)
	integer(f, 9, &c.ExcerptEnd)
	integer(f, 10, &c.HowFrom)
	f.text(11, &c.SourceTitle)
}

func resultSourceFields(f *fields, s *conversation.ResultSource) {
	integer(f, 1, &s.Type)
	f.text(2, &s.URL)
	f.text(3, &s.Title)
}

func recalledFields(f *fields, v *conversation.Recalled) {
	f.text(1, &v.ContentID)
	integer(f, 2, &v.Index)
	f.bool(3, &v.Memories)
}

func recalledMemoriesFields(f *fields, m *conversation.RecalledMemories) {
	list(f, 1, &m.Memories, recalledMemoryFields)
}

func recalledMemoryFields(f *fields, m *conversation.RecalledMemory) {
	f.text(1, &m.ID)
	integer(f, 2, &m.Kind)
	integer(f, 3, &m.Scope)
	f.text(4, &m.Text)
	f.text(5, &m.SaidBy)
	list(f, 6, &m.Sources, recalledSourceFields)
	f.time(7, &m.Time)
	f.float(8, &m.Score)
}

func recalledSourceFields(f *fields, s *conversation.RecalledSource) {
	f.text(1, &s.Conversation)
	integer(f, 2, &s.First)
	integer(f, 3, &s.Last)
	f.time(4, &s.Time)
}
