package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

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

func citationsFields(f *fields, p *conversation.CitationsPolicy) {
	f.toggle(1, &p.On)
	setting(f, 2, &p.ThresholdChars)
	f.toggle(3, &p.ReleaseOnEndRun)
	optional(f, 4, &p.RecallTools, namesFields)
	f.unknown(&p.Unknown)
}
