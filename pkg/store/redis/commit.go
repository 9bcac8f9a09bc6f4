package redis

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"

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
	if frees(c) {
		sc = s.scripts.erase
	}
	p, id := s.space.place(key), c.Head.Incarnation
	args := s.commitArgs(p, c)
	keys := append(p.writeKeys(id), p.epoch())
	err := s.claiming(ctx, p, id, c.Expect == 0 && !c.Aside, func(claimed string) (any, error) {
		args[claimArg] = claimed
		return s.runScript(ctx, p.partition, sc, keys, args)
	})
	if err != nil {
		return err
	}
	s.seen.put(key, id)
	if !c.Aside {
		s.wakes.Wake(key)
	}
	return nil
}

// frees says whether a change makes the store smaller, or erases: a full memory is no reason to refuse it.
func frees(c *store.Change) bool {
	switch {
	case c.Head.State == store.Deleted:
		return true
	case len(c.Messages) > 0:
		return false
	case len(c.ReplaceMessages)+len(c.Release) > 0:
		return true
	default:
		return len(c.Edits) == 0 && c.Manifest == nil && (c.DropManifests > 0 || !c.DropOutcomes.IsZero())
	}
}

// claimArg is where the arguments of commit.lua say that the incarnation is claimed.
const claimArg = 17

// commitArgs are the arguments of commit.lua, in its order.
func (s *Store) commitArgs(p place, c *store.Change) []any {
	h, kind := &c.Head, "c"
	if c.Aside {
		kind = "a"
	}
	dueBytes, dueScore := due(h.NextDue)
	update, updateScore := due(h.UpdateTime)
	args := []any{
		nil, kind, strconv.FormatUint(c.Expect, 10), string(h.Incarnation[:]), flag(h.Version == c.Expect+1),
		strconv.Itoa(int(h.Messages) - len(c.Messages)), strconv.FormatInt(h.EditSeq-int64(len(c.Edits)), 10),
		strconv.FormatUint(h.Version, 10), flag(h.State == store.Deleted), strconv.Itoa(int(h.Messages)), strconv.FormatInt(h.EditSeq, 10),
		s.encodeHead(c), dueBytes, dueScore, update, updateScore, flag(c.Staged()), "0", p.name, p.base,
		s.publish, p.channel(), p.name, len(c.Uploads), len(c.ExpectSlots), len(c.Release), h.Epoch,
	}
	for _, id := range c.Uploads {
		args = append(args, id[:])
	}
	for _, id := range c.Release {
		args = append(args, id[:])
	}
	for name, want := range c.ExpectSlots {
		args = append(args, name, flag(want != nil), slotHash(want))
	}
	w := &writes{s: s, args: args}
	w.change(c)
	return w.args
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

// writes are the steps at the end of the arguments (write in lua/write.lua).
type writes struct {
	s    *Store
	args []any
}

func (w *writes) change(c *store.Change) {
	if c.Info != nil {
		w.set(keyHead, "n", w.s.codec.EncodeInfo(c.Info))
	}
	if c.DropManifests > 0 {
		w.args = append(w.args, "l", keyManifests, seqBytes(c.DropManifests))
	}
	if !c.DropOutcomes.IsZero() {
		w.args = append(w.args, "o", keyOutcomes, appendTime(nil, c.DropOutcomes))
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

func (w *writes) set(key int, field any, value []byte) {
	w.args = append(w.args, "h", key, field, value)
}

func (w *writes) records(ms []conversation.Message, es []conversation.Edit, fs []conversation.Manifest) {
	var entries []byte
	for i := range ms {
		w.set(keyMessages, int64(ms[i].Index), w.s.codec.EncodeMessage(&ms[i]))
		entries = appendEntry(entries, ms[i].Commit, ms[i].Tokens)
		if i+1 == len(ms) || ms[i+1].Index != ms[i].Index+1 {
			first := int64(ms[i].Index) + 1 - int64(len(entries)/entryBytes)
			w.args, entries = append(w.args, "r", keyCommits, first*entryBytes, entries), nil
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
	w.set(keyEdits, e.Seq, w.s.codec.EncodeEdit(e))
	w.args = append(w.args, "r", keyEditCommits, (e.Seq-1)*entryBytes, appendEntry(nil, e.Commit, 0))
	if store.AboutRange(e.Kind) || e.Range.Len() > 1 {
		w.args = append(w.args, "z", keyWide, e.Seq, e.Seq)
		return
	}
	w.args = append(w.args, "z", keyNarrow, e.Range.First, e.Seq)
}

func (w *writes) manifest(m *conversation.Manifest) {
	w.args = append(w.args, "m", keyManifests, seqBytes(m.Seq), seqBytes(m.Seq+1), seqBytes(m.Seq)+string(w.s.codec.EncodeManifest(m)))
}

func (w *writes) outcome(o *store.Outcome) {
	w.set(keyOutcomes, outcomeField(o.Key), append(appendTime(nil, o.Time), w.s.codec.EncodeOutcome(o)...))
}

func (w *writes) slots(slots map[string][]byte) {
	for name, value := range slots {
		if value == nil {
			w.args = append(w.args, "d", keySlots, name)
			continue
		}
		w.set(keySlots, name, append([]byte(slotHash(value)), w.s.codec.EncodeSlot(value)...))
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
