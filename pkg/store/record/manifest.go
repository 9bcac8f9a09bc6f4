package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func writeManifest(b []byte, m *conversation.Manifest) []byte {
	b = appendInt(b, 1, m.Seq)
	b = appendInt(b, 2, m.Turn)
	b = appendInt(b, 3, m.Format)
	b = appendText(b, 4, m.Model)
	b = appendInt(b, 5, m.MessageCount)
	b = appendInt(b, 6, m.EditSeq)
	b = appendInt(b, 7, m.Window.Start)
	b = appendSint(b, 8, m.Window.Request)
	b = appendInt(b, 9, m.LeadingSystem)
	b = appendAll(b, 10, m.Pins, writeRange)
	b = appendInt(b, 11, m.Budget)
	b = appendInt(b, 12, m.Tokens)
	b = appendInt(b, 13, m.FixedTokens)
	b = appendHash(b, 14, m.FixedHash)
	b = appendText(b, 15, m.Counter)
	b = appendFloat(b, 16, m.Factor)
	b = appendText(b, 17, m.PolicyHash)
	b = appendInt(b, 18, m.RendererVersion)
	b = appendHash(b, 19, m.SHA256)
	b = appendTime(b, 20, m.Time)
	b = appendInt(b, 21, m.Revision)
	b = appendInt(b, 22, m.Blocks)
	b = appendBool(b, 23, m.UsageReported)
	b = appendInt(b, 24, m.Window.Restored)
	b = appendInt(b, 25, m.Window.Opening+1)
	b = appendInt(b, 26, m.Window.Afresh)
	b = appendAll(b, 27, m.Window.Cuts, writeCut)
	return append(b, m.Unknown...)
}

func readManifest(r *reader, m *conversation.Manifest) {
	m.Window.Opening = -1
	for r.next() {
		switch r.field {
		case 1:
			m.Seq = r.int64()
		case 2:
			m.Turn = r.int32()
		case 3:
			m.Format = conversation.Format(r.int32())
		case 4:
			m.Model = r.text()
		case 5:
			m.MessageCount = r.int32()
		case 6:
			m.EditSeq = r.int64()
		case 7:
			m.Window.Start = r.int32()
		case 8:
			m.Window.Request = r.sint()
		case 9:
			m.LeadingSystem = r.int32()
		case 10:
			m.Pins = element(r, m.Pins, readRange)
		case 11:
			m.Budget = r.int64()
		case 12:
			m.Tokens = r.int64()
		case 13:
			m.FixedTokens = r.int64()
		case 14:
			m.FixedHash = r.hash()
		case 15:
			m.Counter = r.text()
		case 16:
			m.Factor = r.float()
		case 17:
			m.PolicyHash = r.text()
		case 18:
			m.RendererVersion = r.int32()
		case 19:
			m.SHA256 = r.hash()
		case 20:
			m.Time = r.time()
		case 21:
			m.Revision = r.int64()
		case 22:
			m.Blocks = r.int32()
		case 23:
			m.UsageReported = r.bool()
		case 24:
			m.Window.Restored = r.int64()
		case 25:
			m.Window.Opening = r.int32() - 1
		case 26:
			m.Window.Afresh = r.int64()
		case 27:
			m.Window.Cuts = element(r, m.Window.Cuts, readCut)
		default:
			m.Unknown += r.raw
		}
	}
}

func writeCut(b []byte, c *conversation.Cut) []byte {
	b = appendInt(b, 1, c.Message)
	b = appendInt(b, 2, c.Summary)
	b = appendInt(b, 3, c.Head)
	b = appendInt(b, 4, c.From)
	return appendInt(b, 5, c.Tail)
}

func readCut(r *reader, c *conversation.Cut) {
	for r.next() {
		switch r.field {
		case 1:
			c.Message = r.int32()
		case 2:
			c.Summary = r.int64()
		case 3:
			c.Head = r.int32()
		case 4:
			c.From = r.int32()
		case 5:
			c.Tail = r.int32()
		}
	}
}
