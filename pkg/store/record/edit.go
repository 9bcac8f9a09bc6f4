package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func writeEdit(b []byte, e *conversation.Edit) []byte {
	b = appendInt(b, 1, e.Seq)
	b = appendInt(b, 2, e.Kind)
	if e.Range != (conversation.Range{}) {
		b = appendNested(b, 3, &e.Range, writeRange)
	}
	b = appendAll(b, 4, e.Parts, writePartEdit)
	b = appendPacked(b, 5, e.Mask, false)
	b = appendOptional(b, 6, e.Summary, writeSummary)
	b = appendInt(b, 7, e.Reason)
	b = appendInt(b, 8, e.Turn)
	b = appendTime(b, 9, e.Time)
	b = appendInt(b, 10, e.Before)
	b = appendInt(b, 11, e.After)
	b = appendUint(b, 12, e.Commit)
	b = appendBool(b, 13, e.Erases)
	b = appendText(b, 14, e.Content)
	b = appendText(b, 15, e.Said)
	b = appendPacked(b, 16, e.Brought, false)
	return append(b, e.Unknown...)
}

func readEdit(r *reader, e *conversation.Edit) {
	for r.next() {
		switch r.field {
		case 1:
			e.Seq = r.int64()
		case 2:
			e.Kind = conversation.EditKind(r.int32())
		case 3:
			nested(r, &e.Range, readRange)
		case 4:
			e.Parts = element(r, e.Parts, readPartEdit)
		case 5:
			packed(r, func(v int32) { e.Mask = append(e.Mask, v) })
		case 6:
			e.Summary = optional(r, readSummary)
		case 7:
			e.Reason = conversation.Reason(r.int32())
		case 8:
			e.Turn = r.int32()
		case 9:
			e.Time = r.time()
		case 10:
			e.Before = r.int64()
		case 11:
			e.After = r.int64()
		case 12:
			e.Commit = r.uint()
		case 13:
			e.Erases = r.bool()
		case 14:
			e.Content = r.text()
		case 15:
			e.Said = r.text()
		case 16:
			packed(r, func(v int32) { e.Brought = append(e.Brought, v) })
		default:
			e.Unknown += r.raw
		}
	}
}

func writePartEdit(b []byte, p *conversation.PartEdit) []byte {
	b = appendInt(b, 1, p.Part)
	b = appendInt(b, 2, p.Level)
	b = appendNested(b, 3, &p.Shown, writePart)
	return appendAll(b, 4, p.Copies, writeCopy)
}

func writeCopy(b []byte, c *conversation.Copy) []byte {
	b = appendInt(b, 1, c.First)
	b = appendInt(b, 2, c.End)
	b = appendInt(b, 3, c.Message)
	b = appendInt(b, 4, c.Part)
	return appendInt(b, 5, c.At)
}

func readCopy(r *reader, c *conversation.Copy) {
	for r.next() {
		switch r.field {
		case 1:
			c.First = r.int32()
		case 2:
			c.End = r.int32()
		case 3:
			c.Message = r.int32()
		case 4:
			c.Part = r.int32()
		case 5:
			c.At = r.int32()
		}
	}
}

func readPartEdit(r *reader, p *conversation.PartEdit) {
	for r.next() {
		switch r.field {
		case 1:
			p.Part = r.int32()
		case 2:
			p.Level = conversation.Level(r.int32())
		case 3:
			nested(r, &p.Shown, readPart)
		case 4:
			p.Copies = element(r, p.Copies, readCopy)
		}
	}
}

func writeSummary(b []byte, s *conversation.Summary) []byte {
	b = appendInt(b, 1, s.ID)
	b = appendInt(b, 2, s.Level)
	b = appendPacked(b, 3, s.Children, false)
	b = appendContent(b, 4, &s.Text)
	b = appendInt(b, 5, s.Tokens)
	b = appendAll(b, 6, s.Except, writeRange)
	if s.Facts != (conversation.Content{}) {
		b = appendContent(b, 7, &s.Facts)
	}
	b = appendText(b, 8, s.Model)
	b = appendInt(b, 9, s.Recorded)
	b = appendBool(b, 10, s.Erased)
	b = appendAll(b, 11, s.Verbatim, writeRange)
	return append(b, s.Unknown...)
}

func readSummary(r *reader, s *conversation.Summary) {
	for r.next() {
		switch r.field {
		case 1:
			s.ID = r.int64()
		case 2:
			s.Level = r.int32()
		case 3:
			packed(r, func(v int64) { s.Children = append(s.Children, v) })
		case 4:
			nested(r, &s.Text, readContent)
		case 5:
			s.Tokens = r.int32()
		case 6:
			s.Except = element(r, s.Except, readRange)
		case 7:
			nested(r, &s.Facts, readContent)
		case 8:
			s.Model = r.text()
		case 9:
			s.Recorded = r.int64()
		case 10:
			s.Erased = r.bool()
		case 11:
			s.Verbatim = element(r, s.Verbatim, readRange)
		default:
			s.Unknown += r.raw
		}
	}
}
