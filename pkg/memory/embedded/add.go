package embedded

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/search"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Add implements memory.Target. Messages that are there already, or are not younger than the scope's last Forget, change nothing.
func (t *Target) Add(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	if err := checkBatch(b); err != nil {
		return memory.Receipt{}, err
	}
	drawn, err := t.draw(ctx, b)
	if err != nil {
		return memory.Receipt{}, contractError(ctx, err)
	}
	var out memory.Receipt
	err = t.change(ctx, b.Scope, func(d *draft) error {
		d.addMessages(b)
		d.addFacts(drawn)
		out.IDs = d.idsOf(b)
		return nil
	})
	if err != nil {
		return memory.Receipt{}, err
	}
	return out, nil
}

func checkBatch(b *memory.Batch) error {
	switch {
	case checkScope(b.Scope) != nil:
		return checkScope(b.Scope)
	case len(b.Messages) > maxBatch:
		return refused("a batch of too many messages")
	case b.Conversation == "", len(b.Conversation) > store.MaxName, b.Incarnation.IsZero():
		return refused("a batch without a conversation, or with one whose name is too long")
	case slices.ContainsFunc(b.Messages, func(m memory.Message) bool { return m.Index < 0 }):
		return refused("a message before the first")
	default:
		return nil
	}
}

func keyOf(b *memory.Batch) talkKey { return talkKey{b.Conversation, b.Incarnation} }

// draw draws facts from those messages of a batch that the scope does not know yet. It is not part of deciding: a model may take its time.
func (t *Target) draw(ctx context.Context, b *memory.Batch) ([]Extracted, error) {
	if !b.Infer || b.Extract == conversation.ExtractNone || t.Extract == nil {
		return nil, nil
	}
	x, err := t.load(ctx, b.Scope)
	if err != nil {
		return nil, err
	}
	d := newDraft(x, b.Scope, 0)
	said := slices.DeleteFunc(slices.Clone(b.Messages), func(m memory.Message) bool {
		return m.Role != conversation.RoleUser || !d.isNew(b, &m)
	})
	if len(said) == 0 {
		return nil, nil
	}
	if b.Extract == conversation.ExtractModel && t.Model != nil {
		if drawn, err := t.byModel(ctx, b, said); err == nil || ctx.Err() != nil {
			return drawn, err
		}
	}
	return t.Extract(ctx, said)
}

// byModel draws facts by a model. Where it fails, the caller does without: what is said is found all the same.
func (t *Target) byModel(ctx context.Context, b *memory.Batch, said []memory.Message) ([]Extracted, error) {
	answer, err := t.Model(ctx, b, said)
	if err != nil {
		return nil, err
	}
	return CheckedFacts(answer, said)
}

// isNew says whether a message is to be added.
func (d *draft) isNew(b *memory.Batch, m *memory.Message) bool {
	return !d.forgotten(m.Time.UnixMilli()) && d.sorted().byKey[keyOf(b)].find(m.Index) == nil
}

// forgotten says whether what is of a time is not to be added any more.
func (d *draft) forgotten(ms int64) bool { return d.directory.mark != 0 && ms <= d.directory.mark }

func (d *draft) addMessages(b *memory.Batch) {
	known := d.sorted().byKey[keyOf(b)]
	var before *search.Line
	fresh := map[int32]bool{}
	for i := range b.Messages {
		m := &b.Messages[i]
		if fresh[m.Index] || !d.isNew(b, m) {
			continue
		}
		fresh[m.Index] = true
		if before == nil {
			before = known.before(m.Index)
		}
		e := &entry{
			kind: saidEntry, index: m.Index, talk: d.talkOf(keyOf(b)), time: m.Time.UnixMilli(), line: lineOf(spoken(m), before),
		}
		before = &e.line
		d.add(e)
	}
}

// addedMessages are the messages that this draft adds, by index.
func (d *draft) addedMessages() map[int32]*entry {
	out := map[int32]*entry{}
	for _, e := range d.added {
		if e.kind == saidEntry {
			out[e.index] = e
		}
	}
	return out
}

