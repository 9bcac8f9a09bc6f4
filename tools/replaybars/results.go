package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// The policies that are named here, and the one that all others are compared with.
const (
	none      = "none"
	balanced  = "balanced"
	thrifty   = "thrifty"   // balanced in a smaller view, for those who would rather pay less
	summaries = "summaries" // a file's: summarize in the whole of every window
)

// played is what was played under one policy.
type played struct {
	report.Report
	Against []*played
	figures map[string]any // the same, with what was reported and what was not
	play    string         // the name of its file
	None    *played        // the same play under none, if that was played
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *played) UnmarshalJSON(raw []byte) error {
	var others struct{ Against []*played }
	err := errors.Join(json.Unmarshal(raw, &p.Report), json.Unmarshal(raw, &p.figures), json.Unmarshal(raw, &others))
	p.Against = others.Against
	return err
}

// plays are results under each of their policies, in the order of their files.
type plays []*played

// read reads results, and says which there are none of.
func read(files []string) (all plays, missed []string) {
	for _, file := range files {
		name, first := strings.TrimSuffix(filepath.Base(file), ".json"), &played{}
		raw, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(raw, first)
		}
		if err != nil {
			missed = append(missed, fmt.Sprintf("%s: no result: %v", name, err))
			continue
		}
		of := append(plays{first}, first.Against...)
		for _, p := range of {
			p.play, p.None = name, of.Under(none)
		}
		all = append(all, of...)
	}
	return all, missed
}

// Of are the results of a play.
func (all plays) Of(play string) (out plays) {
	for _, p := range all {
		if p.play == play {
			out = append(out, p)
		}
	}
	return out
}

// first is the first result of a play, or nil.
func (all plays) first(play string) *played {
	if of := all.Of(play); of != nil {
		return of[0]
	}
	return nil
}

// Under is the result under a policy, or nil.
func (all plays) Under(policy string) *played {
	for _, p := range all {
		if p.Name() == policy {
			return p
		}
	}
	return nil
}

// Name is that of a policy that ships, of a file without its folder, or own for
// the sidecar's, with a mark if citations were switched on in it.
func (p *played) Name() string {
	name := "own"
	if p.Policy != "" {
		name = strings.TrimSuffix(filepath.Base(p.Policy), ".yaml")
	}
	return report.Title(name, p.Cite)
}

func (p *played) where() string { return p.play + ": " + p.Name() }

// Set is what the recordings of a folder came to, or all without a folder.
func (p *played) Set(folder string) *report.FileReport {
	if folder == "" {
		return &p.FileReport
	}
	return in(folder, p.Files)
}

// CostAsking is what it would have cost to ask for passages of what was cited too, as a share of another result.
func (p *played) CostAsking(of *played) float64 {
	return (p.CostWith + p.Citations.AskingCost) / of.CostWith
}

// in is what the recordings of a folder came to, in a report's files.
func in(folder string, files []report.FileReport) *report.FileReport {
	for i := range files {
		if files[i].Folder() == folder {
			return &files[i]
		}
	}
	return &report.FileReport{}
}

// faults says which figures are not 0 that must be. One that is not reported is among them: what nobody counted is not zero.
func (p *played) faults() (missed []string) {
	if p.Builds == 0 {
		missed = append(missed, "nothing was built")
	}
	for _, name := range report.MustBeZero() {
		switch n, ok := p.figures[name]; {
		case !ok:
			missed = append(missed, name+" is not reported")
		case n != 0.0:
			missed = append(missed, fmt.Sprintf("%s is %v, must be 0%s", name, n, p.example(name)))
		}
	}
	return missed
}

// example says where a figure was found first.
func (p *played) example(figure string) string {
	for _, e := range p.Examples {
		if e.Figure == figure {
			return fmt.Sprintf(", as in conversation %v, message %v: %v", e.Conversation, e.Message, e.Detail)
		}
	}
	return ""
}
