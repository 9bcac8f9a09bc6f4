package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func writePart(b []byte, p *conversation.Part) []byte {
	b = appendInt(b, 1, p.Kind)
	b = appendInt(b, 2, p.Tokens)
	b = appendBool(b, 3, p.Estimated)
	b = appendContent(b, 4, &p.Text)
	b = appendOptional(b, 5, p.Media, writeMedia)
	b = appendOptional(b, 6, p.Call, writeToolCall)
	b = appendOptional(b, 7, p.Result, writeResult)
	b = appendOptional(b, 8, p.Reasoning, writeReasoning)
	b = appendOptional(b, 9, p.Opaque, writeOpaque)
	b = appendInt(b, 10, p.Retention.Kind)
	b = appendInt(b, 11, p.Retention.Last)
	b = appendText(b, 12, p.Plugin)
	b = appendInt(b, 13, p.Variant)
	b = appendOptional(b, 14, p.Citation, writeCitation)
	b = appendOptional(b, 15, p.Recalled, writeRecalledMemories)
	b = appendOptional(b, 16, p.Residue, writeResidue)
	return append(b, p.Unknown...)
}

func readPart(r *reader, p *conversation.Part) {
	for r.next() {
		switch r.field {
		case 1:
			p.Kind = conversation.PartKind(r.int32())
		case 2:
			p.Tokens = r.int32()
		case 3:
			p.Estimated = r.bool()
		case 4:
			nested(r, &p.Text, readContent)
		case 5:
			p.Media = optional(r, readMedia)
		case 6:
			p.Call = optional(r, readToolCall)
		case 7:
			p.Result = optional(r, readResult)
		case 8:
			p.Reasoning = optional(r, readReasoning)
		case 9:
			p.Opaque = optional(r, readOpaque)
		case 10:
			p.Retention.Kind = conversation.RetentionKind(r.int32())
		case 11:
			p.Retention.Last = r.int32()
		case 12:
			p.Plugin = r.text()
		case 13:
			p.Variant = conversation.Variant(r.int32())
		case 14:
			p.Citation = optional(r, readCitation)
		case 15:
			p.Recalled = optional(r, readRecalledMemories)
		case 16:
			p.Residue = optional(r, readResidue)
		default:
			p.Unknown += r.raw
		}
	}
}

func writeMedia(b []byte, m *conversation.Media) []byte {
	b = appendText(b, 1, m.MIMEType)
	b = appendContent(b, 2, &m.Data)
	b = appendText(b, 3, m.URI)
	return appendText(b, 4, m.Detail)
}

func readMedia(r *reader, m *conversation.Media) {
	for r.next() {
		switch r.field {
		case 1:
			m.MIMEType = r.text()
		case 2:
			nested(r, &m.Data, readContent)
		case 3:
			m.URI = r.text()
		case 4:
			m.Detail = r.text()
		}
	}
}

func writeToolCall(b []byte, c *conversation.ToolCall) []byte {
	b = appendText(b, 1, c.CallID)
	b = appendText(b, 2, c.Name)
	b = appendContent(b, 3, &c.Arguments)
	return appendInt(b, 4, c.Ordinal)
}

func readToolCall(r *reader, c *conversation.ToolCall) {
	for r.next() {
		switch r.field {
		case 1:
			c.CallID = r.text()
		case 2:
			c.Name = r.text()
		case 3:
			nested(r, &c.Arguments, readContent)
		case 4:
			c.Ordinal = r.int32()
		}
	}
}

func writeResult(b []byte, t *conversation.ToolResult) []byte {
	b = appendText(b, 1, t.CallID)
	b = appendText(b, 2, t.Name)
	b = appendInt(b, 3, t.State)
	b = appendInt(b, 4, t.Output)
	b = appendContent(b, 5, &t.Text)
	b = appendAll(b, 6, t.Parts, writeResultPart)
	b = appendAll(b, 7, t.Actions, writeAction)
	b = appendInt(b, 8, t.Ordinal)
	b = appendOptional(b, 9, t.Expiration, writeExpiration)
	b = appendOptional(b, 10, t.Recalled, writeRecalled)
	b = appendOptional(b, 11, t.Source, writeResultSource)
	b = appendInt(b, 12, t.Importance)
	return append(b, t.Unknown...)
}

func readResult(r *reader, t *conversation.ToolResult) {
	for r.next() {
		switch r.field {
		case 1:
			t.CallID = r.text()
		case 2:
			t.Name = r.text()
		case 3:
			t.State = conversation.ResultState(r.int32())
		case 4:
			t.Output = conversation.OutputKind(r.int32())
		case 5:
			nested(r, &t.Text, readContent)
		case 6:
			t.Parts = element(r, t.Parts, readResultPart)
		case 7:
			t.Actions = element(r, t.Actions, readAction)
		case 8:
			t.Ordinal = r.int32()
		case 9:
			t.Expiration = optional(r, readExpiration)
		case 10:
			t.Recalled = optional(r, readRecalled)
		case 11:
			t.Source = optional(r, readResultSource)
		case 12:
			t.Importance = conversation.Importance(r.int32())
		default:
			t.Unknown += r.raw
		}
	}
}

func writeResultPart(b []byte, p *conversation.ResultPart) []byte {
	b = appendContent(b, 1, &p.Text)
	return appendOptional(b, 2, p.Media, writeMedia)
}

func readResultPart(r *reader, p *conversation.ResultPart) {
	for r.next() {
		switch r.field {
		case 1:
			nested(r, &p.Text, readContent)
		case 2:
			p.Media = optional(r, readMedia)
		}
	}
}

func writeReasoning(b []byte, v *conversation.Reasoning) []byte {
	b = appendContent(b, 1, &v.Text)
	b = appendContent(b, 2, &v.Signature)
	b = appendText(b, 3, v.Provider)
	return appendText(b, 4, v.Model)
}

func readReasoning(r *reader, v *conversation.Reasoning) {
	for r.next() {
		switch r.field {
		case 1:
			nested(r, &v.Text, readContent)
		case 2:
			nested(r, &v.Signature, readContent)
		case 3:
			v.Provider = r.text()
		case 4:
			v.Model = r.text()
		}
	}
}

func writeOpaque(b []byte, o *conversation.Opaque) []byte {
	b = appendText(b, 1, o.Provider)
	return appendContent(b, 2, &o.JSON)
}

func readOpaque(r *reader, o *conversation.Opaque) {
	for r.next() {
		switch r.field {
		case 1:
			o.Provider = r.text()
		case 2:
			nested(r, &o.JSON, readContent)
		}
	}
}

func writeResidue(b []byte, v *conversation.Residue) []byte {
	b = appendText(b, 1, v.Provider)
	return appendText(b, 2, v.JSON)
}

func readResidue(r *reader, v *conversation.Residue) {
	for r.next() {
		switch r.field {
		case 1:
			v.Provider = r.text()
		case 2:
			v.JSON = r.text()
		}
	}
}
