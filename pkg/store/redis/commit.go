package redis

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	if err := cmp.Or(key.Check(), c.Check()); err != nil {
		return err
	}
	sc := s.scripts.commit
	if c.Frees() {
		sc = s.scripts.erase
	}
	p, id := s.space.place(key), c.Head.Incarnation
	w := s.commitArgs(p, c)
	err := s.claiming(ctx, p, id, c.Expect == 0 && !c.Aside, func(claimed string) (any, error) {
		return s.runScript(ctx, p.partition, sc, changeKind(c, claimed), w)
	})
	if err != nil {
		return err
	}
	s.seen.put(key, lastSeen{id, c.Head.EditSeq > 0 || c.Aside})
	if !c.Aside {
		s.wakes.Wake(key)
	}
	return nil
}

// changeKind describes a change for commit.lua: one character per question.
func changeKind(c *store.Change, claimed string) string {
	kind, follows, staged, listed := "c", flag(c.Head.Version == c.Expect+1), flag(c.Staged()), flag(lists(c))
	switch {
	case c.Aside:
		kind = "a"
	case follows == "1" && listed == "0" && c.Head.State == store.Live && fieldsOf(c) <= plainFields:
		kind = "p" // append.lua
	}
	return kind + follows + staged + claimed + listed
}

// plainFields is how many fields append.lua writes at once: the size of Lua's stack is limited.
const plainFields = 500

// fieldsOf is how many fields a change writes besides the head's own.
func fieldsOf(c *store.Change) int {
	n := len(c.Messages) + len(c.ReplaceMessages)
	if c.Info != nil {
		n++
	}
	return n
}

// commitArgs returns the arguments of commit.lua, in order.
func (s *Store) commitArgs(p place, c *store.Change) *writes {
	h := &c.Head
	fields := fieldsOf(c)
	w := s.writing(p, 2*fields)
	room := make([]byte, 2*guardBytes+usualHeadBytes)
	guard := appendGuard(room[:0:guardBytes], h, store.Live, c.Expect, h.Messages-int32(len(c.Messages)), h.EditSeq-int64(len(c.Edits)))
	w.add(guard, s.encodeHead(room[guardBytes:guardBytes], c), due(h.NextDue), h.Epoch, due(h.UpdateTime), 2*fields)
	if c.Info != nil {
		w.add("n", s.codec.EncodeInfo(c.Info))
	}
	w.messages(c.Messages)
	w.messages(c.ReplaceMessages)
	if lists(c) {
		w.lists(c)
	}
	w.change(c)
	return w
}

// lists reports whether a change holds lists that commit.lua must check first, or drops outcomes.
func lists(c *store.Change) bool {
	return len(c.Uploads)+len(c.Release)+len(c.ExpectSlots) > 0 || !c.DropOutcomes.IsZero()
}

func (w *writes) lists(c *store.Change) {
	w.add(len(c.Uploads), len(c.Release), len(c.ExpectSlots))
	for i := range c.Uploads {
		w.add(c.Uploads[i][:])
	}
	for i := range c.Release {
		w.add(c.Release[i][:])
	}
	for name, want := range c.ExpectSlots {
		w.add(name, flag(want != nil), slotHash(want))
	}
}

// usualHeadBytes is the size that most heads do not exceed, in bytes.
const usualHeadBytes = 192

func (s *Store) encodeHead(room []byte, c *store.Change) []byte {
	if c.Aside {
		return nil
	}
	h := &c.Head
	return s.codec.AppendHead(appendGuard(room, h, h.State, h.Version, h.Messages, h.EditSeq), h)
}

func flag(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}

// slotHash is stored before a slot, so that a script can compare the slot with what a caller expects: another version of the
// program may compress the same value differently.
func slotHash(value []byte) string {
	sum := sha256.Sum256(value)
	return string(sum[:slotHashBytes])
}

const slotHashBytes = 16

// writes is the command of a script that writes. Its arguments end with the steps to take (write in lua/steps.lua).
type writes struct {
	s    *Store
	args []any
}

// launchArg is the index of the first argument of a script.
const launchArg = 7

