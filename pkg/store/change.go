package store

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// Check reports an error if a name is too long. Every method of every back end begins with it.
func (k Key) Check() error {
	if len(k.Namespace) > MaxName || len(k.Conversation) > MaxName {
		return invalid("a name is longer than %d bytes", MaxName)
	}
	return nil
}

// Check reports an error if the change could never be committed. Every back end calls it before anything else.
func (c *Change) Check() error {
	if c.Head.Incarnation.IsZero() {
		return invalid("a change without an incarnation")
	}
	if err := checkSlots(c.Slots); err != nil {
		return err
	}
	if c.Aside {
		return c.checkAside()
	}
	if c.Head.Version <= c.Expect {
		return invalid("version %d after %d", c.Head.Version, c.Expect)
	}
	if c.Outcome != nil {
		if err := c.Outcome.Key.check(); err != nil {
			return err
		}
	}
	return c.checkLogs()
}

// checkAside reports an error if an aside sets something that an aside may not set.
func (c *Change) checkAside() error {
	if c.Erases || c.Info != nil || c.Outcome != nil || c.Manifest != nil || len(c.Messages)+len(c.Edits)+len(c.Uploads)+len(c.Release)+
		len(c.ReplaceMessages)+len(c.ReplaceEdits)+len(c.ReplaceManifests) > 0 || c.DropManifests != 0 || !c.DropOutcomes.IsZero() {
		return invalid("an aside changes more than slots")
	}
	return nil
}

func (c *Change) checkLogs() error {
	for i := range c.Messages {
		if want := c.Head.Messages - int32(len(c.Messages)-i); c.Messages[i].Index != want {
			return invalid("message %d where %d is next", c.Messages[i].Index, want)
		}
	}
	for i := range c.Edits {
		if want := c.Head.EditSeq - int64(len(c.Edits)-1-i); c.Edits[i].Seq != want {
			return invalid("edit %d where %d is next", c.Edits[i].Seq, want)
		}
	}
	if c.Manifest != nil && c.Manifest.Seq != c.Head.ManifestSeq {
		return invalid("manifest %d where %d is next", c.Manifest.Seq, c.Head.ManifestSeq)
	}
	return c.checkReplacements()
}

func (c *Change) checkReplacements() error {
	for i := range c.ReplaceMessages {
		if n := c.ReplaceMessages[i].Index; n < 0 || n >= c.Head.Messages-int32(len(c.Messages)) {
			return invalid("message %d replaced, which is not on record", n)
		}
	}
	for i := range c.ReplaceEdits {
		if n := c.ReplaceEdits[i].Seq; n < 1 || n > c.Head.EditSeq-int64(len(c.Edits)) {
			return invalid("edit %d replaced, which is not on record", n)
		}
	}
	return nil
}

// Against reports whether the change may be committed on top of the head that the name leads to (nil if it leads nowhere), and
// whether it begins an incarnation.
func (c *Change) Against(head *Head) (begins bool, err error) {
	switch {
	case head == nil && c.Expect != 0, head == nil && c.Aside:
		return false, fmt.Errorf("%w: the name leads nowhere", ErrNotFound)
	case head == nil:
		return true, nil
	case c.Aside:
		return false, c.besideOf(head)
	case head.Version != c.Expect:
		return false, fmt.Errorf("%w: version %d, expected %d", ErrConflict, head.Version, c.Expect)
	case head.Incarnation == c.Head.Incarnation:
		return false, c.follows(head)
	case head.State != Deleted:
		return false, fmt.Errorf("%w: another incarnation is live", ErrConflict)
	default:
		return true, nil
	}
}

func (c *Change) besideOf(head *Head) error {
	if head.Incarnation != c.Head.Incarnation || head.State == Deleted {
		return fmt.Errorf("%w: the incarnation is not live", ErrConflict)
	}
	return nil
}

