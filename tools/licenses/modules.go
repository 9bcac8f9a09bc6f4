package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// root is a package whose dependencies ship, and the folder of the Go module that chooses their versions.
type root struct{ dir, pattern string }

// architectures are those that images are made for: what is linked differs.
var architectures = []string{"amd64", "arm64"}

// standardLibrary is how Go's own packages are listed: they are no module.
const standardLibrary = "std"

// module is one that is linked, with its license texts.
type module struct {
	path, version string
	texts         []text
}

// text is a file that must go along with a module.
type text struct {
	name    string // relative to the module
	content string
}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	Module     *struct {
		Path, Version, Dir string
		Main               bool
	}
}

func (r root) modules() (linked []module, err error) {
	for _, architecture := range architectures {
		packages, err := r.list(architecture)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			m, ours, err := p.module()
			if err != nil {
				return nil, err
			}
			if !ours {
				linked = append(linked, m)
			}
		}
	}
	return linked, nil
}

func (r root) list(architecture string) (packages []listed, err error) {
	command := exec.CommandContext(context.Background(), "go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module", r.pattern)
	command.Dir = r.dir
	command.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+architecture, "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(output))
	for {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// module is what a package belongs to, with the texts that hold for this package. A package of this repository is ours.
func (p listed) module() (m module, ours bool, err error) {
	switch {
	case p.Standard:
		m.path = standardLibrary
		m.texts, err = textsOfGo(p.Dir)
	case p.Module == nil:
		err = errors.New("it belongs to no module")
	case p.Module.Main:
		return m, true, nil
	default:
		m.path, m.version = p.Module.Path, p.Module.Version
		m.texts, err = textsBetween(p.Dir, p.Module.Dir)
	}
	if err != nil {
		return m, false, fmt.Errorf("%s: %w", p.ImportPath, err)
	}
	return m, false, nil
}

// textsOfGo are those above a package of the standard library.
func textsOfGo(dir string) ([]text, error) {
	at := strings.Index(filepath.ToSlash(dir)+"/", "/src/")
	if at < 0 {
		return nil, errors.New("it does not lie under GOROOT/src")
	}
	return textsIn(dir[:at], dir[:at])
}

// textsBetween are those of a package's folder and of all above it, up to the module's: a folder may hold what others wrote.
func textsBetween(dir, top string) (all []text, err error) {
	if !within(dir, top) {
		return nil, fmt.Errorf("%s does not lie in its module", dir)
	}
	for ; within(dir, top); dir = filepath.Dir(dir) {
		texts, err := textsIn(dir, top)
		if err != nil {
			return nil, err
		}
		all = append(all, texts...)
	}
	return all, nil
}

func within(dir, top string) bool {
	return dir == top || strings.HasPrefix(dir, top+string(filepath.Separator))
}

var legalName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|copyright|attrib|third.?party)`)

func textsIn(dir, top string) (texts []text, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !legalName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(top, filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text{filepath.ToSlash(name), clean(string(content))})
	}
	return texts, nil
}

// clean makes texts that differ in their ends of lines alone the same.
func clean(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}

// merge makes one entry of each module, in the order of their paths, and refuses one without a text.
func merge(linked []module) (merged []module, err error) {
	byPath := map[string]*module{}
	for _, m := range linked {
		known := byPath[m.path]
		if known == nil {
			known = &module{path: m.path, version: m.version}
			byPath[m.path] = known
		}
		if known.version != m.version {
			return nil, fmt.Errorf("%s is linked in two versions, %s and %s", m.path, known.version, m.version)
		}
		for _, t := range m.texts {
			if !slices.Contains(known.texts, t) {
				known.texts = append(known.texts, t)
			}
		}
	}
	for _, m := range byPath {
		if len(m.texts) == 0 {
			return nil, fmt.Errorf("%s %s has no license text", m.path, m.version)
		}
		slices.SortFunc(m.texts, func(a, b text) int { return strings.Compare(a.name, b.name) })
		merged = append(merged, *m)
	}
	slices.SortFunc(merged, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return merged, nil
}
