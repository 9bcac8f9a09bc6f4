package compaction

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Node is a summary in force, or one that is about to be made.
type Node struct {
	Range conversation.Range
	Level int32
}

// Merge says that nodes [First, End) of the list, as it is when this merge is made, become one.
type Merge struct {
	First, End int
	Into       Node
}

// Merges returns which summaries become one (behaviour §8, HIERARCHICAL), in order: each merge is about the list that the one before
// it left. Nodes are by range, with nothing between two neighbours that a summary could stand for. Where fanOut of a level stand
// next to each other, the oldest of them become one of the next level, which may complete fanOut of that, until there are none
// left. A fan out below 2 merges nothing. The work grows with the number of nodes.
func Merges(nodes []Node, fanOut int) []Merge {
	if fanOut < 2 {
		return nil
	}
	var out []Merge
	list := make([]Node, 0, len(nodes)) // of those up to a node, without any fanOut that could merge
	for _, n := range nodes {
		list = append(list, n)
		for sameLevel(list, fanOut) {
			m := mergeLast(list, fanOut)
			list = append(list[:m.First], m.Into)
			out = append(out, m)
		}
	}
	return out
}

// sameLevel reports whether the last n nodes of a list are of one level.
func sameLevel(list []Node, n int) bool {
	if len(list) < n {
		return false
	}
	for _, node := range list[len(list)-n:] {
		if node.Level != list[len(list)-1].Level {
			return false
		}
	}
	return true
}

// mergeLast makes one of the last n nodes of a list.
func mergeLast(list []Node, n int) Merge {
	first, last := len(list)-n, list[len(list)-1]
	return Merge{First: first, End: len(list), Into: Node{
		Range: conversation.Range{First: list[first].Range.First, End: last.Range.End}, Level: last.Level + 1,
	}}
}
