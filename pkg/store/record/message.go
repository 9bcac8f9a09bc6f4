package record

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

func messageFields(f *fields, m *conversation.Message) {
	f.text(1, &m.ID)
	integer(f, 2, &m.Index)
	integer(f, 3, &m.Role)
	integer(f, 4, &m.Type)
	list(f, 5, &m.Parts, partFields)
	list(f, 6, &m.Actions, actionFields)
	f.bool(7, &m.Pinned)
	f.text(8, &m.Model)
	f.text(9, &m.RunID)
	f.text(10, &m.StepID)
	f.texts(11, &m.Tags)
	f.text(12, &m.Metadata)
	f.time(13, &m.CreateTime)
	integer(f, 14, &m.TurnAdded)
	integer(f, 15, &m.Tokens)
	f.bool(16, &m.Estimated)
	f.text(17, &m.RequestID)
	f.uint(18, &m.Commit)
	optional(f, 19, &m.Expiration, expirationFields)
	integer(f, 20, &m.Place.Carrying)
	integer(f, 21, &m.Place.Inputs)
	integer(f, 22, &m.Unit)
	integer(f, 23, &m.RequestBack)
	f.text(24, &m.Name)
	integer(f, 25, &m.Importance)
	f.unknown(&m.Unknown)
}

func actionFields(f *fields, a *conversation.ActionRef) {
	f.text(1, &a.ActionID)
	f.text(2, &a.AgentActionID)
}

func rangeFields(f *fields, v *conversation.Range) {
	integer(f, 1, &v.First)
	integer(f, 2, &v.End)
}
