package report

import (
	"math"

	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// Rewrite says what it costs that the provider reads text anew, and what it saves. Tokens are before the factor, money is in the
// currency of the profile's prices.
type Rewrite struct {
	Reread         int64   // behind the break, without what is new in this build
	Saved          int64   // by which this context and later ones are smaller; negative if they are larger
	Cost           float64 // of writing what is read anew into the cache, over reading it from there
	SavedPerTurn   float64
	BreakEvenTurns int32 // builds until the cost is saved, this one included; -1 if nothing is saved
}

// rewritten says what it costs and saves that a context differs from the previous build's behind so many stable blocks. Behind a cold cache
// all is written anew in any case.
func (c *Comparison) rewritten(stable int) Rewrite {
	shown := c.Before.Manifest.MessageCount
	r := Rewrite{Reread: tokensBefore(c.Blocks[stable:], shown), BreakEvenTurns: -1}
	r.Saved = tokensBefore(c.Before.Blocks[stable:], shown) - r.Reread
	r.SavedPerTurn = float64(r.Saved) * c.Price * c.Read
	if !c.Cold {
		r.Cost = max(0, float64(r.Reread)*c.Price*(c.Write-c.Read))
	}
	if r.SavedPerTurn > 0 {
		r.BreakEvenTurns = int32(min(math.Ceil(r.Cost/r.SavedPerTurn), math.MaxInt32))
	}
	return r
}

// tokensBefore is what blocks weigh of the first so many messages on record, and of what stands for some of them. What closes a context
// because a provider wants it so comes to nothing.
func tokensBefore(blocks []provider.Block, messages int32) int64 {
	for len(blocks) > 0 && blocks[len(blocks)-1].Index < 0 {
		blocks = blocks[:len(blocks)-1]
	}
	n := int64(0)
	for i := range blocks {
		if blocks[i].Index < messages {
			n += int64(blocks[i].Tokens)
		}
	}
	return n
}