// writing begins a command with what all such scripts need: the keys, and room for the launch.
func (s *Store) writing(p place, fields int) *writes {
	args := make([]any, launchArg+1, launchArg+10+fields)
	part := &s.space.parts[p.partition]
	args[2], args[3], args[4], args[5], args[6] = 4, part.seal, part.epoch, p.head(), part.heard
	return &writes{s: s, args: args}
}

// command returns the command of a script, by its hash or with its text.
func (w *writes) command(name, script string) []any {
	w.args[0], w.args[1] = name, script
	return w.args
}

func (w *writes) add(args ...any) { w.args = append(w.args, args...) }

func (w *writes) change(c *store.Change) {
	if c.DropManifests > 0 {
		w.add("l", kindManifests, seqBytes(c.DropManifests))
	}
	if !c.DropOutcomes.IsZero() {
		w.add("o", kindOutcomes, appendTime(nil, c.DropOutcomes))
	}
	w.records(c.Edits, nil)
	w.records(c.ReplaceEdits, c.ReplaceManifests)
	if c.Manifest != nil {
		w.manifest(c.Manifest)
	}
	if c.Outcome != nil {
		w.outcome(c.Outcome)
	}
	w.slots(c.Slots)
}

func (w *writes) set(kind string, field any, value []byte) { w.add("h", kind, field, value) }

// messages adds messages as fields and values.
func (w *writes) messages(ms []conversation.Message) {
	for i := range ms {
		mark := markMessage(make([]byte, 0, messageMark), ms[i].Commit, ms[i].Tokens)
		w.add(int64(ms[i].Index), w.s.codec.AppendMessage(mark, &ms[i]))
	}
}

func (w *writes) records(es []conversation.Edit, fs []conversation.Manifest) {
	for i := range es {
		w.edit(&es[i])
	}
	for i := range fs {
		w.manifest(&fs[i])
	}
}

// edit adds an edit, and its entry in the index by message. An edit about no message is filed under the next message.
func (w *writes) edit(e *conversation.Edit) {
	w.set(kindEdits, e.Seq, w.s.codec.EncodeEdit(e))
	w.add("r", kindEditCommits, (e.Seq-1)*entryBytes, editEntry(e.Commit))
	if store.AboutRange(e.Kind) || e.Range.Len() > 1 {
		w.add("z", kindWide, e.Seq, e.Seq)
		return
	}
	w.add("z", kindNarrow, e.Range.First, e.Seq)
}

func (w *writes) manifest(m *conversation.Manifest) {
	w.add("m", kindManifests, seqBytes(m.Seq), seqBytes(m.Seq+1), seqBytes(m.Seq)+string(w.s.codec.EncodeManifest(m)))
}

func (w *writes) outcome(o *store.Outcome) {
	w.set(kindOutcomes, outcomeField(o.Key), append(appendTime(nil, o.Time), w.s.codec.EncodeOutcome(o)...))
}

func (w *writes) slots(slots map[string][]byte) {
	for name, value := range slots {
		if value == nil {
			w.add("d", kindSlots, name)
			continue
		}
		w.set(kindSlots, name, append([]byte(slotHash(value)), w.s.codec.EncodeSlot(value)...))
	}
}

// refusal turns a script's answer into an error.
func refusal(answer any) error {
	switch answer {
	case "OK":
		return nil
	case "SEALED":
		return store.ErrSealed
	case "NOWHERE":
		return fmt.Errorf("%w: the name leads nowhere", store.ErrNotFound)
	case "GONE":
		return fmt.Errorf("%w: what was staged is gone", store.ErrNotFound)
	case "CONFLICT":
		return fmt.Errorf("%w: version, incarnation, slot or epoch", store.ErrConflict)
	case "INVALID":
		return fmt.Errorf("%w: the change does not follow from what is on record", store.ErrInvalid)
	default:
		return fmt.Errorf("a script gives an unknown answer: %w", store.ErrCorrupt)
	}
}

func number32(b string) int { return int(binary.BigEndian.Uint32([]byte(b))) }
