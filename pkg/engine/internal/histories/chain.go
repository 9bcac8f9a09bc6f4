package histories

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// chain is the hash of a list, which grows element by element, together with the longest remembered prefix of the list.
type chain struct {
	before int32 // number of elements that the caller left out
	count  int32
	sum    [sha256.Size]byte
	marks  []record.HistoryMark
	known  record.HistoryMark // the longest remembered prefix; zero if there is none
	given  record.HistoryMark // the mark of the prefix that the caller left out; zero if it is not remembered
	// leading is how many leading messages of the record are system messages. A prefix that stands for no other messages counts as not
	// remembered: a rewind to the end of it would leave nothing.
	leading int32
}

func chainOf(r *Request, snap *store.Snapshot) (*chain, error) {
	c := &chain{before: r.KnownCount, count: r.KnownCount, leading: snap.Head.LeadingSystem}
	var err error
	if c.marks, err = decodeMarks(snap.Slots[view.HistorySlot]); err != nil {
		return nil, txn.Failure(err)
	}
	if r.KnownCount > 0 {
		n, err := hex.Decode(c.sum[:], []byte(r.KnownSHA256))
		if c.noteMark(snap.Head.Incarnation); err != nil || n != len(c.sum) || c.known.Count == 0 {
			return nil, c.prefixUnknown()
		}
	}
	c.given = c.known
	for _, element := range r.Input.Elements {
		c.add(element)
		c.noteMark(snap.Head.Incarnation)
	}
	return c, nil
}

// prefixUnknown is the error for a left-out prefix that is not remembered. It lists the lengths of the prefixes that are.
func (c *chain) prefixUnknown() error {
	err := conversation.Errorf(conversation.HistoryPrefixUnknown, "the first %d elements of the list are not known, or the record was changed since: send the whole list", c.before)
	for _, m := range c.marks {
		err.Known = append(err.Known, m.Count)
	}
	return err
}

// Hash returns the hash of a list whose first knownCount elements the caller may have left out, and the number of elements hashed.
func Hash(elements []string, knownCount int32, knownSHA256 string) (count int32, sum [sha256.Size]byte) {
	c := chain{count: knownCount}
	_, _ = hex.Decode(c.sum[:], []byte(knownSHA256)) // it was checked before
	for _, element := range elements {
		c.add(element)
	}
	return c.count, c.sum
}

func (c *chain) add(element string) {
	h := sha256.New()
	h.Write(c.sum[:])
	h.Write([]byte(element))
	h.Sum(c.sum[:0])
	c.count++
}

// noteMark notes the mark for the current prefix of the list, if there is one.
func (c *chain) noteMark(incarnation conversation.ID) {
	for _, m := range c.marks {
		if m.Count == c.count && m.Messages > c.leading && m.Placed && m.Hash == c.keyed(incarnation, c.sum) {
			c.known = m
		}
	}
}

func (c *chain) keyed(incarnation conversation.ID, sum [sha256.Size]byte) [32]byte {
	return txn.KeyedHash(incarnation, sum)
}

// start returns the message from which the record must be compared, and how many elements are known to come before it. If a reader joined
// elements on both sides of that border into one message, the comparison starts at the beginning of what was sent.
func (c *chain) start(messages []provider.InputMessage, leading int32) (from int32, elements int) {
	known, behind := int(c.known.Count), c.known.Messages
	for i := range messages {
		if m := &messages[i]; m.First+int(c.before) < known && m.End+int(c.before) > known {
			known, behind = int(c.given.Count), c.given.Messages
			break
		}
	}
	if known == 0 {
		return leading, 0
	}
	return behind, known
}

// after returns the messages behind the given number of elements, with their element numbers counted from the start of the whole list.
func (c *chain) after(messages []provider.InputMessage, elements int) []provider.InputMessage {
	out := make([]provider.InputMessage, 0, len(messages))
	for _, m := range messages {
		m.First, m.End = m.First+int(c.before), m.End+int(c.before)
		if m.First >= elements {
			out = append(out, m)
		}
	}
	return out
}

// placesOf returns where the messages of a known prefix stand, packed.
func (c *chain) placesOf(elements int) []int32 {
	if int(c.known.Count) == elements {
		return c.known.Places
	}
	return c.given.Places
}

// decodeMarks reads the remembered lists from their slot. Most lists begin as the newest one does, so an older mark leaves out what it
// shares with it.
func decodeMarks(slot []byte) ([]record.HistoryMark, error) {
	marks, err := record.DecodeHistoryMarks(slot)
	for i := range marks {
		if m := &marks[i]; i > 0 && m.Shared > 0 && int(m.Shared) <= len(marks[0].Places) {
			m.Places = slices.Concat(marks[0].Places[:m.Shared], m.Places)
		}
		marks[i].Shared = 0
	}
	return marks, err
}

// encodeMarks encodes the remembered lists as the value that replaces stored.
func encodeMarks(marks []record.HistoryMark, stored []byte) []byte {
	for i := 1; i < len(marks); i++ {
		m, n := &marks[i], 0
		for n < len(m.Places) && n < len(marks[0].Places) && m.Places[n] == marks[0].Places[n] {
			n++
		}
		m.Shared, m.Places = int32(n), m.Places[n:]
	}
	return record.EncodeHistoryMarks(marks, stored)
}
