package postgres

import (
	"math"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// change is a commit that was encoded before it waits for anything.
type change struct {
	s    *Store
	key  store.Key
	c    *store.Change
	head []byte
	// records are the sections for everything but the head and the messages.
	records  statement
	messages []row
}

func (s *Store) encode(key store.Key, c *store.Change) *change {
	p := &change{s: s, key: key, c: c}
	if !c.Aside {
		p.head = s.codec.EncodeHead(&c.Head)
	}
	p.messages = s.rowsOf(c.Messages, c.ReplaceMessages)
	w := &p.records
	s.putEdits(w, c.Edits, c.ReplaceEdits)
	p.putManifests()
	p.putOutcome()
	s.putSlots(w, c.Slots)
	if c.Info != nil {
		w.add(infoSQL, s.codec.EncodeInfo(c.Info))
	}
	p.putContents()
	return p
}

func (p *change) putManifests() {
	written := slices.Clone(p.c.ReplaceManifests)
	if p.c.Manifest != nil {
		written = append(written, *p.c.Manifest)
	}
	seqs := p.s.putManifests(&p.records, written)
	if p.c.DropManifests > 0 {
		p.records.add(dropManifestsSQL, p.c.DropManifests, seqs)
	}
}

// putOutcome adds the change's outcome. The change never drops an outcome that it makes.
func (p *change) putOutcome() {
	var made store.RequestKey
	if p.c.Outcome != nil {
		made = p.c.Outcome.Key
		p.s.putOutcomes(&p.records, []store.Outcome{*p.c.Outcome})
	}
	switch before := p.c.DropOutcomes; {
	case before.IsZero():
	case p.c.Outcome == nil:
		p.records.add(dropOutcomesSQL, nanos(before), none(), none())
	default:
		p.records.add(dropOutcomesSQL, nanos(before), []byte(made.RPC), []byte(made.ID))
	}
}

// none is longer than any name, so nothing is equal to it.
func none() []byte { return make([]byte, store.MaxName+1) }

func (p *change) putContents() {
	refers := idBytes(p.c.Uploads)
	released := idBytes(p.c.Release)
	refers = slices.DeleteFunc(refers, func(id []byte) bool {
		return slices.ContainsFunc(released, func(r []byte) bool { return string(r) == string(id) })
	})
	if len(refers) > 0 {
		p.records.add(referSQL, refers)
	}
	if len(released) > 0 {
		p.records.add(releaseSQL, []byte(p.key.Namespace), []byte(p.key.Conversation), nanos(p.c.Head.UpdateTime), released)
	}
}

// idBytes returns the ids as bytes, without duplicates.
func idBytes(ids []conversation.ID) [][]byte {
	out := make([][]byte, 0, len(ids))
	for i := range ids {
		if !slices.Contains(ids[:i], ids[i]) {
			out = append(out, ids[i][:])
		}
	}
	return out
}

// columns returns a head's columns without its payload, in the order of the statements.
func (p *change) columns() []any {
	h := &p.c.Head
	return []any{
		int64(h.Version), int16(h.State), h.Messages, h.Tokens, h.EditSeq, h.Bytes, maybeNanos(h.NextDue), h.UpdateTime, p.head,
	}
}

func (p *change) name() []any {
	return []any{[]byte(p.key.Namespace), []byte(p.key.Conversation), p.c.Head.Incarnation[:]}
}

// follow is the statement that makes the change if the name leads to its incarnation at the expected version. A lone new message must
// not hit an existing row, unless over is set.
func (p *change) follow(over bool) *statement {
	c, w := p.c, &statement{sections: make([]string, 0, 8), args: make([]any, 0, 32)}
	if c.Aside {
		w.add(asideSQL, p.name()...)
	} else {
		w.add(followSQL, p.columns()...)
		w.args = append(w.args, p.name()...)
		w.args = append(w.args, int64(c.Expect), c.Head.Messages-int32(len(c.Messages)), c.Head.EditSeq-int64(len(c.Edits)))
	}
	p.addConditions(w)
	if c.Aside {
		w.add(asideEndSQL)
	} else {
		w.add(followEndSQL)
	}
	w.putMessages(p.messages, over || len(p.c.ReplaceMessages) > 0)
	w.join(&p.records)
	return w
}

func (w *statement) join(more *statement) {
	if more.last != "" {
		w.last, w.lastArgs = more.last, more.lastArgs
	}
	w.sections = append(w.sections, more.sections...)
	w.args = append(w.args, more.args...)
}

// addConditions adds conditions other than the version.
func (p *change) addConditions(w *statement) {
	id := p.c.Head.Incarnation[:]
	var names, values, absent [][]byte
	for name, want := range p.c.ExpectSlots {
		if want == nil {
			absent = append(absent, []byte(name))
			continue
		}
		names, values = append(names, []byte(name)), append(values, p.s.codec.EncodeSlot(want))
	}
	if len(names) > 0 {
		w.add(slotsPresentSQL, names, values, id, int64(len(names)))
	}
	if len(absent) > 0 {
		w.add(slotsAbsentSQL, id, absent)
	}
	if uploads := idBytes(p.c.Uploads); len(uploads) > 0 {
		w.add(uploadsSQL, id, uploads, int64(len(uploads)))
	}
	if p.c.Head.Epoch != "" {
		w.add(epochSQL, p.s.epochs.starts(p.c.Head.Epoch))
	}
}

// locks reports whether the row of the conversation must be locked before the statement looks at it: others may change what the change
// requires without moving the version.
func (p *change) locks() bool { return p.c.Aside || len(p.c.ExpectSlots)+len(p.c.Uploads) > 0 }

// follows reports whether the change may be one that continues an incarnation.
func (p *change) follows() bool {
	return p.c.Aside || p.c.Expect > 0 && p.c.Head.Version == p.c.Expect+1
}

// begin is the statement that makes the name lead to the change's incarnation, in place of an old one if there is one.
func (p *change) begin(old *store.Head) *statement {
	w := &statement{}
	w.add(beginSQL, append(p.name(), p.columns()...)...)
	w.add(namedSQL)
	if old != nil {
		due := old.DueReplaced(p.c.Head.UpdateTime)
		w.add(replacedSQL, old.Incarnation[:], []byte(p.key.Namespace), []byte(p.key.Conversation), nanos(due))
	}
	w.putMessages(p.messages, true)
	w.join(&p.records)
	return w
}

// tooLarge reports whether a version does not fit: columns hold signed numbers.
func tooLarge(c *store.Change) bool {
	return c.Expect > math.MaxInt64 || c.Head.Version > math.MaxInt64
}

// withoutConditions is follow without its conditions, for a transaction that has checked them.
func (p *change) withoutConditions() *statement {
	plain := *p.c
	plain.ExpectSlots, plain.Uploads, plain.Head.Epoch = nil, nil, ""
	q := *p
	q.c = &plain
	return q.follow(true)
}
