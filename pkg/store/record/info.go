package record

import (
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func writeInfo(b []byte, i *store.Info) []byte {
	b = appendText(b, 1, i.ActorID)
	b = appendText(b, 2, i.AgentID)
	b = appendText(b, 3, i.Title)
	b = appendText(b, 4, i.Metadata)
	if i.Policy != (conversation.Policy{}) {
		b = appendNested(b, 5, &i.Policy, writePolicy)
	}
	b = appendText(b, 6, i.Counter)
	return append(b, i.Unknown...)
}

func readInfo(r *reader, i *store.Info) {
	for r.next() {
		switch r.field {
		case 1:
			i.ActorID = r.text()
		case 2:
			i.AgentID = r.text()
		case 3:
			i.Title = r.text()
		case 4:
			i.Metadata = r.text()
		case 5:
			nested(r, &i.Policy, readPolicy)
		case 6:
			i.Counter = r.text()
		default:
			i.Unknown += r.raw
		}
	}
}

func writeOutcome(b []byte, o *store.Outcome) []byte {
	b = appendText(b, 1, o.Key.RPC)
	b = appendText(b, 2, o.Key.ID)
	b = appendHash(b, 3, o.Hash)
	b = appendTime(b, 4, o.Time)
	b = appendInt(b, 5, o.FirstIndex)
	b = appendInt(b, 6, o.Count)
	b = appendInt(b, 7, o.Manifest)
	b = appendInt(b, 8, o.Revision)
	b = appendInt(b, 9, o.Matched)
	b = appendInt(b, 10, o.Rewound.First)
	return appendInt(b, 11, o.Rewound.End)
}

func readOutcome(r *reader, o *store.Outcome) {
	for r.next() {
		switch r.field {
		case 1:
			o.Key.RPC = r.text()
		case 2:
			o.Key.ID = r.text()
		case 3:
			o.Hash = r.hash()
		case 4:
			o.Time = r.time()
		case 5:
			o.FirstIndex = r.int32()
		case 6:
			o.Count = r.int32()
		case 7:
			o.Manifest = r.int64()
		case 8:
			o.Revision = r.int64()
		case 9:
			o.Matched = r.int32()
		case 10:
			o.Rewound.First = r.int32()
		case 11:
			o.Rewound.End = r.int32()
		}
	}
}

func writeLink(b []byte, id *conversation.ID) []byte { return appendID(b, 1, *id) }

func readLink(r *reader, id *conversation.ID) {
	for r.next() {
		if r.field == 1 {
			*id = r.id()
		}
	}
}

func writeTask(b []byte, t *store.Task) []byte {
	b = appendText(b, 1, t.Key.Namespace)
	b = appendText(b, 2, t.Key.Conversation)
	b = appendID(b, 3, t.Incarnation)
	b = appendID(b, 4, t.Upload)
	b = appendBool(b, 5, t.Staged)
	return appendTime(b, 6, t.Time)
}

func readTask(r *reader, t *store.Task) {
	for r.next() {
		switch r.field {
		case 1:
			t.Key.Namespace = r.text()
		case 2:
			t.Key.Conversation = r.text()
		case 3:
			t.Incarnation = r.id()
		case 4:
			t.Upload = r.id()
		case 5:
			t.Staged = r.bool()
		case 6:
			t.Time = r.time()
		}
	}
}
