package replay

import (
	"maps"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// referenceRecall measures how many of the next message's references, of those that
// the conversation had already made, the context still holds.
func (c *conversation) referenceRecall(next *pb.Message, blocks []validate.Block) {
	for word := range recall.ReferencesOf(recall.Message(next).Items) {
		if _, ok := c.said[word]; ok {
			c.Recall.References.Count(recall.Holds(c.words, recall.ReferencesOf, blocks, word))
		}
	}
}

// contentRecall measures how much of what the next message repeats of the conversation, word by word, the context still holds.
func (c *conversation) contentRecall(next *pb.Message, blocks []validate.Block) {
	for s := range c.shingler.Of(recall.Message(next).Items) {
		_, foreign := c.othersSaid[s]
		_, own := c.agentSaid[s]
		if !own && !foreign {
			continue
		}
		held := recall.Holds(c.blockShingles, c.shingler.Of, blocks, s)
		c.Recall.Content.Count(held)
		if foreign {
			c.Recall.ForeignContent.Count(held)
		}
	}
}

// remember takes in what a message says: the assistant's words are the agent's own, all others are not.
func (c *conversation) remember(m validate.Message) {
	maps.Copy(c.said, recall.ReferencesOf(m.Items))
	into := c.othersSaid
	if m.Role == "assistant" {
		into = c.agentSaid
	}
	maps.Copy(into, c.shingler.Of(m.Items))
}
