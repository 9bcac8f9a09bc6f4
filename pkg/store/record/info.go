package record

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func infoFields(f *fields, i *store.Info) {
	f.text(1, &i.ActorID)
	f.text(2, &i.AgentID)
	f.text(3, &i.Title)
	f.text(4, &i.Metadata)
	section(f, 5, &i.Policy, policyFields)
	f.text(6, &i.Counter)
	f.text(7, &i.Continues)
	f.unknown(&i.Unknown)
}

func outcomeFields(f *fields, o *store.Outcome) {
	f.text(1, &o.Key.RPC)
	f.text(2, &o.Key.ID)
	f.hash(3, &o.Hash)
	f.time(4, &o.Time)
	integer(f, 5, &o.FirstIndex)
	integer(f, 6, &o.Count)
	integer(f, 7, &o.Manifest)
	integer(f, 8, &o.Revision)
	integer(f, 9, &o.Matched)
	integer(f, 10, &o.Rewound.First)
	integer(f, 11, &o.Rewound.End)
	list(f, 12, &o.Removed, rangeFields)
}

func linkFields(f *fields, id *conversation.ID) {
	f.id(1, id)
}

func taskFields(f *fields, t *store.Task) {
	f.text(1, &t.Key.Namespace)
	f.text(2, &t.Key.Conversation)
	f.id(3, &t.Incarnation)
	f.id(4, &t.Upload)
	f.bool(5, &t.Staged)
	f.time(6, &t.Time)
}
