package view

import (
	"fmt"
	"hash/fnv"
	"maps"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// renderKey names a way of writing units.
type renderKey struct {
	format conversation.Format
	model  string
}

// rendering remembers how units were written, so that a unit that did not change is not written again.
type rendering struct {
	Units    map[unitKey]provider.UnitBlocks
	Assembly *provider.Assembly
	Manifest int64 // the build that assembly was made for; 0 for none
}

// unitKey is everything that a unit's blocks depend on, its messages being immutable.
type unitKey struct {
	first, last int32 // last: of all its messages
	items       int
	pieces      uint64 // which parts of messages that other units have parts of
	edit        int64
	summary     bool
	leading     bool
	severed     bool
	neighbors   string // empty of most
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
			k.pieces = pieces.Sum64()
		}
	}
	return k
}

func (r *rendering) bytes() int64 {
	n := int64(0)
	for _, u := range r.Units {
		for i := range u.Blocks {
			n += int64(len(u.Blocks[i].JSON)) + 384 // and its entries in the map and in two assemblies
		}
	}
	return n
}

// maxRenderings is how many formats and models a warm window keeps written.
const maxRenderings = 4

func (w *Loaded) rendering(k renderKey, t provider.Traits) *rendering {
	r := w.renderings[k]
	if r == nil {
		if len(w.renderings) >= maxRenderings {
			clear(w.renderings)
		}
		r = &rendering{Units: make(map[unitKey]provider.UnitBlocks), Assembly: provider.NewAssembly(t)}
		w.renderings[k] = r
	}
	return r
}

// dropUncommitted forgets what units were written as by edits and with messages that were never committed, and the lines of those: the next
// messages and edits have the same numbers.
func (w *Loaded) dropUncommitted() {
	for _, r := range w.renderings {
		maps.DeleteFunc(r.Units, func(key unitKey, _ provider.UnitBlocks) bool {
			return key.edit > w.Head.EditSeq || key.last >= w.Head.Messages
		})
	}
	maps.DeleteFunc(w.lines, func(key lineKey, _ []uint64) bool {
		return key.correction > w.Head.EditSeq || key.message >= w.Head.Messages
	})
}
