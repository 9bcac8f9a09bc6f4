package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// The policies that have bars, and the one that they are compared with.
const (
	none     = "none"
	own      = "own"
	balanced = "balanced"
	// summaries is a file's: summarize in the whole of every window.
	summaries = "summaries"
)

// played is what was played under one policy.
type played struct {
	report.Report
	figures map[string]any // the same, with what was reported and what was not
}

// name is that of a policy that ships, of a file without its folder, or own for
// the sidecar's, with a mark if citations were switched on in it.
func (p *played) name() string {
	name := own
	if p.Policy != "" {
		name = strings.TrimSuffix(filepath.Base(p.Policy), ".yaml")
	}
	return report.Title(name, p.Cite)
}

// family is the folder of a file, which several of a kind lie in; empty for a
// policy that ships, and for a file that leaves everything to the server.
func (p *played) family() string {
	if p.Policy == filepath.Base(p.Policy) || p.name() == "default" {
		return ""
	}
	return filepath.Base(filepath.Dir(p.Policy))
}

// in is what the recordings of a folder came to, in a report's files.
func in(folder string, files []report.FileReport) report.FileReport {
	for i := range files {
		if folderOf(&files[i]) == folder {
			return files[i]
		}
	}
	return report.FileReport{}
}

// folderOf is the last folder of a file's path.
func folderOf(f *report.FileReport) string { return filepath.Base(filepath.Dir(f.File)) }

// readPlayed reads a report and those of the policies against it.
func readPlayed(file string) ([]*played, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	first := &report.Report{}
	var figures map[string]any
	if err := errors.Join(json.Unmarshal(raw, first), json.Unmarshal(raw, &figures)); err != nil {
		return nil, err
	}
	against, _ := figures["against"].([]any)
	return append(playedOf([]*report.Report{first}, []any{figures}), playedOf(first.Against, against)...), nil
}

// playedOf are reports with their figures as they were read.
func playedOf(reports []*report.Report, read []any) []*played {
	out := make([]*played, len(reports))
	for i, r := range reports {
		out[i] = &played{Report: *r}
		out[i].figures, _ = read[i].(map[string]any)
	}
	return out
}

// policies judges replays under several policies each: those of the presets, which
// have bars of what they cost and keep, long-*.json, which has those of
// compactions, and any others, in which nothing must be broken. It prints the
// figures of docs/policies.md, and what each set of recordings came to.
func policies(files []string, stdout io.Writer) error {
	plays, missed := readPlays(files)
	for _, name := range sortedKeys(plays) {
		for _, p := range plays[name] {
			for _, fault := range judgeZero(p.figures) {
				missed = append(missed, fmt.Sprintf("%s: %s: %s", name, p.name(), fault))
			}
			if strings.HasPrefix(name, "long-") {
				missed = append(missed, judgeCompactions(stdout, name, p)...)
			}
		}
	}
	figures, err := pageFigures(plays)
	if err != nil {
		return errors.Join(err, errors.New(strings.Join(missed, "; ")))
	}
	for _, f := range figures {
		fmt.Fprintf(stdout, "%s\n%s\n", f.begin(), f.text)
	}
	setsTable(stdout, plays["money"])
	missed = append(missed, judgePresets(stdout, plays)...)
	return verdict(stdout, missed, len(files))
}

// readPlays reads results by their names, and says which there are none of.
func readPlays(files []string) (plays map[string][]*played, missed []string) {
	plays = map[string][]*played{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		all, err := readPlayed(file)
		if err != nil {
			missed = append(missed, fmt.Sprintf("%s: no result: %v", name, err))
			continue
		}
		plays[name] = all
	}
	return plays, missed
}

// judgeCompactions demands that views are small after a compaction, that there
// is at most one for each window filled, and that there was any.
func judgeCompactions(w io.Writer, name string, p *played) (missed []string) {
	if p.name() == none {
		return nil
	}
	c := p.Compactions
	fmt.Fprintf(w, "%s, %s: %d compactions, %d summaries, the largest view after one %.3f of B, %d over 0.55, %d early; %d messages reached\n",
		name, p.name(), c.Count, c.Summaries, c.Largest, c.Over, c.Early, p.Reached.Messages)
	reported, _ := p.figures["compactions"].(map[string]any)
	for _, figure := range []string{"over_55_percent", "early"} {
		if n, ok := reported[figure]; !ok || n != 0.0 {
			missed = append(missed, fmt.Sprintf("%s: %s: %s is %v of compactions, must be 0", name, p.name(), figure, n))
		}
	}
	if c.Count == 0 || c.Summaries == 0 && p.name() == summaries {
		missed = append(missed, fmt.Sprintf("%s: %s: nothing was compacted, so nothing is shown", name, p.name()))
	}
	if c.Summaries > 0 && p.Reached.Messages == 0 {
		missed = append(missed, fmt.Sprintf("%s: %s: no summary was expanded", name, p.name()))
	}
	return missed
}

func named(all []*played, name string) *played {
	for _, p := range all {
		if p.name() == name {
			return p
		}
	}
	return nil
}
