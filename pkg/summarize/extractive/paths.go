package extractive

import (
	"fmt"
	"strings"
)

// folder is a folder of a list of paths, with what it holds.
type folder struct {
	path  string
	names []string
	first int
}

// readPaths recognises a list of paths, one a line, and groups them by folder.
func readPaths(s source) (draft, bool) {
	lines := s.units
	if !listsPaths(lines) {
		return draft{}, false
	}
	var folders []*folder
	byPath := map[string]*folder{}
	var rest []piece
	for i, u := range lines {
		path := strings.TrimSpace(u.text)
		at := nameStart(path)
		if at == 0 {
			rest = append(rest, piece{label: fmt.Sprintf("L%d: ", u.line), text: path, most: 160})
			continue
		}
		f, ok := byPath[path[:at]]
		if !ok {
			f = &folder{path: path[:at], first: i}
			byPath[f.path] = f
			folders = append(folders, f)
		}
		f.names = append(f.names, path[at:])
	}
	n := len(lines) - len(rest)
	d := draft{title: fmt.Sprintf("Paths, %s in %s", grouped(n), counted(len(folders), "folders"))}
	for _, f := range folders {
		label := fmt.Sprintf("%s (%s): ", f.path, grouped(len(f.names)))
		d.pieces = append(d.pieces, piece{
			label: label, text: strings.Join(f.names[:min(len(f.names), s.target)], ", "),
			most: max(40, s.target*6/10*len(f.names)/n-len(label)), order: f.first, worth: float64(len(f.names)),
		})
	}
	d.around(nil, failuresFirst(rest))
	return d, true
}

// nameStart is where the name begins in a path with a folder, or 0 if a text is none.
func nameStart(path string) int {
	if strings.ContainsAny(path, " \t\"'<>{}=;") || strings.Contains(path, "://") {
		return 0
	}
	return strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/') + 1
}

// listsPaths says whether nearly all lines are paths.
func listsPaths(lines []unit) bool {
	n := 0
	for _, u := range lines {
		if nameStart(strings.TrimSpace(u.text)) > 0 {
			n++
		}
	}
	return n >= 8 && n*5 >= len(lines)*4
}
