package view

import (
	"fmt"
	"hash/fnv"
	"maps"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// renderKey identifies a way of writing units.
type renderKey struct {
	format conversation.Format
	model  string
}

// unitCache caches how units were written, so that an unchanged unit is not written again.
type unitCache struct {
	Units    map[unitKey]provider.UnitBlocks
	Assembly *provider.Assembly
	Manifest int64 // the build that the assembly was made for; 0 for none
}

// unitKey holds everything that a unit's blocks depend on. The messages themselves do not change.
type unitKey struct {
	first, last int32 // last of all its messages
	items       int
	partsHash   uint64 // hash of which parts it has of messages that are divided among units
	edit        int64
	summary     bool
	leading     bool
	severed     bool
	neighbors   string // empty for most units
	cut         conversation.Cut
}

func keyOf(u *conversation.Unit, c provider.UnitContext) unitKey {
	k := unitKey{first: u.First(), last: u.Last(), items: len(u.Items), leading: c.Leading, severed: c.Severed}
	if !c.Neighbors.Empty() {
		k.neighbors = fmt.Sprintf("%q %q %t", c.Neighbors.Asked, c.Neighbors.Awaited, c.Neighbors.GoesOn)
	}
	if u.Summary != nil {
		k.summary, k.edit = true, u.Summary.Seq
	}
	pieces := fnv.New64a()
	for i := range u.Items {
		it := &u.Items[i]
		k.edit, k.last = max(k.edit, it.EditSeq), max(k.last, it.Message.Index)
		if it.Of != nil {
			fmt.Fprintln(pieces, it.Message.Index, it.Positions)
			k.partsHash = pieces.Sum64()
		}
	}
	return k
}

func (r *unitCache) bytes() int64 {
	n := int64(0)
	for _, u := range r.Units {
		for i := range u.Blocks {
			n += int64(len(u.Blocks[i].JSON)) + 384 // for its entries in the map and in two assemblies
		}
	}
	return n
}

// maxRenderings is for how many pairs of format and model a window keeps written units.
const maxRenderings = 4

func (w *Loaded) unitCacheFor(k renderKey, t provider.Traits) *unitCache {
	r := w.unitCaches[k]
	if r == nil {
		if len(w.unitCaches) >= maxRenderings {
			clear(w.unitCaches)
		}
		r = &unitCache{Units: make(map[unitKey]provider.UnitBlocks), Assembly: provider.NewAssembly(t)}
		w.unitCaches[k] = r
	}
	return r
}

// dropUncommitted drops what was written for edits and messages that were never committed, and their lines: the next messages and edits get
// the same numbers.
func (w *Loaded) dropUncommitted() {
	for _, r := range w.unitCaches {
		maps.DeleteFunc(r.Units, func(key unitKey, _ provider.UnitBlocks) bool {
			return key.edit > w.Head.EditSeq || key.last >= w.Head.Messages
		})
	}
	w.lines.keep(func(k lineKey) bool { return k.correction <= w.Head.EditSeq && k.message < w.Head.Messages })
}