// before returns the line of the message before an index.
func (t *talkEntries) before(index int32) *search.Line {
	if t == nil {
		return nil
	}
	if at, _ := t.search(index); at > 0 {
		return &t.entries[at-1].line
	}
	return nil
}

// spoken is what is searched of a message: who speaks is part of it.
func spoken(m *memory.Message) string {
	if m.Name == "" {
		return m.Text
	}
	return m.Name + ": " + m.Text
}

// lineOf makes a text ready, as far as it fits.
func lineOf(text string, before *search.Line) search.Line {
	text = content.Head(text, len(text))
	if utf8.RuneCountInString(text) > maxChars {
		text = string([]rune(text)[:maxChars])
	}
	for {
		line := search.NewLine(text, before)
		if len(line.Codes) <= maxCodes {
			return line
		}
		text = content.Head(text, len(text)/2)
	}
}

// idsOf names what a batch led to: its messages, and the facts that cite them.
func (d *draft) idsOf(b *memory.Batch) (ids []string) {
	known, added := d.sorted().byKey[keyOf(b)], d.addedMessages()
	for i := range b.Messages {
		e := known.find(b.Messages[i].Index)
		if e == nil {
			e = added[b.Messages[i].Index]
		}
		if e != nil && e.kind == saidEntry {
			ids = append(ids, e.id(d.tag))
		}
	}
	for _, e := range d.facts() {
		cites := func(s source) bool {
			return s.talk.talkKey == keyOf(b) && slices.ContainsFunc(b.Messages, func(m memory.Message) bool { return s.first <= m.Index && m.Index <= s.last })
		}
		if slices.ContainsFunc(e.more.sources, cites) {
			ids = append(ids, e.id(d.tag))
		}
	}
	return ids
}

// Settle implements memory.Target: a batch that is sent again changes nothing, so that nothing is ever to be settled.
func (t *Target) Settle(ctx context.Context, b *memory.Batch) (memory.Receipt, error) {
	x, err := t.load(ctx, b.Scope)
	if err != nil {
		return memory.Receipt{}, err
	}
	ids := newDraft(x, b.Scope, 0).idsOf(b)
	if len(ids) == 0 {
		return memory.Receipt{}, memory.ErrNotFound
	}
	return memory.Receipt{IDs: ids}, nil
}

// Put implements memory.Target. A note that is not younger than the scope's last Forget is refused.
func (t *Target) Put(ctx context.Context, s memory.Scope, n *memory.Note) (id string, err error) {
	if err := checkNote(n); err != nil {
		return "", err
	}
	err = t.change(ctx, s, func(d *draft) error {
		if known := d.sorted().keys[n.Key]; known != nil {
			id = known.id(d.tag)
			return nil
		}
		e := &entry{kind: noteEntry, time: cmp.Or(memory.Millis(n.Time), d.now), line: lineOf(n.Text, nil)}
		switch {
		case d.forgotten(e.time):
			return refused("a note from before the scope was forgotten")
		case len(d.sorted().notes) >= MaxNotes, d.sizeOfNotes() > t.MaxBytes/2:
			return refused("the scope holds as many notes as it may")
		}
		e.more = &details{number: d.nextNumber(), text: n.Text, key: n.Key, metadata: n.Metadata, expire: memory.Millis(n.ExpireTime)}
		d.add(e)
		id = e.id(d.tag)
		return nil
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// sizeOfNotes is how many bytes the notes take.
func (d *draft) sizeOfNotes() (n int64) {
	for _, e := range d.sorted().notes {
		n += int64(e.size())
	}
	return n
}

func checkNote(n *memory.Note) error {
	switch {
	case n.Key == "" || len(n.Key) > maxKey:
		return refused("a note without a key")
	case len(n.Text) > 4*maxNote || utf8.RuneCountInString(n.Text) > maxNote:
		return refused("a note that is too long")
	case len(n.Metadata) > maxMetadata, n.Metadata != "" && !json.Valid([]byte(n.Metadata)):
		return refused("metadata that is too long or no JSON")
	default:
		return nil
	}
}
