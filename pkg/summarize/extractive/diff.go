package extractive

import (
	"fmt"
	"slices"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// diffReader offers what an extract of a diff may show.
type diffReader struct {
	units   []choice.Unit
	entries []choice.Entry
	// changed are the units that are added or removed lines.
	changed        map[int]bool
	files          int
	added, removed int
	// fileEntry is the entry of the file whose hunks are being read, or -1.
	fileEntry              int
	fileAdded, fileRemoved int
}

// readDiff recognizes a unified diff.
func readDiff(s source) (draft, bool) {
	if !looksLikeDiff(s.lines) {
		return draft{}, false
	}
	r := &diffReader{units: s.units, changed: map[int]bool{}, fileEntry: -1}
	inHunk := false
	for i, u := range r.units {
		inHunk = r.read(i, u.Text, inHunk)
	}
	r.endFile()
	r.addChanges(s.target)
	title := fmt.Sprintf("Diff, %s, %s lines added, %s removed", counted(r.files, "files"), grouped(r.added), grouped(r.removed))
	return draft{title: title, entries: r.entries}, true
}

func looksLikeDiff(lines []string) bool {
	hunks, marked := 0, 0
	for i, line := range lines {
		if strings.HasPrefix(line, "@@ ") {
			hunks++
		}
		if line != "" && strings.IndexByte("+- @", line[0]) >= 0 {
			marked++
		}
		if i > 300 && hunks == 0 {
			return false
		}
	}
	return hunks > 0 && marked*2 > len(lines)
}

// read handles one line, and reports whether the next lines belong to a hunk.
func (r *diffReader) read(i int, line string, inHunk bool) bool {
	switch {
	case strings.HasPrefix(line, "diff "):
		r.endFile()
		return false
	case strings.HasPrefix(line, "--- ") && r.nextBegins(i, "+++ "):
		r.endFile()
		return false
	case strings.HasPrefix(line, "+++ ") && !inHunk:
		r.beginFile(i, strings.TrimPrefix(line[len("+++ "):], "b/"))
		return false
	case strings.HasPrefix(line, "@@ "):
		r.entries = append(r.entries, choice.Entry{Text: line, MaxChars: 140, Order: i, Score: 700 - float64(len(r.entries))/100})
		return true
	case inHunk && line[0] == '+':
		r.fileAdded++
		r.changed[i] = true
	case inHunk && line[0] == '-':
		r.fileRemoved++
		r.changed[i] = true
	case strings.IndexByte(" +-\\", line[0]) < 0 && !isDiffHead(line) && facts.LineSeverity(line) >= facts.Failing:
		r.entries = append(r.entries, choice.Entry{Text: line, MaxChars: 300, Order: i, Score: 950}) // no line of the diff
	case !inHunk && !isDiffHead(line):
		r.entries = append(r.entries, choice.Entry{Text: line, MaxChars: 120, Order: i, Score: 600 - float64(len(r.entries))/100})
	}
	return inHunk
}

func (r *diffReader) nextBegins(i int, begin string) bool {
	return i+1 < len(r.units) && strings.HasPrefix(r.units[i+1].Text, begin)
}

func isDiffHead(line string) bool {
	heads := []string{"index ", "--- ", "new file ", "deleted file ", "similarity ", "rename ", "old mode", "new mode"}
	return slices.ContainsFunc(heads, func(head string) bool { return strings.HasPrefix(line, head) })
}

func (r *diffReader) beginFile(i int, path string) {
	r.files++
	r.fileEntry = len(r.entries)
	r.entries = append(r.entries, choice.Entry{Text: path, MaxChars: 200, Order: i, Score: 900 - float64(r.files)/100})
}

// endFile writes a file's counts before its path.
func (r *diffReader) endFile() {
	r.added, r.removed = r.added+r.fileAdded, r.removed+r.fileRemoved
	if r.fileEntry >= 0 {
		r.entries[r.fileEntry].Label = fmt.Sprintf("+%d -%d ", r.fileAdded, r.fileRemoved)
	}
	r.fileEntry, r.fileAdded, r.fileRemoved = -1, 0, 0
}

// addChanges offers changed lines and, with lower scores, the lines between them.
func (r *diffReader) addChanges(target int) {
	boost := func(i int) float64 {
		switch {
		case r.changed[i] && len(strings.TrimSpace(r.units[i].Text)) > 4:
			return 1
		case strings.HasPrefix(r.units[i].Text, " "):
			return 0.2
		}
		return 0
	}
	for rank, i := range choice.Cover(r.units, boost, 10+target/25) {
		r.entries = append(r.entries, choice.Entry{Text: r.units[i].Text, MaxChars: max(100, target/5), Order: i, Score: 500 - float64(rank)})
	}
}
