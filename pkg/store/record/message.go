package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func writeMessage(b []byte, m *conversation.Message) []byte {
	b = appendText(b, 1, m.ID)
	b = appendInt(b, 2, m.Index)
	b = appendInt(b, 3, m.Role)
	b = appendInt(b, 4, m.Type)
	b = appendAll(b, 5, m.Parts, writePart)
	b = appendAll(b, 6, m.Actions, writeAction)
	b = appendBool(b, 7, m.Pinned)
	b = appendText(b, 8, m.Model)
	b = appendText(b, 9, m.RunID)
	b = appendText(b, 10, m.StepID)
	for _, tag := range m.Tags {
		b = appendElement(b, 11, tag)
	}
	b = appendText(b, 12, m.Metadata)
	b = appendTime(b, 13, m.CreateTime)
	b = appendInt(b, 14, m.TurnAdded)
	b = appendInt(b, 15, m.Tokens)
	b = appendBool(b, 16, m.Estimated)
	b = appendText(b, 17, m.RequestID)
	b = appendUint(b, 18, m.Commit)
	b = appendOptional(b, 19, m.Expiration, writeExpiration)
	b = appendInt(b, 20, m.Place.Carrying)
	b = appendInt(b, 21, m.Place.Inputs)
	b = appendInt(b, 22, m.Unit)
	b = appendInt(b, 23, m.RequestBack)
	b = appendText(b, 24, m.Name)
	b = appendInt(b, 25, m.Importance)
	return append(b, m.Unknown...)
}

func readMessage(r *reader, m *conversation.Message) {
	for r.next() {
		switch r.field {
		case 1:
			m.ID = r.text()
		case 2:
			m.Index = r.int32()
		case 3:
			m.Role = conversation.Role(r.int32())
		case 4:
			m.Type = conversation.MessageType(r.int32())
		case 5:
			m.Parts = element(r, m.Parts, readPart)
		case 6:
			m.Actions = element(r, m.Actions, readAction)
		case 7:
			m.Pinned = r.bool()
		case 8:
			m.Model = r.text()
		case 9:
			m.RunID = r.text()
		case 10:
			m.StepID = r.text()
		case 11:
			m.Tags = append(m.Tags, r.text())
		case 12:
			m.Metadata = r.text()
		case 13:
			m.CreateTime = r.time()
		case 14:
			m.TurnAdded = r.int32()
		case 15:
			m.Tokens = r.int32()
		case 16:
			m.Estimated = r.bool()
		case 17:
			m.RequestID = r.text()
		case 18:
			m.Commit = r.uint()
		case 19:
			m.Expiration = optional(r, readExpiration)
		case 20:
			m.Place.Carrying = r.int32()
		case 21:
			m.Place.Inputs = r.int32()
		case 22:
			m.Unit = r.int32()
		case 23:
			m.RequestBack = r.int32()
		case 24:
			m.Name = r.text()
		case 25:
			m.Importance = conversation.Importance(r.int32())
		default:
			m.Unknown += r.raw
		}
	}
}

func writeAction(b []byte, a *conversation.ActionRef) []byte {
	b = appendText(b, 1, a.ActionID)
	return appendText(b, 2, a.AgentActionID)
}

func readAction(r *reader, a *conversation.ActionRef) {
	for r.next() {
		switch r.field {
		case 1:
			a.ActionID = r.text()
		case 2:
			a.AgentActionID = r.text()
		}
	}
}

func writeRange(b []byte, v *conversation.Range) []byte {
	b = appendInt(b, 1, v.First)
	return appendInt(b, 2, v.End)
}

func readRange(r *reader, v *conversation.Range) {
	for r.next() {
		switch r.field {
		case 1:
			v.First = r.int32()
		case 2:
			v.End = r.int32()
		}
	}
}
