package extractive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// shape describes all values at one place of a JSON text: the members of objects by key, and one shape for all items of a list.
type shape struct {
	key string
	// kind is the kind of the first value, mixed is true if others differ.
	kind  byte
	mixed bool
	// count is the number of values.
	count int
	// list is true for arrays, and for objects whose keys are ids rather than names; minItems, maxItems and items count what they contain.
	list                      bool
	minItems, maxItems, items int
	members                   []*shape
	byKey                     map[string]*shape
	item                      *shape
	values                    valueStats
}

// maxMembers is how many keys of one object are told apart.
const maxMembers = 200

// valueStats counts the distinct values of scalars while there are few, and tracks the range of numbers.
type valueStats struct {
	counts               map[string]int
	order                []string
	many                 bool
	minText, maxText     string
	minNumber, maxNumber float64
	numbers              int
}

// maxDistinct is how many values count as few.
const maxDistinct = 12

func (v *valueStats) add(raw string, number bool) {
	if number {
		v.addNumber(raw)
	}
	if v.many {
		return
	}
	if v.counts == nil {
		v.counts = map[string]int{}
	}
	if v.counts[raw]++; v.counts[raw] == 1 {
		v.order = append(v.order, raw)
		v.many = len(v.order) > maxDistinct || len(raw) > 60
	}
}

func (v *valueStats) addNumber(raw string) {
	x, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return
	}
	if v.numbers == 0 || x < v.minNumber {
		v.minNumber, v.minText = x, raw
	}
	if v.numbers == 0 || x > v.maxNumber {
		v.maxNumber, v.maxText = x, raw
	}
	v.numbers++
}

// observe adds a value of a document to the shape of its place.
func observe(d *content.JSONTree, i int32, s *shape) {
	n := &d.Nodes[i]
	kind := n.Kind
	if kind == 'f' {
		kind = 't'
	}
	if s.count == 0 || s.kind == 'n' {
		s.kind = kind
		s.list = kind == '[' || (kind == '{' && keyedByID(d, i))
	}
	s.mixed = s.mixed || (s.kind != kind && kind != 'n')
	s.count++
	if kind == '{' || kind == '[' {
		observeChildren(d, i, s)
		return
	}
	s.values.add(d.Text[n.Start:n.End], kind == 0)
}

func observeChildren(d *content.JSONTree, i int32, s *shape) {
	n := &d.Nodes[i]
	if s.list || n.Kind == '[' {
		if s.item == nil {
			s.item = &shape{}
		}
		s.items += int(n.Size)
		if s.minItems > int(n.Size) || s.count == 1 {
			s.minItems = int(n.Size)
		}
		s.maxItems = max(s.maxItems, int(n.Size))
		for c := n.First; c != content.NoNode; c = d.Nodes[c].Next {
			observe(d, c, s.item)
		}
		return
	}
	at := 0
	for c := n.First; c != content.NoNode; c = d.Nodes[c].Next {
		if m := s.member(d.Key(c), at); m != nil {
			observe(d, c, m)
		}
		at++
	}
}

// member returns the shape of a key, which is probably the one at a position.
func (s *shape) member(key string, at int) *shape {
	if at < len(s.members) && s.members[at].key == key {
		return s.members[at]
	}
	if m, ok := s.byKey[key]; ok {
		return m
	}
	if len(s.members) == maxMembers {
		return nil
	}
	if s.byKey == nil {
		s.byKey = map[string]*shape{}
	}
	m := &shape{key: key}
	s.byKey[key] = m
	s.members = append(s.members, m)
	return m
}

// keyedByID reports whether an object is a list with ids as keys: objects of one form, under keys with digits or under very many.
func keyedByID(d *content.JSONTree, i int32) bool {
	n := &d.Nodes[i]
	coded, objects := 0, 0
	for c := n.First; c != content.NoNode; c = d.Nodes[c].Next {
		if strings.ContainsAny(d.Key(c), "0123456789") {
			coded++
		}
		if k := d.Nodes[c].Kind; k == '{' || k == '[' {
			objects++
		}
	}
	size := int(n.Size)
	return size > 0 && ((coded == size && objects == size) || (size > 60 && (coded == size || objects == size)) ||
		(size >= 8 && objects == size && firstKeysAlike(d, i)))
}

