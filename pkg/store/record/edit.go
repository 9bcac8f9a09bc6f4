package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func editFields(f *fields, e *conversation.Edit) {
	integer(f, 1, &e.Seq)
	integer(f, 2, &e.Kind)
	section(f, 3, &e.Range, rangeFields)
	list(f, 4, &e.Parts, partEditFields)
	numbers(f, 5, &e.Mask)
	optional(f, 6, &e.Summary, summaryFields)
	integer(f, 7, &e.Reason)
	integer(f, 8, &e.Turn)
	f.time(9, &e.Time)
	integer(f, 10, &e.Before)
	integer(f, 11, &e.After)
	f.uint(12, &e.Commit)
	f.bool(13, &e.Erases)
	f.text(14, &e.Content)
	f.text(15, &e.Said)
	numbers(f, 16, &e.Brought)
	f.unknown(&e.Unknown)
}

func partEditFields(f *fields, p *conversation.PartEdit) {
	integer(f, 1, &p.Part)
	integer(f, 2, &p.Level)
	nested(f, 3, &p.Shown, partFields)
	list(f, 4, &p.Copies, copyFields)
}

func copyFields(f *fields, c *conversation.Copy) {
	integer(f, 1, &c.First)
	integer(f, 2, &c.End)
	integer(f, 3, &c.Message)
	integer(f, 4, &c.Part)
	integer(f, 5, &c.At)
}

func summaryFields(f *fields, s *conversation.Summary) {
	integer(f, 1, &s.ID)
	integer(f, 2, &s.Level)
	numbers(f, 3, &s.Children)
	section(f, 4, &s.Text, contentFields)
	integer(f, 5, &s.Tokens)
	list(f, 6, &s.Except, rangeFields)
	section(f, 7, &s.Facts, contentFields)
	f.text(8, &s.Model)
	integer(f, 9, &s.Recorded)
	f.bool(10, &s.Erased)
	list(f, 11, &s.Verbatim, rangeFields)
	f.unknown(&s.Unknown)
}
