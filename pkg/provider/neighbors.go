package provider

import (
	"slices"
	"strings"
)

// Neighbors are what the units around one say of it. Most units have none.
type Neighbors struct {
	// Asked are calls of the provider's own tools, by id, that earlier units ask and nothing has answered when the unit begins.
	Asked []string
	// Awaited are calls of the provider's own tools, by id, that the unit asks and others answer, or that may still be answered.
	Awaited []string
	// GoesOn: the model goes on in the next unit, so that its thinking may end this one.
	GoesOn bool
}

// Ties are what a unit has to do with its neighbors, written as if it had none.
type Ties struct {
	// Asks and Answers are calls of the provider's own tools, by id, whose other half the unit lacks.
	Asks, Answers []string
	// Thinks: what the unit holds of the model's thinking stands last in its turn, where only a further turn of the model's lets it stay.
	Thinks bool
	// Spoken: somebody besides the model and the caller's tools says something.
	Spoken bool
	// Serves: blocks of the provider's own tools stand in the model's turn.
	Serves bool
	// Paused: the unit ends with a turn of the model's that was paused at the provider's own tools.
	Paused bool
}

// maxOpenCalls bounds how many calls of the provider's own tools are open at a time: models have a few.
const maxOpenCalls = 32

// FindNeighbors says what each unit of a view has in its neighbors, given the units as they are written without any. A call of the provider's
// own tools stays from the unit that asks to the one that answers, if nobody else speaks between. One that nothing has answered yet stays
// while the model's turn is paused, or waits for the caller's tools.
func FindNeighbors(units []UnitBlocks) []Neighbors {
	out := make([]Neighbors, len(units))
	open := map[string]int{} // where a call is asked
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

// waits reports whether the model goes on behind the unit without anybody's words: its turn is paused, or has results alone.
func (u *UnitBlocks) waits() bool {
	n := len(u.Blocks)
	return u.Ties.Paused || n > 0 && u.Blocks[n-1].Role == "user" && !u.Ties.Spoken
}

// byModel reports whether the model says it, as a message or as an item that its reasoning may precede.
func (b *Block) byModel() bool {
	return b.Role == "assistant" || b.Role == "reasoning" || strings.HasSuffix(b.Role, "_call")
}

// Empty reports whether the neighbors say nothing.
func (n *Neighbors) Empty() bool { return len(n.Asked)+len(n.Awaited) == 0 && !n.GoesOn }

// Ties are what the unit that is written has to do with its neighbors.
func (s *UnitWriter) Ties() *Ties { return &s.out.Ties }
