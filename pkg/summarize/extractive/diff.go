package extractive

import (
	"fmt"
	"strings"
)

// diffReader offers what an extract of a diff may show.
type diffReader struct {
	units  []unit
	pieces []piece
	// changed are the units that are added or removed lines.
	changed        map[int]bool
	files          int
	added, removed int
	// file is the piece of the file whose hunks are read, or -1, and its counts.
	file      int
	plus, cut int
}

// readDiff recognises a unified diff.
func readDiff(s source) (draft, bool) {
	if !looksLikeDiff(s.lines) {
		return draft{}, false
	}
	r := &diffReader{units: s.units, changed: map[int]bool{}, file: -1}
	inHunk := false
	for i, u := range r.units {
		inHunk = r.read(i, u.text, inHunk)
	}
	r.endFile()
	r.addChanges(s.target)
	title := fmt.Sprintf("Diff, %s, %s lines added, %s removed", counted(r.files, "files"), grouped(r.added), grouped(r.removed))
	return draft{title: title, pieces: r.pieces}, true
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

// read takes in one line, and says whether the lines after it are of a hunk.
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
		r.pieces = append(r.pieces, piece{text: line, most: 140, order: i, worth: 700 - float64(len(r.pieces))/100})
		return true
	case inHunk && line[0] == '+':
		r.plus++
		r.changed[i] = true
	case inHunk && line[0] == '-':
		r.cut++
		r.changed[i] = true
	case strings.IndexByte(" +-\\", line[0]) < 0 && !isDiffHead(line) && lineSeverity(line) >= failing:
		r.pieces = append(r.pieces, piece{text: line, most: 300, order: i, worth: 950}) // no line of the diff
	case !inHunk && !isDiffHead(line):
		r.pieces = append(r.pieces, piece{text: line, most: 120, order: i, worth: 600 - float64(len(r.pieces))/100})
	}
	return inHunk
}

func (r *diffReader) nextBegins(i int, begin string) bool {
	return i+1 < len(r.units) && strings.HasPrefix(r.units[i+1].text, begin)
}

func isDiffHead(line string) bool {
	for _, head := range []string{"index ", "--- ", "new file ", "deleted file ", "similarity ", "rename ", "old mode", "new mode"} {
		if strings.HasPrefix(line, head) {
			return true
		}
	}
	return false
}

func (r *diffReader) beginFile(i int, path string) {
	r.files++
	r.file = len(r.pieces)
	r.pieces = append(r.pieces, piece{text: path, most: 200, order: i, worth: 900 - float64(r.files)/100})
}

// endFile writes a file's counts before its path.
func (r *diffReader) endFile() {
	r.added, r.removed = r.added+r.plus, r.removed+r.cut
	if r.file >= 0 {
		r.pieces[r.file].label = fmt.Sprintf("+%d -%d ", r.plus, r.cut)
	}
	r.file, r.plus, r.cut = -1, 0, 0
}

// addChanges offers changed lines, and with less worth the lines between them.
func (r *diffReader) addChanges(target int) {
	boost := func(i int) float64 {
		switch {
		case r.changed[i] && len(strings.TrimSpace(r.units[i].text)) > 4:
			return 1
		case strings.HasPrefix(r.units[i].text, " "):
			return 0.2
		}
		return 0
	}
	for rank, i := range termsOf(r.units).cover(r.units, boost, 10+target/25) {
		r.pieces = append(r.pieces, piece{text: r.units[i].text, most: max(100, target/5), order: i, worth: 500 - float64(rank)})
	}
}
