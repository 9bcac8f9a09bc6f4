package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func writeCitation(b []byte, c *conversation.Citation) []byte {
	b = appendText(b, 1, c.ContentID)
	b = appendInt(b, 2, c.SourceType)
	b = appendText(b, 3, c.SourceURL)
	b = appendText(b, 4, c.ContentType)
	b = appendInt(b, 5, c.TotalBytes)
	b = appendInt(b, 6, c.TotalChars)
	b = appendText(b, 7, c.Location)
	b = appendInt(b, 8, c.ExcerptFrom)
	b = appendInt(b, 9, c.ExcerptEnd)
	b = appendInt(b, 10, c.HowFrom)
	return appendText(b, 11, c.SourceTitle)
}

func readCitation(r *reader, c *conversation.Citation) {
	for r.next() {
		switch r.field {
		case 1:
			c.ContentID = r.text()
		case 2:
			c.SourceType = conversation.SourceType(r.int32())
		case 3:
			c.SourceURL = r.text()
		case 4:
			c.ContentType = r.text()
		case 5:
			c.TotalBytes = r.int64()
		case 6:
			c.TotalChars = r.int64()
		case 7:
			c.Location = r.text()
		case 8:
			c.ExcerptFrom = r.int32()
		case 9:
			c.ExcerptEnd = r.int32()
		case 10:
			c.HowFrom = r.int32()
		case 11:
			c.SourceTitle = r.text()
		}
	}
}

func writeResultSource(b []byte, s *conversation.ResultSource) []byte {
	b = appendInt(b, 1, s.Type)
	b = appendText(b, 2, s.URL)
	return appendText(b, 3, s.Title)
}

func readResultSource(r *reader, s *conversation.ResultSource) {
	for r.next() {
		switch r.field {
		case 1:
			s.Type = conversation.SourceType(r.int32())
		case 2:
			s.URL = r.text()
		case 3:
			s.Title = r.text()
		}
	}
}

func writeRecalled(b []byte, v *conversation.Recalled) []byte {
	b = appendText(b, 1, v.ContentID)
	b = appendInt(b, 2, v.Index)
	return appendBool(b, 3, v.Memories)
}

func readRecalled(r *reader, v *conversation.Recalled) {
	for r.next() {
		switch r.field {
		case 1:
			v.ContentID = r.text()
		case 2:
			v.Index = r.int32()
		case 3:
			v.Memories = r.bool()
		}
	}
}

func writeCitations(b []byte, p *conversation.CitationsPolicy) []byte {
	b = appendSwitch(b, 1, p.On)
	b = appendSetting(b, 2, p.ThresholdChars)
	b = appendSwitch(b, 3, p.ReleaseOnEndRun)
	b = appendOptional(b, 4, p.RecallTools, writeNames)
	return append(b, p.Unknown...)
}

func readCitations(r *reader, p *conversation.CitationsPolicy) {
	for r.next() {
		switch r.field {
		case 1:
			p.On = toggle(r)
		case 2:
			p.ThresholdChars = setting[int32](r)
		case 3:
			p.ReleaseOnEndRun = toggle(r)
		case 4:
			p.RecallTools = optional(r, readNames)
		default:
			p.Unknown += r.raw
		}
	}
}
