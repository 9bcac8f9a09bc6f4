package view

import (
	"slices"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// findNeighbors says what each unit has in its neighbors. Units are written for it as if they had none, as most of them then stay.
func (c *Composer) findNeighbors(out *Composition) ([]provider.Neighbors, error) {
	none := make([]provider.Neighbors, len(out.Units))
	if t := c.Format.Traits(); !t.Pauses && !t.Precedes || !hasBlocksOfTheModel(out.Units) {
		return none, nil
	}
	units := make([]provider.UnitBlocks, len(out.Units))
	for i := range out.Units {
		written, err := c.writeUnit(out, i, provider.Neighbors{})
		if err := c.Loaded.IgnoreMissing(err); err != nil {
			return nil, err
		}
		units[i] = written
	}
	if c.Loaded.lacks() { // what is missing is loaded, and all of it written again
		return none, nil
	}
	return provider.FindNeighbors(units), nil
}

// hasBlocksOfTheModel reports whether units may be written otherwise for their neighbors: only thinking and blocks of a provider's own are.
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
