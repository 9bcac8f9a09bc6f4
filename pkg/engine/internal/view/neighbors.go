package view

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// findNeighbors returns what each unit must know of its neighbors. Units are first written as if they had none, and most stay like that.
func (c *Composer) findNeighbors(out *Composition) ([]provider.Neighbors, error) {
	none := make([]provider.Neighbors, len(out.Units))
	if t := c.Format.Traits(); !t.Pauses && !t.Precedes || !hasBlocksOfTheModel(out.Units) {
		return none, nil
	}
	units := make([]provider.UnitBlocks, len(out.Units))
	for i := range out.Units {
		written, err := c.writeUnit(out, i, provider.Neighbors{})
		if err := IgnoreMissing(err); err != nil {
			return nil, err
		}
		units[i] = written
	}
	if c.Loaded.Extras.lacksAnything() { // everything is written again after the missing parts are loaded
		return none, nil
	}
	return provider.FindNeighbors(units), nil
}

// hasBlocksOfTheModel reports whether neighbors can change how units are written: only units with thinking or with a provider's own blocks
// depend on them.
func hasBlocksOfTheModel(units []conversation.Unit) bool {
	for it := range conversation.Items(units) {
		if slices.ContainsFunc(it.Parts, func(p conversation.Part) bool {
			return p.Kind == conversation.PartReasoning || p.Kind == conversation.PartOpaque
		}) {
			return true
		}
	}
	return false
}
