package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func manifestFields(f *fields, m *conversation.Manifest) {
	integer(f, 1, &m.Seq)
	integer(f, 2, &m.Turn)
	integer(f, 3, &m.Format)
	f.text(4, &m.Model)
	integer(f, 5, &m.MessageCount)
	integer(f, 6, &m.EditSeq)
	integer(f, 7, &m.Window.Start)
	f.sint(8, &m.Window.Request)
	integer(f, 9, &m.LeadingSystem)
	list(f, 10, &m.Pins, rangeFields)
	integer(f, 11, &m.Budget)
	integer(f, 12, &m.Tokens)
	integer(f, 13, &m.FixedTokens)
	f.hash(14, &m.FixedHash)
	f.text(15, &m.Counter)
	f.float(16, &m.Factor)
	f.text(17, &m.PolicyHash)
	integer(f, 18, &m.RendererVersion)
	f.hash(19, &m.SHA256)
	f.time(20, &m.Time)
	integer(f, 21, &m.Revision)
	integer(f, 22, &m.Blocks)
	f.bool(23, &m.UsageReported)
	integer(f, 24, &m.Window.Restored)
	f.plusOne(25, &m.Window.Opening)
	integer(f, 26, &m.Window.Afresh)
	list(f, 27, &m.Window.Cuts, cutFields)
	integer(f, 28, &m.EarlierEnd)
	f.unknown(&m.Unknown)
}

func cutFields(f *fields, c *conversation.Cut) {
	integer(f, 1, &c.Message)
	integer(f, 2, &c.Summary)
	integer(f, 3, &c.Head)
	integer(f, 4, &c.From)
	integer(f, 5, &c.Tail)
}
