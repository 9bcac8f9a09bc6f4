package demo

import (
	"bytes"
	"cmp"
	_ "embed"
	"path"
	"slices"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// step is one answer of the agent: what it says, and what it asks of its tools.
type step struct {
	Says  string
	Calls []string
	Then  string // what people do when the agent has spoken, before the next question
	Next  string // the user's next question, if this answers one
	Brief bool   // only looks around: the words need not stay longer than what they found
}

// parse splits a call into the tool's name and what it is to work on.
func parse(call string) (tool, about string) {
	tool, about, _ = strings.Cut(call, " ")
	return tool, about
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

func readScript(text []byte) (steps []step) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	must(d, d.Decode(&steps))
	return steps
}

// A planned script has so many rounds, with a file of another size for each of so many steps.
const (
	rounds  = 7
	steps   = 4
	planned = rounds * steps
)

// plan writes a script for a tree that nobody has seen before.
func (t *tree) plan() []step {
	files := must(t.walk("."))
	require(len(files) >= planned, "%s has %d readable files, too few for the demo: name another folder with --tree", t.name, len(files))
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name)) })
	words := template.FuncMap{
		"folder": path.Dir,
		"stem":   func(at string) string { return strings.TrimSuffix(path.Base(at), path.Ext(at)) },
		// Files are picked evenly over their sizes.
		"pick": func(round, step int) string {
			return files[((round*steps+step)*37%planned)*(len(files)-1)/(planned-1)].name
		},
		"largest": func(round, step int) string { return files[len(files)-1-round*steps-step].name },
	}
	var written bytes.Buffer
	script := template.Must(template.New("").Funcs(words).Parse(plannedScript))
	must(script, script.Execute(&written, rounds))
	return readScript(written.Bytes())
}
