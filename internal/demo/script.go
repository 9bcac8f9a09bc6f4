package demo

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// step is one answer of the agent: what it says, and what it asks of its tools.
type step struct {
	Says  string
	Calls []call
	Keep  call   // the call whose result is put back into the view in full
	Then  string // what people do when the agent has spoken, before the next question
	Next  string // the user's next question, if this answers one
}

// fleeting steps only look around: their words need not stay longer than what they found.
func (s *step) fleeting() bool {
	return len(s.Calls) > 0 && !slices.ContainsFunc(s.Calls, func(c call) bool { return c.Tool != "list" })
}

const systemPrompt = "You are a research agent. Explore the sources with your tools and answer with file and line. " +
	"Never guess: what you have not read you do not know. Never change a file."

const firstQuestion = "How does Go's HTTP client reuse connections, what limits the reuse, and when does it fail? " +
	"Cite file and line. You must not rely on what you remember of older releases."

// The scripts: in Go's own tree, and in one that nobody has seen before.
var (
	//go:embed script.yaml
	goScript []byte
	//go:embed planned.yaml
	plannedScript string
)

func readScript(text []byte) (steps []step, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	err = d.Decode(&steps)
	return steps, err
}

// A planned script has so many rounds, with a file of another size for each of so many steps.
const rounds, steps = 7, 4

// plan writes a script for a tree that nobody has seen before.
func (t *tree) plan() ([]step, error) {
	files, err := t.walk(".")
	if err != nil {
		return nil, err
	}
	const planned = rounds * steps
	if len(files) < planned {
		return nil, fmt.Errorf("%s has %d readable files, too few for the demo: name another folder with --tree", t.name, len(files))
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name)) })
	words := template.FuncMap{
		"rounds": func() int { return rounds }, "folder": path.Dir, "quote": strconv.Quote,
		"stem": func(at string) string { return path.Base(at[:len(at)-len(path.Ext(at))]) },
		// Files are picked evenly over their sizes.
		"pick": func(round, step int) string {
			return files[((round*steps+step)*37%planned)*(len(files)-1)/(planned-1)].name
		},
		"largest": func(round, step int) string { return files[len(files)-1-round*steps-step].name },
	}
	var script bytes.Buffer
	if err := template.Must(template.New("").Funcs(words).Parse(plannedScript)).Execute(&script, nil); err != nil {
		return nil, err
	}
	return readScript(script.Bytes())
}
