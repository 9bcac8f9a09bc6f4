package compaction

import "github.com/palimpsest-context/palimpsest/pkg/conversation"

// Node is a summary in force, or one that is about to be made.
type Node struct {
	Range conversation.Range
	Level int32
}

// Merge replaces the nodes [First, End) of the list, as it is at that point, with one.
type Merge struct {
	First, End int
	Into       Node
}

// Merges returns which summaries are merged (behaviour §8, HIERARCHICAL), in order: each merge refers to the list that the one before it
// left. Nodes are sorted by range, without anything between neighbors that could be summarized. Where fanOut neighbors have the same level,
// the oldest of them become one of the next level, which may complete fanOut of that level, and so on. A fanOut below 2 merges nothing. The
// work is linear in the number of nodes.
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

// sameLevel reports whether the last n nodes of a list have the same level.
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

// mergeLast merges the last n nodes of a list.
func mergeLast(list []Node, n int) Merge {
	first, last := len(list)-n, list[len(list)-1]
	return Merge{First: first, End: len(list), Into: Node{
		Range: conversation.Range{First: list[first].Range.First, End: last.Range.End}, Level: last.Level + 1,
	}}
}
