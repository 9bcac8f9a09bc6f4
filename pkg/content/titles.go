package content

import "sort"

// IsData reports whether the content is JSON, whose sections are independent items and members.
func (r *Reading) IsData() bool { return r.json != nil }

// HasTitles reports whether any position has titles.
func (r *Reading) HasTitles() bool {
	return len(r.headings) > 0 || (r.json != nil && len(r.json.nodes) > 1)
}

// Titles returns the titles over a position, as [from, to) of Text and at most room bytes in all: the title of its section, or the keys of
// the JSON objects that contain it, the nearest first.
func (r *Reading) Titles(at, room int) (out [][2]int) {
	add := func(from, to int) {
		to = RuneStart(r.Text, max(from, min(to, from+room)))
		if room -= to - from; to > from {
			out = append(out, [2]int{from, to})
		}
	}
	if j := r.json; j != nil {
		node, _ := j.nodeAt(at)
		for n := j.nodes[node]; n.parent >= 0 && room > 0; n = j.nodes[n.parent] {
			if start := int(n.start); j.text[start] == '"' {
				add(start+1, JSONStringEnd(j.text, start)-1)
			}
		}
	} else if i := sort.Search(len(r.headings), func(i int) bool { return int(r.headings[i].from) > at }) - 1; i >= 0 {
		add(int(r.headings[i].from), int(r.headings[i].to))
	}
	return out
}
