package span

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// tally counts things by name. Its text can be parsed again: "edit ×3, read".
type tally struct {
	names []string // in the order in which they were first counted
	count map[string]int
}

const countMark = " ×"

func (t *tally) add(name string, n int) {
	if t.count == nil {
		t.count = map[string]int{}
	}
	if t.count[name] == 0 {
		t.names = append(t.names, name)
	}
	t.count[name] += n
}

func (t *tally) sum() (n int) {
	for _, count := range t.count {
		n += count
	}
	return n
}

func (t *tally) addAll(other *tally) {
	for _, name := range other.names {
		t.add(name, other.count[name])
	}
}

// parse adds the counts in another tally's text.
func (t *tally) parse(text string) {
	for _, entry := range strings.Split(text, ", ") {
		name, number, _ := strings.Cut(entry, countMark)
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > maxCount {
			n = 1
		}
		if name != "" {
			t.add(name, n)
		}
	}
}

// maxCount limits the counts that are accepted from a text.
const maxCount = 1 << 30

// text lists the names by count, the highest first.
func (t *tally) text() string {
	byCount := slices.Clone(t.names)
	slices.SortStableFunc(byCount, func(a, b string) int { return cmp.Compare(t.count[b], t.count[a]) })
	for i, name := range byCount {
		if n := t.count[name]; n > 1 {
			byCount[i] = fmt.Sprintf("%s%s%d", name, countMark, n)
		}
	}
	return strings.Join(byCount, ", ")
}
