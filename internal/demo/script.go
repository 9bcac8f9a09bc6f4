package demo

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"

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

func says(words string, calls ...call) step { return step{Says: words, Calls: calls} }

// fleeting steps only look around: their words need not stay longer than what they found.
func (s *step) fleeting() bool {
	return len(s.Calls) > 0 && !slices.ContainsFunc(s.Calls, func(c call) bool { return c.Tool != "list" })
}

const systemPrompt = "You are a research agent. Explore the sources with your tools and answer with file and line. " +
	"Never guess: what you have not read you do not know. Never change a file."

const firstQuestion = "How does Go's HTTP client reuse connections, what limits the reuse, and when does it fail? " +
	"Cite file and line. You must not rely on what you remember of older releases."

//go:embed script.yaml
var goSteps []byte

// goScript explores Go's own tree.
func goScript() (steps []step, err error) {
	d := yaml.NewDecoder(bytes.NewReader(goSteps))
	d.KnownFields(true)
	err = d.Decode(&steps)
	return steps, err
}

// planned is how many turns a planned script has at least.
const planned = 28

// plan writes a script for a tree that nobody has seen before: folders listed, files of all sizes read, names searched for, and
// files that do not exist.
func (t *tree) plan() ([]step, error) {
	files, err := t.walk(".")
	if err != nil {
		return nil, err
	}
	if len(files) < planned {
		return nil, fmt.Errorf("%s has %d readable files, too few for the demo: name another folder with --tree", t.name, len(files))
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name)) })
	// Files are picked evenly over their sizes.
	pick := func(i int) string { return files[(i*37%planned)*(len(files)-1)/(planned-1)].name }
	steps := []step{says("First the lie of the land.", list("."))}
	for i := range planned {
		at := pick(i)
		folder, stem := path.Dir(at), path.Base(at[:len(at)-len(path.Ext(at))])
		steps = append(steps, []step{
			says("A file, whole.", read(at)),
			says("Its folder, and who mentions it.", list(folder), search(stem, folder)),
			says("Two more at once.", read(at), read(files[len(files)-1-i].name)),
			says("Perhaps it has notes.", read(at+".notes"), excerpt(at, 1, 40)),
		}[i%4])
		if i == planned/2 {
			steps = append(steps, step{Says: "So much for the first half.", Next: "Go on with the rest, and name what surprises you."})
		}
	}
	earlier := read(pick(8)) // of middling size: long enough to be compacted, short enough to come back
	return append(steps,
		says("One of the files, once more: I ask for it rather than read it again.", again(earlier)),
		step{Says: "It belongs in sight for the answer.", Keep: earlier},
		step{Says: "That is what there is to see.", Then: "prune", Next: "Look at two of them again."},
		says("One of middling size, and another.", read(pick(13)), read(pick(21))),
		step{Says: "I have seen them.", Then: "compact", Next: "Is there a third?"},
		step{Says: "There is.", Then: "rewind", Next: "No: which of the two is larger?"},
		says("The second one.")), nil
}