// follows protects what is immutable: new records must come after those on record, and not replace any.
func (c *Change) follows(head *Head) error {
	switch {
	case c.Head.Version != c.Expect+1:
		return invalid("version %d after %d", c.Head.Version, c.Expect)
	case head.Messages+int32(len(c.Messages)) != c.Head.Messages:
		return invalid("%d messages after %d and %d new ones", c.Head.Messages, head.Messages, len(c.Messages))
	case head.EditSeq+int64(len(c.Edits)) != c.Head.EditSeq:
		return invalid("edit %d after %d and %d new ones", c.Head.EditSeq, head.EditSeq, len(c.Edits))
	default:
		return nil
	}
}

// AgainstSlots reports an error if a slot does not have the value that the change expects. have returns the value of a slot; nil
// if the slot does not exist.
func (c *Change) AgainstSlots(have func(name string) ([]byte, error)) error {
	for name, want := range c.ExpectSlots {
		value, err := have(name)
		if err != nil {
			return err
		}
		if (value == nil) != (want == nil) || !bytes.Equal(value, want) {
			return fmt.Errorf("%w: slot %q is not as expected", ErrConflict, name)
		}
	}
	return nil
}

// DueReplaced is when the rest of a replaced incarnation is due: now at the latest.
func (h *Head) DueReplaced(now time.Time) time.Time {
	if h.NextDue.IsZero() || h.NextDue.After(now) {
		return now
	}
	return h.NextDue
}

// Staged reports whether the change begins an incarnation on staged records, which must exist then. A tombstone has none.
func (c *Change) Staged() bool {
	return c.Head.State != Deleted && int(c.Head.Messages) > len(c.Messages)
}

// Frees reports whether the change makes the store smaller, or erases something: a full store must not refuse it.
func (c *Change) Frees() bool {
	switch {
	case c.Head.State == Deleted:
		return true
	case len(c.Messages) > 0:
		return false
	case c.Erases, len(c.ReplaceMessages)+len(c.Release) > 0:
		return true
	default:
		return len(c.Edits) == 0 && c.Manifest == nil && (c.DropManifests > 0 || !c.DropOutcomes.IsZero())
	}
}

// Check reports an error if the upload could never be staged.
func (u *Upload) Check() error {
	switch {
	case u.Incarnation.IsZero():
		return invalid("an upload without an incarnation")
	case u.ID.IsZero() && (len(u.Data) > 0 || !u.Records()):
		return invalid("a chunk without an id, or nothing")
	case u.Chunk < 0 || len(u.Data) > ChunkBytes:
		return invalid("chunk %d of %d bytes", u.Chunk, len(u.Data))
	}
	for i := range u.Outcomes {
		if err := u.Outcomes[i].Key.check(); err != nil {
			return err
		}
	}
	return checkSlots(u.Slots)
}

func (k RequestKey) check() error {
	if len(k.RPC) > MaxName || len(k.ID) > MaxName {
		return invalid("a request id of %d bytes", len(k.ID))
	}
	return nil
}

func checkSlots(slots map[string][]byte) error {
	for name, value := range slots {
		if len(name) > MaxName || len(value) > MaxSlot {
			return invalid("a slot of %d bytes under a name of %d", len(value), len(name))
		}
	}
	return nil
}

// Records reports whether the upload holds records of an import.
func (u *Upload) Records() bool {
	return len(u.Messages)+len(u.Edits)+len(u.Manifests)+len(u.Outcomes)+len(u.Slots) > 0
}

// AboutRange reports whether edits of this kind are part of every answer, whatever messages it is about.
func AboutRange(k conversation.EditKind) bool {
	switch k {
	case conversation.EditSummarize, conversation.EditHide, conversation.EditUnhide, conversation.EditRestore, conversation.EditCorrect,
		conversation.EditTakeOut, conversation.EditPutBack:
		return true
	default:
		return false
	}
}

// Wants reports whether the range asks for the edit.
func (r *EditRange) Wants(e *conversation.Edit) bool {
	if !r.Holds(e.Seq) {
		return false
	}
	return len(r.Of) == 0 || AboutRange(e.Kind) || slices.ContainsFunc(r.Of, e.Range.Overlaps)
}

// Holds reports whether the sequence number is in the range.
func (r *EditRange) Holds(seq int64) bool { return seq > r.After && (r.Upto == 0 || seq <= r.Upto) }