// firstKeysAlike reports whether all items of an object are objects that begin with the same key.
func firstKeysAlike(d *content.JSONTree, i int32) bool {
	first := d.Nodes[d.Nodes[i].First].First
	if first == content.NoNode {
		return false
	}
	for c := d.Nodes[i].First; c != content.NoNode; c = d.Nodes[c].Next {
		if f := d.Nodes[c].First; f == content.NoNode || d.Key(f) != d.Key(first) || d.Key(f) == "" {
			return false
		}
	}
	return true
}

// describe writes a shape: the keys of objects and the sizes of lists, and with detail the values.
func (s *shape) describe(detail bool, depth int) string {
	switch {
	case s.count == 0 || depth > 8:
		return ""
	case s.list:
		return s.describeList(detail, depth)
	case s.kind == '{':
		return "{" + strings.Join(s.describeMembers(detail, depth), ", ") + "}"
	case detail && s.count > 1: // a single value is shown as a member
		return s.values.describe()
	}
	return ""
}

// maxRare is how many members are described that few of the objects have.
const maxRare = 6

func (s *shape) describeMembers(detail bool, depth int) []string {
	parts := make([]string, 0, len(s.members))
	rare := 0
	for _, m := range s.members {
		if m.count*4 < s.count {
			if rare++; rare > maxRare {
				continue
			}
		}
		parts = append(parts, m.describeMember(s.count, detail, depth))
	}
	if rare > maxRare {
		parts = append(parts, fmt.Sprintf("+%d more", rare-maxRare))
	}
	return parts
}

func (s *shape) describeMember(of int, detail bool, depth int) string {
	text := s.key
	if s.count < of {
		text += fmt.Sprintf(" (in %s)", grouped(s.count))
	}
	inner := s.describe(detail, depth+1)
	if inner == "" {
		return text
	}
	return text + " " + inner
}

func (s *shape) describeList(detail bool, depth int) string {
	text := "[" + grouped(s.items)
	if s.count > 1 {
		text = fmt.Sprintf("[%s each, %s in all", between(s.minItems, s.maxItems), grouped(s.items))
	}
	if inner := s.item.describe(detail, depth+1); inner != "" {
		text += ": " + inner
	}
	return text + "]"
}

// describeLists writes the sizes of nested lists, if there are any.
func (s *shape) describeLists() string {
	if !s.item.list {
		return ""
	}
	inner := s.item.describeLists()
	text := fmt.Sprintf("%s each, %s in all", between(s.item.minItems, s.item.maxItems), grouped(s.item.items))
	return "[" + grouped(s.items) + ": [" + text + strings.TrimPrefix(inner, "[") + "]]"
}

func between(low, high int) string {
	if low == high {
		return grouped(low)
	}
	return grouped(low) + " to " + grouped(high)
}

// describe writes the values: all with their counts if they are few, else their range.
func (v *valueStats) describe() string {
	switch {
	case !v.many && len(v.order) == 1:
		return "= " + v.order[0]
	case v.numbers > 0 && (v.many || len(v.order) > 3):
		return v.minText + " to " + v.maxText
	case v.many || len(v.order) == 0 || !v.repeats():
		return ""
	}
	parts := make([]string, len(v.order))
	for i, raw := range v.byCount() {
		parts[i] = fmt.Sprintf("%s ×%s", raw, grouped(v.counts[raw]))
	}
	return strings.Join(parts, " ")
}

// repeats reports whether values recur, as those of a status do.
func (v *valueStats) repeats() bool {
	n := 0
	for _, c := range v.counts {
		n += c
	}
	return n >= 2*len(v.order)
}

func (v *valueStats) byCount() []string {
	order := slices.Clone(v.order)
	slices.SortStableFunc(order, func(a, b string) int { return v.counts[b] - v.counts[a] })
	return order
}

// constant returns the value of all scalars of a shape, if they have only one.
func (s *shape) constant() (raw string, ok bool) {
	if s.count < 2 || s.values.many || len(s.values.order) != 1 || s.mixed {
		return "", false
	}
	return s.values.order[0], true
}
