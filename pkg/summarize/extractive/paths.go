package extractive

import (
	"fmt"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// folder is a folder in a list of paths, with its contents.
type folder struct {
	path  string
	names []string
	first int
}

// readPaths recognizes a list of paths, one per line, and groups them by folder.
func readPaths(s source) (draft, bool) {
	lines := s.units
	if !listsPaths(lines) {
		return draft{}, false
	}
	var folders []*folder
	byPath := map[string]*folder{}
	var rest []choice.Entry
	for i, u := range lines {
		path := strings.TrimSpace(u.Text)
		at := nameStart(path)
		if at == 0 {
			rest = append(rest, choice.Entry{Label: fmt.Sprintf("L%d: ", u.Line), Text: path, MaxChars: 160})
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
		d.entries = append(d.entries, choice.Entry{
			Label: label, Text: strings.Join(f.names[:min(len(f.names), s.target)], ", "),
			MaxChars: max(40, s.target*6/10*len(f.names)/n-len(label)), Order: f.first, Score: float64(len(f.names)),
		})
	}
	d.surround(nil, failureLines(rest))
	return d, true
}

// nameStart returns where the name begins in a path with a folder, or 0 if the text is not one.
func nameStart(path string) int {
	if strings.ContainsAny(path, " \t\"'<>{}=;") || strings.Contains(path, "://") {
		return 0
	}
	return strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/') + 1
}

// listsPaths reports whether nearly all lines are paths.
func listsPaths(lines []choice.Unit) bool {
	n := 0
	for _, u := range lines {
		if nameStart(strings.TrimSpace(u.Text)) > 0 {
			n++
		}
	}
	return n >= 8 && n*5 >= len(lines)*4
}
