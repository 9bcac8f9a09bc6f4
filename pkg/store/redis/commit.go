package redis

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, key store.Key, c *store.Change) error {
	if err := key.Check(); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	sc := s.scripts.commit
	if c.Frees() {
		sc = s.scripts.erase
	}
	p, id := s.space.place(key), c.Head.Incarnation
	w := s.commitArgs(p, c)
	err := s.claiming(ctx, p, id, c.Expect == 0 && !c.Aside, func(claimed string) (any, error) {
		w.args[howArg] = s.how(c, claimed)
		return s.runScript(ctx, p.partition, sc, w)
	})
	if err != nil {
		return err
	}
	s.seen.put(key, sight{id, c.Head.EditSeq > 0 || c.Aside})
	if !c.Aside {
		s.wakes.Wake(key)
	}
	return nil
}

// howArg is where the arguments of commit.lua say what kind of change it is.
const howArg = 2

// how is what a change is, a character for each question (commit.lua), and how others are told.
func (s *Store) how(c *store.Change, claimed string) string {
	kind := "c"
	if c.Aside {
		kind = "a"
	}
	return kind + flag(c.Head.Version == c.Expect+1) + flag(c.Staged()) + claimed + flag(lists(c)) + flag(c.Head.State == store.Deleted) + s.publish
}

// commitArgs are the arguments of commit.lua, in its order.
func (s *Store) commitArgs(p place, c *store.Change) *writes {
	h := &c.Head
	w := s.writing(p, h.Incarnation)
	w.add(nil, strconv.FormatUint(c.Expect, 10), h.Incarnation[:], counts(int(h.Messages)-len(c.Messages), h.EditSeq-int64(len(c.Edits))),
		strconv.FormatUint(h.Version, 10), counts(int(h.Messages), h.EditSeq), s.encodeHead(c), due(h.NextDue), due(h.UpdateTime), h.Epoch)
	if h.Epoch != "" {
		w.key(kindEpoch)
	}
	if c.Staged() {
		w.key(kindMessages)
	}
	if lists(c) {
		w.lists(c)
	}
	w.change(c)
	return w
}

// counts is how many messages and edits there are.
func counts(messages int, edits int64) string {
	return strconv.Itoa(messages) + "/" + strconv.FormatInt(edits, 10)
}

// lists says whether a change has what commit.lua has to look at first, or at all outcomes.
func lists(c *store.Change) bool {
	return len(c.Uploads)+len(c.Release)+len(c.ExpectSlots) > 0 || !c.DropOutcomes.IsZero()
}

func (w *writes) lists(c *store.Change) {
	w.add(len(c.Uploads), len(c.Release), len(c.ExpectSlots))
	w.key(kindContents)
	w.key(kindSlots)
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

func (s *Store) encodeHead(c *store.Change) []byte {
	if c.Aside {
		return nil
	}
	return s.codec.EncodeHead(&c.Head)
}

func flag(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}

// slotHash stands in front of a slot, so that a script can compare it with what a caller expects: compressed bytes are not those of
// another version.
func slotHash(value []byte) string {
	sum := sha256.Sum256(value)
	return string(sum[:slotHashBytes])
}

const slotHashBytes = 16

// writes are the keys and the arguments of a script that writes. The arguments end with the steps that it takes (write in lua/write.lua).
type writes struct {
	s     *Store
	p     place
	id    conversation.ID
	keys  []string
	kinds []byte
	args  []any
}

// writing begins with what all such scripts have: room for the launch and the kinds, and the keys.
func (s *Store) writing(p place, id conversation.ID) *writes {
	w := &writes{s: s, p: p, id: id, keys: make([]string, 0, 10), args: make([]any, 2, 32)}
	w.keys = append(w.keys, p.base+kindSeal, p.head(), p.of(kindIncarnation, id), p.base+kindDue, p.base+kindNames)
	return w
}

func (w *writes) add(args ...any) { w.args = append(w.args, args...) }

// key has the records of a kind among the keys.
func (w *writes) key(kind string) string {
	if !strings.Contains(string(w.kinds), kind) {
		w.kinds = append(w.kinds, kind...)
		w.keys = append(w.keys, w.p.record(kind, w.id))
	}
	return kind
}

func (w *writes) change(c *store.Change) {
	if c.Info != nil {
		w.set(kindHead, "n", w.s.codec.EncodeInfo(c.Info))
	}
	if c.DropManifests > 0 {
		w.add("l", w.key(kindManifests), seqBytes(c.DropManifests))
	}
	if !c.DropOutcomes.IsZero() {
		w.add("o", w.key(kindOutcomes), appendTime(nil, c.DropOutcomes))
	}
	w.records(c.Messages, c.Edits, nil)
	w.records(c.ReplaceMessages, c.ReplaceEdits, c.ReplaceManifests)
	if c.Manifest != nil {
		w.manifest(c.Manifest)
	}
	if c.Outcome != nil {
		w.outcome(c.Outcome)
	}
	w.slots(c.Slots)
}

func (w *writes) set(kind string, field any, value []byte) {
	if kind != kindHead {
		w.key(kind)
	}
	w.add("h", kind, field, value)
}

func (w *writes) records(ms []conversation.Message, es []conversation.Edit, fs []conversation.Manifest) {
	var entries []byte
	for i := range ms {
		w.set(kindMessages, int64(ms[i].Index), w.s.codec.EncodeMessage(&ms[i]))
		entries = appendEntry(entries, ms[i].Commit, ms[i].Tokens)
		if i+1 == len(ms) || ms[i+1].Index != ms[i].Index+1 {
			first := int64(ms[i].Index) + 1 - int64(len(entries)/entryBytes)
			w.add("r", w.key(kindCommits), first*entryBytes, entries)
			entries = nil
		}
	}
	for i := range es {
		w.edit(&es[i])
	}
	for i := range fs {
		w.manifest(&fs[i])
	}
}

// edit writes an edit and how it is found by the messages that it is about. One about no message lies with the message after it.
func (w *writes) edit(e *conversation.Edit) {
	w.set(kindEdits, e.Seq, w.s.codec.EncodeEdit(e))
	w.add("r", w.key(kindEditCommits), (e.Seq-1)*entryBytes, appendEntry(nil, e.Commit, 0))
	if store.AboutRange(e.Kind) || e.Range.Len() > 1 {
		w.add("z", w.key(kindWide), e.Seq, e.Seq)
		return
	}
	w.add("z", w.key(kindNarrow), e.Range.First, e.Seq)
}

func (w *writes) manifest(m *conversation.Manifest) {
	w.add("m", w.key(kindManifests), seqBytes(m.Seq), seqBytes(m.Seq+1), seqBytes(m.Seq)+string(w.s.codec.EncodeManifest(m)))
}

func (w *writes) outcome(o *store.Outcome) {
	w.set(kindOutcomes, outcomeField(o.Key), append(appendTime(nil, o.Time), w.s.codec.EncodeOutcome(o)...))
}

func (w *writes) slots(slots map[string][]byte) {
	for name, value := range slots {
		if value == nil {
			w.add("d", w.key(kindSlots), name)
			continue
		}
		w.set(kindSlots, name, append([]byte(slotHash(value)), w.s.codec.EncodeSlot(value)...))
	}
}

// refusal is the error for what a script answers.
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
