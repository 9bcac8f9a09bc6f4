package appends

import (
	"maps"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
)

// findShares finds the contents whose bytes the conversation already stores.
func (c *citationPlan) findShares() error {
	c.shares, c.fresh = map[blockAt]conversation.ContentRef{}, map[[32]byte]conversation.ContentRef{}
	for i := range c.parts {
		x := &c.parts[i]
		if !x.large() {
			continue
		}
		shared, err := contents.ParseShared(c.slots.Get(contents.SharedSlot(x.sum)))
		if err != nil {
			return err
		}
		if shared != nil {
			c.shares[x.blockAt] = conversation.ContentRef{
				ID: conversation.ID(shared.ID), Bytes: int64(len(x.text)), Chars: int64(utf8.RuneCountInString(x.text)), SHA256: x.sum,
			}
		}
	}
	return nil
}

// share makes parts of a message refer to bytes that are already stored, or were staged for an earlier message.
func (c *citationPlan) share(message int, parts []conversation.Part) {
	for i := range c.parts {
		x := &c.parts[i]
		if x.message != message || !x.large() {
			continue
		}
		ref, ok := c.shares[x.blockAt]
		if !ok {
			ref, ok = c.fresh[x.sum]
		}
		if ok {
			*contents.WholeOf(&parts[x.part]) = conversation.Content{Ref: &ref}
		}
	}
}

// learn notes the chunks that were staged for a message, so that later messages can share them.
func (c *citationPlan) learn(message int, parts []conversation.Part) {
	for i := range c.parts {
		if x := &c.parts[i]; x.message == message && x.large() {
			c.fresh[x.sum] = *contents.WholeOf(&parts[x.part]).Ref
		}
	}
}

func (c *citationPlan) stagedShares() map[blockAt]conversation.ContentRef {
	if c == nil {
		return nil
	}
	return c.staged
}

// sharesAsStaged reports whether the shares are still those of the last staging.
func (c *citationPlan) sharesAsStaged() bool {
	return maps.Equal(c.shares, c.staged)
}
