package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/template"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

//go:embed tables.tmpl
var tables string

// agents are those that docs/policies.md knows, what each had best choose, and what that was measured on: a play and a set of it, or
// all of it.
var agents = []struct{ Agent, Choice, On, Play, Set string }{
	{"codes, and can [expand messages](expanding.md)", balanced, "coding runs", secondHalf, ""},
	{"the same, and is to cost less", thrifty, "coding runs", secondHalf, ""},
	{"works in one session for hours", balanced, "one session of 453 turns", session, ""},
	{"the same, and is to cost less", thrifty, "one session of 453 turns", session, ""},
	{"gets one task after the other in one conversation", balanced, "five coding runs joined", joinedSecond, ""},
	{"serves customers, with tools", balanced, "customer service", service, ""},
	{"searches and reads pages, and [can ask for passages](agents.md)", "cite", "all recordings; none is of a search", "money", ""},
	{"talks, without tools", "default", "dialogues", "money", "locomo10"},
}

// halves are the plays of the presets with the names that the page gives them: what these were tuned on, and what they were not.
var halves = []struct{ Play, Name string }{
	{firstHalf, "coding runs, tuned on"},
	{secondHalf, "coding runs, not tuned on"},
	{session, "the long session, not tuned on"},
	{joinedFirst, "five tasks in a row, of runs tuned on"},
	{joinedSecond, "five tasks in a row, of runs not tuned on"},
	{service, "customer service"},
}

// figures is a table of docs/policies.md, which stands between two marks.
type figures struct{ begin, text string }

const figuresEnd = "<!-- end of figures -->"

// figures are the tables of the page, and that of each set of recordings, which it has not.
func (all plays) figures() (of []figures, sets string, err error) {
	if all.Of("money").Under(none) == nil {
		return nil, "", errors.New("there is no money.json, or none was not played in it")
	}
	t, err := template.New("tables").Funcs(template.FuncMap{
		"agents": func() any { return agents }, "halves": func() any { return halves },
		"cells": cells, "cost": cost.share, "tokens": tokens.share, "references": references.share,
	}).Parse(tables)
	text := func(name string) string {
		var b strings.Builder
		err = errors.Join(err, t.ExecuteTemplate(&b, name, all))
		return b.String()
	}
	for _, name := range []string{"kinds", "halves", "policies"} {
		of = append(of, figures{"<!-- figures: " + name + " -->", text(name)})
	}
	return of, text("sets"), err
}

// cells are cost and recalls as shares of none, where anything was referred to.
func cells(s, none *report.FileReport) string {
	out := make([]string, len(economy))
	for i, m := range economy {
		if m.figure(none) != 0 {
			out[i] = fmt.Sprintf("%.3f", m.share(s, none))
		}
	}
	return strings.Join(out, " | ")
}

// page writes the figures of replays into a page, between its marks.
func page(file string, files []string) error {
	all, missed := read(files)
	if len(missed) > 0 {
		return errors.New(strings.Join(missed, "; "))
	}
	tables, _, err := all.figures()
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := string(raw)
	for _, f := range tables {
		before, rest, found := strings.Cut(text, f.begin+"\n")
		_, after, ends := strings.Cut(rest, figuresEnd)
		if !found || !ends {
			return fmt.Errorf("%s has no place for %s", file, f.begin)
		}
		text = before + f.begin + "\n" + f.text + figuresEnd + after
	}
	return os.WriteFile(file, []byte(text), 0o600) // it is there, and keeps its mode
}
