package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

//go:embed frontier.svg.tmpl
var frontierSVG string

// panel is the chart of a set of recordings. Its axes leave room for all points, to the next 0.1 of cost and 0.02 of recall.
type panel struct {
	Title                         string
	Left, Right                   float64
	Families                      []family
	Named                         []*point // the policies that ship and what was possible, from the cheapest
	cheapest, dearest, leastKnown float64
}

// family are policies of one kind, joined by a line from the cheapest. X is its place in the legend.
type family struct {
	Name, Color string
	X           float64
	Points      []*point
}

// point is what a policy comes to on a set, as shares of none.
type point struct {
	Name, family         string
	Cost, Recall         float64
	Possible             bool // it is no policy: somebody does it who knows the future
	X, Y, LabelX, LabelY float64
}

// colors are those of families, in order of their names.
var colors = []string{"#2f6f9f", "#b44d12", "#3b7a2a", "#7a4fa3", "#8a6d00", "#a3335c"}

// Measures of the picture in pixels, as in its template, and the upper end of the recalls.
const (
	panelLeft, panelWidth, panelStep = 80, 380, 480
	panelTop, panelHeight            = 70, 330
	lineHeight                       = 15
	fullRecall                       = 1.005
)

// frontier draws cost against reference recall: the policies that ship by name,
// and those of each family joined by a line.
func frontier(files []string, stdout io.Writer) error {
	all, missed := read(files)
	plain := all.Under(none)
	if len(missed) > 0 || plain == nil {
		return errors.New(strings.Join(append(missed, "none was not played"), "; "))
	}
	kinds := map[string]bool{}
	for _, p := range all {
		kinds[p.family()] = true
	}
	delete(kinds, "")
	var legend []family
	x := float64(panelLeft)
	for i, name := range slices.Sorted(maps.Keys(kinds)) {
		legend = append(legend, family{Name: name, Color: colors[i%len(colors)], X: x})
		x += float64(40 + 7*len(name))
	}
	coding, err := newPanel("Coding runs of up to 93,000 tokens", 0, all.pointsOf("mini_swe_agent", plain), legend)
	session, err2 := newPanel("One session of 177,000 tokens", panelStep, all.pointsOf("pi_sessions", plain), legend)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	px := func(at float64, more ...float64) string {
		for _, n := range more {
			at += n
		}
		return fmt.Sprintf("%.0f", at)
	}
	t, err := template.New("frontier").Funcs(template.FuncMap{"px": px}).Parse(frontierSVG)
	if err != nil {
		return err
	}
	return t.Execute(stdout, map[string]any{"Panels": []*panel{coding, session}, "Legend": legend, "LegendEnd": x})
}

// family is the folder of a file, which several of a kind lie in; empty for a
// policy that ships, and for a file that leaves everything to the server.
func (p *played) family() string {
	if p.Policy == filepath.Base(p.Policy) || p.Name() == "default" {
		return ""
	}
	return filepath.Base(filepath.Dir(p.Policy))
}

// pointsOf are all policies and what was possible on a set, from the cheapest.
func (all plays) pointsOf(folder string, plain *played) (out []*point) {
	n := plain.Set(folder)
	if n.Builds == 0 {
		return nil
	}
	add := func(p *point, s *report.FileReport) {
		p.Cost, p.Recall = cost.share(s, n), references.share(s, n)
		out = append(out, p)
	}
	for _, p := range all {
		add(&point{Name: p.Name(), family: p.family()}, p.Set(folder))
		for _, b := range p.Bounds {
			add(&point{Name: strings.TrimPrefix(b.Name, "bound: "), Possible: true}, in(folder, b.Files))
		}
	}
	slices.SortStableFunc(out, func(p, q *point) int { return cmp.Compare(p.Cost, q.Cost) })
	return out
}

// newPanel places points; policies that ship and come to the same share one.
func newPanel(title string, x float64, points []*point, legend []family) (*panel, error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("%s: was not played", title)
	}
	a := &panel{
		Title: title, Left: panelLeft + x, Right: panelLeft + panelWidth + x, Families: slices.Clone(legend),
		cheapest: 0.9, dearest: 1.2, leastKnown: 0.98,
	}
	for _, p := range points {
		a.cheapest = min(a.cheapest, math.Floor(10*(p.Cost-0.01))/10)
		a.dearest = max(a.dearest, math.Ceil(10*(p.Cost+0.01))/10)
		a.leastKnown = min(a.leastKnown, math.Floor(50*(p.Recall-0.001))/50)
	}
	for _, p := range points {
		p.X, p.Y = a.at(p.Cost, p.Recall)
		i := slices.IndexFunc(a.Families, func(f family) bool { return f.Name == p.family })
		last := len(a.Named) - 1
		switch {
		case i >= 0:
			a.Families[i].Points = append(a.Families[i].Points, p)
		case last >= 0 && math.Hypot(a.Named[last].X-p.X, a.Named[last].Y-p.Y) < 2:
			a.Named[last].Name += ", " + p.Name
		default:
			a.Named = append(a.Named, p)
		}
	}
	a.label()
	return a, nil
}

func (a *panel) at(cost, recall float64) (x, y float64) {
	return a.Left + panelWidth*(cost-a.cheapest)/(a.dearest-a.cheapest), panelTop + panelHeight*(fullRecall-recall)/(fullRecall-a.leastKnown)
}

// tick is a number at an axis.
type tick struct{ At, Share float64 }

// Costs are the numbers below the panel.
func (a *panel) Costs() (out []tick) {
	for share := a.cheapest; share < a.dearest+0.001; share += 0.1 {
		x, _ := a.at(share, 1)
		out = append(out, tick{x, share})
	}
	return out
}

// Recalls are the numbers to its left.
func (a *panel) Recalls() (out []tick) {
	for share := a.leastKnown; share < fullRecall; share += 0.02 {
		_, y := a.at(1, share)
		out = append(out, tick{y, share})
	}
	return out
}

// box is what a label or a mark takes up.
type box struct{ x, y, w, h float64 }

func (a box) overlaps(b box) bool {
	return a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h
}

// label finds the places of names where nothing is yet: to the right of a point
// or, where the panel ends, to its left, and ever further below.
func (a *panel) label() {
	taken := make([]box, 0, 2*len(a.Named))
	for _, p := range a.Named {
		taken = append(taken, box{p.X - 6, p.Y - 6, 12, 12})
	}
	for _, p := range a.Named {
		wide := 7.6 * float64(len(p.Name))
		at := box{p.X + 9, p.Y - 7, wide, lineHeight - 1}
		for at.x+wide > a.Right+30 || slices.ContainsFunc(taken, at.overlaps) {
			if at.x > p.X {
				at.x = p.X - 9 - wide
			} else {
				at.x, at.y = p.X+9, at.y+lineHeight
			}
		}
		taken = append(taken, at)
		p.LabelX, p.LabelY = at.x, at.y+11
	}
}
