package provider

import (
	"slices"
	"strings"
)

// Neighbors is what a unit must know of the units around it to be written. It is empty for most units.
type Neighbors struct {
	// Asked are ids of calls of the provider's own tools that earlier units hold and that are not answered when the unit begins.
	Asked []string
	// Awaited are ids of calls of the provider's own tools in this unit that later units answer, or that may still be answered.
	Awaited []string
	// GoesOn is set if the model's turn goes on in the next unit, so that this one may end with thinking.
	GoesOn bool
}

// Ties is what a unit has to do with its neighbors. It is found by writing the unit as if it had none.
type Ties struct {
	// Asks and Answers are ids of calls of the provider's own tools of which the unit holds only the call, or only the answer.
	Asks, Answers []string
	// Thinks is set if the unit ends with thinking, which may only stay if the model's turn goes on.
	Thinks bool
	// Spoken is set if somebody other than the model and the caller's tools says something.
	Spoken bool
	// Serves is set if the model's turn has blocks of the provider's own tools.
	Serves bool
	// Paused is set if the unit ends with a turn that was paused at the provider's own tools.
	Paused bool
}

// maxOpenCalls is how many calls of the provider's own tools may be open at a time: models have only a few.
const maxOpenCalls = 32

// FindNeighbors returns the neighbors of each unit of a view, given the units as they are written without any. A call of the provider's own
// tools stays open from the unit that asks to the one that answers, if nobody else speaks in between. A call without an answer stays open
// while the model's turn is paused, or waits for the caller's tools.
func FindNeighbors(units []UnitBlocks) []Neighbors {
	out := make([]Neighbors, len(units))
	open := map[string]int{} // by id: the unit that holds the call
	stays := func(id string, to int) {
		from := open[id]
		out[from].Awaited = append(out[from].Awaited, id)
		for i := from + 1; i <= to; i++ {
			out[i].Asked = append(out[i].Asked, id)
		}
		delete(open, id)
	}
	last, goesOn := -1, false
	for i := range units {
		ties := &units[i].Ties
		for _, id := range ties.Answers {
			if _, asked := open[id]; asked {
				stays(id, i)
			}
		}
		for _, id := range ties.Asks {
			if len(open) < maxOpenCalls {
				open[id] = i
			}
		}
		if ties.Spoken {
			clear(open)
		}
		if len(units[i].Blocks) > 0 || ties.Paused {
			last = i
		}
	}
	for i := len(units) - 1; i >= 0; i-- {
		out[i].GoesOn = goesOn && units[i].Ties.Thinks
		if blocks := units[i].Blocks; len(blocks) > 0 {
			goesOn = blocks[0].byModel()
		}
	}
	if last >= 0 && units[last].waits() {
		for id, from := range open {
			if from <= last {
				stays(id, last)
			}
		}
	}
	for i := range out {
		slices.Sort(out[i].Asked)
		slices.Sort(out[i].Awaited)
	}
	return out
}

// waits reports whether the model's turn goes on after the unit without anybody else's words: it is paused, or only results follow.
func (u *UnitBlocks) waits() bool {
	n := len(u.Blocks)
	return u.Ties.Paused || n > 0 && u.Blocks[n-1].Role == "user" && !u.Ties.Spoken
}

// byModel reports whether the block is the model's: a message, or an item that its reasoning may precede.
func (b *Block) byModel() bool {
	return b.Role == "assistant" || b.Role == "reasoning" || strings.HasSuffix(b.Role, "_call")
}

// Empty reports whether there is nothing to know.
func (n *Neighbors) Empty() bool { return len(n.Asked)+len(n.Awaited) == 0 && !n.GoesOn }

// Ties returns the ties of the unit that is being written.
func (s *UnitWriter) Ties() *Ties { return &s.out.Ties }
