package record

import (
	"time"

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
	return appendText(b, 6, i.Counter)
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
		}
	}
}

func writePolicy(b []byte, p *conversation.Policy) []byte {
	b = appendSetting(b, 1, p.Fit.MaxContextTokens)
	b = appendSetting(b, 2, p.Fit.ContextWindowTokens)
	b = appendSetting(b, 3, p.Fit.ReservedOutputTokens)
	b = appendSetting(b, 4, p.Fit.TargetPercent)
	b = appendSetting(b, 5, p.Fit.MaxResultPercent)
	return appendSetting(b, 6, p.TTL)
}

func readPolicy(r *reader, p *conversation.Policy) {
	for r.next() {
		switch r.field {
		case 1:
			p.Fit.MaxContextTokens = setting[int32](r)
		case 2:
			p.Fit.ContextWindowTokens = setting[int32](r)
		case 3:
			p.Fit.ReservedOutputTokens = setting[int32](r)
		case 4:
			p.Fit.TargetPercent = setting[int32](r)
		case 5:
			p.Fit.MaxResultPercent = setting[int32](r)
		case 6:
			p.TTL = setting[time.Duration](r)
		}
	}
}

// appendSetting writes zero too: a setting that is zero is not one that is not set.
func appendSetting[T signed](b []byte, field int, v *T) []byte {
	if v == nil {
		return b
	}
	if *v == 0 {
		return append(appendTag(b, field, wireVarint), 0)
	}
	return appendInt(b, field, *v)
}

func setting[T signed](r *reader) *T {
	v := T(r.int64())
	return &v
}

func writeOutcome(b []byte, o *store.Outcome) []byte {
	b = appendText(b, 1, o.Key.RPC)
	b = appendText(b, 2, o.Key.ID)
	b = appendHash(b, 3, o.Hash)
	b = appendTime(b, 4, o.Time)
	b = appendInt(b, 5, o.FirstIndex)
	b = appendInt(b, 6, o.Count)
	b = appendInt(b, 7, o.Manifest)
	return appendInt(b, 8, o.Revision)
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
