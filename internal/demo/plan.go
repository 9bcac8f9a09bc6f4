package demo

import (
	"cmp"
	"path"
	"slices"
)

// planned is how many turns a planned script has at least.
const planned = 28

type sized struct {
	name string
	size int64
}

// plan writes a script for a tree that nobody has seen before: folders listed, files of all sizes read, names searched for, and
// one file that does not exist.
func (t *tree) plan() (sources string, script []step, err error) {
	var files []sized
	err = t.walk(".", func(name string, size int64) { files = append(files, sized{name, size}) })
	if err != nil {
		return "", nil, err
	}
	if len(files) < planned {
		return "", nil, errTooSmall(t.name, len(files))
	}
	slices.SortFunc(files, func(a, b sized) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name)) })
	return commonEnding(files), planSteps(files), nil
}

func commonEnding(files []sized) string {
	count, best := map[string]int{}, ""
	for _, f := range files {
		ending := path.Ext(f.name)
		if count[ending]++; count[ending] > count[best] {
			best = ending
		}
	}
	return best
}

// planSteps takes files evenly over their sizes, from the smallest to the largest and back.
func planSteps(files []sized) []step {
	steps := []step{says("First the lie of the land.", list("."), biggest(".", 25))}
	pick := func(i int) string { return files[(i*37%planned)*(len(files)-1)/(planned-1)].name }
	for i := range planned {
		at := pick(i)
		stem := path.Base(at[:len(at)-len(path.Ext(at))])
		switch i % 4 {
		case 0:
			steps = append(steps, says("A file, whole.", read(at)))
		case 1:
			steps = append(steps, says("Its folder, and who mentions it.", list(path.Dir(at)), search(stem, path.Dir(at))))
		case 2:
			steps = append(steps, says("Two more at once.", read(at), read(files[len(files)-1-i].name)))
		case 3:
			steps = append(steps, says("Perhaps it has notes.", read(at+".notes"), excerpt(at, 1, 40)))
		}
		if i == planned/2 {
			steps = append(steps, answers("So much for the first half.", "Go on with the rest, and name what surprises you."))
		}
	}
	earlier := read(pick(8)) // of middling size: long enough to be compacted, short enough to come back
	return append(steps,
		says("One of the files, once more: I ask for it rather than read it again.", again(earlier)),
		says("It belongs in sight for the answer.").keeping(earlier),
		says("That is what there is to see.").before("Look at two of them again.", clearing),
		says("One of middling size, and another.", read(pick(13)), read(pick(21))),
		says("I have seen them.").before("Is there a third?", compacting),
		says("There is.").before("No: which of the two is larger?", rewinding),
		says("The second one."))
}
