package archtest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
)

// Pages that say where things are.
var guides = []string{"docs/architecture.md", "CONTRIBUTING.md"}

var (
	namedPath = regexp.MustCompile("`((?:cmd|pkg|internal|proto|test|tools|scripts|clients)/[\\w./*-]+)`")
	namedFile = regexp.MustCompile("`([\\w*]+\\.(?:go|proto))`")
)

// checkNamedFiles finds files and folders that a guide names and that are not there: whoever moves one moves its name too. A name
// without a folder is that of a file anywhere.
func checkNamedFiles(t *tree) (found []string) {
	var paths, names []string
	for _, x := range t.texts {
		names = append(names, path.Base(x.path))
		for at := x.path; at != "."; at = path.Dir(at) {
			paths = append(paths, at)
		}
	}
	for _, x := range t.texts {
		if !slices.Contains(guides, x.path) {
			continue
		}
		for _, m := range namedPath.FindAllStringSubmatch(x.content, -1) {
			if !anyMatches(m[1], paths) {
				found = append(found, fmt.Sprintf("%s: %s is not there", x.path, m[1]))
			}
		}
		for _, m := range namedFile.FindAllStringSubmatch(x.content, -1) {
			if !anyMatches(m[1], names) {
				found = append(found, fmt.Sprintf("%s: no file is called %s", x.path, m[1]))
			}
		}
	}
	return found
}

func anyMatches(pattern string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	})
}
