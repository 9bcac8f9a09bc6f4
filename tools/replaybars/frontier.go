package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// panels are the sets that have a picture each, side by side.
var panels = []struct{ set, title string }{
	{"mini_swe_agent", "Coding runs of up to 93,000 tokens"},
	{"pi_sessions", "One session of 177,000 tokens"},
}

// point is what a policy comes to on a set, as shares of none.
type point struct {
	name, family string
	cost, recall float64
	bound        bool // no policy: what was possible
}

// frontier draws cost against reference recall: the policies that ship by name,
// and those of each family joined by a line.
func frontier(files []string, stdout io.Writer) error {
	var all []*played
	for _, file := range files {
		more, err := readPlayed(file)
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	plain := named(all, none)
	if plain == nil {
		return errors.New("none was not played")
	}
	picture := &strings.Builder{}
	fmt.Fprintf(picture, frame, width, height)
	for i, panel := range panels {
		points := pointsOf(all, plain, panel.set)
		if len(points) == 0 {
			return fmt.Errorf("%s was not played", panel.set)
		}
		newAxes(i, points).draw(picture, panel.title, points)
	}
	legend(picture, all)
	picture.WriteString("</svg>\n")
	_, err := io.WriteString(stdout, picture.String())
	return err
}

func pointsOf(all []*played, plain *played, folder string) (out []point) {
	n := in(folder, plain.Files)
	if n.Builds == 0 {
		return nil
	}
	for _, p := range all {
		s := in(folder, p.Files)
		out = append(out, point{name: p.name(), family: p.family(), cost: s.CostWith / n.CostWith, recall: s.ReferenceRecall / n.ReferenceRecall})
		for _, b := range p.Bounds {
			s := in(folder, b.Files)
			out = append(out, point{name: strings.TrimPrefix(b.Name, "bound: "), cost: s.CostWith / n.CostWith, recall: s.ReferenceRecall / n.ReferenceRecall, bound: true})
		}
	}
	return out
}

// Measures of the picture, in pixels.
const (
	width, height = 980, 520
	panelWidth    = 470
	left, right   = 70, 20 // of a panel
	top, bottom   = 70, 120
	lineHeight    = 15
	margin        = 10 // around and between the panels
)

const frame = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img" aria-labelledby="title description" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="13" fill="#1f2933">
  <title id="title">Cost against reference recall, by policy</title>
  <desc id="description">Two charts, one of coding runs, one of a long session. Each policy is a point: to the left is cheaper, further up is more of what the next message refers to still in reach. Both are shares of what the same recordings come to under the policy none.</desc>
  <rect x="1" y="1" width="978" height="518" rx="14" fill="#fbfaf6" stroke="#d9d3c3" stroke-width="2"/>
`

// axes places costs and recalls in a panel.
type axes struct {
	x                             int // where the panel begins
	cheapest, dearest, leastKnown float64
}

// newAxes leaves room for all points, to the next 0.1 of cost and 0.02 of recall.
func newAxes(panel int, points []point) *axes {
	a := &axes{x: margin + panel*(panelWidth+margin), cheapest: 0.9, dearest: 1.2, leastKnown: 0.98}
	for _, p := range points {
		a.cheapest = min(a.cheapest, math.Floor(10*(p.cost-0.01))/10)
		a.dearest = max(a.dearest, math.Ceil(10*(p.cost+0.01))/10)
		a.leastKnown = min(a.leastKnown, math.Floor(50*(p.recall-0.001))/50)
	}
	return a
}

// whole is the upper end of the axes.
const whole = 1.005

func (a *axes) at(cost, recall float64) (x, y float64) {
	wide, high := float64(panelWidth-left-right), float64(height-top-bottom)
	x = float64(a.x+left) + wide*(cost-a.cheapest)/(a.dearest-a.cheapest)
	return x, float64(top) + high*(whole-recall)/(whole-a.leastKnown)
}

func (a *axes) draw(b *strings.Builder, title string, points []point) {
	fmt.Fprintf(b, "\n  <text x=\"%d\" y=\"%d\" font-size=\"16\" font-weight=\"bold\">%s</text>\n", a.x+left, top-24, title)
	a.grid(b)
	for _, family := range families(points) {
		a.curve(b, family, points)
	}
	a.names(b, points)
}

// grid draws the axes with their numbers.
func (a *axes) grid(b *strings.Builder) {
	x0, y0 := a.at(a.cheapest, a.leastKnown)
	x1, y1 := a.at(a.dearest, whole)
	for cost := a.cheapest; cost < a.dearest+0.001; cost += 0.1 {
		x, _ := a.at(cost, 1)
		fmt.Fprintf(b, "  <path d=\"M%.0f %.0f V%.0f\" stroke=\"#e4dfd0\"/>", x, y0, y1)
		fmt.Fprintf(b, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\" fill=\"#52606d\">%.1f</text>\n", x, y0+18, cost)
	}
	for recall := a.leastKnown; recall < whole; recall += 0.02 {
		_, y := a.at(1, recall)
		fmt.Fprintf(b, "  <path d=\"M%.0f %.0f H%.0f\" stroke=\"#e4dfd0\"/>", x0, y, x1)
		fmt.Fprintf(b, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\" fill=\"#52606d\">%.2f</text>\n", x0-8, y+4, recall)
	}
	fmt.Fprintf(b, "  <path d=\"M%.0f %.0f V%.0f H%.0f\" stroke=\"#52606d\" fill=\"none\"/>\n", x0, y1, y0, x1)
	fmt.Fprintf(b, "  <text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">cost of input, as a share of none</text>\n", (x0+x1)/2, y0+40)
	fmt.Fprintf(b, "  <text transform=\"translate(%.0f %.0f) rotate(-90)\" text-anchor=\"middle\">reference recall, as a share of none</text>\n", x0-48, (y0+y1)/2)
}

// colors are those of families, in order of their names.
var colors = []string{"#2f6f9f", "#b44d12", "#3b7a2a", "#7a4fa3", "#8a6d00", "#a3335c"}

// families are the kinds of policies that are joined by lines, sorted.
func families(points []point) []string {
	kinds := map[string]bool{}
	for _, p := range points {
		if p.family != "" {
			kinds[p.family] = true
		}
	}
	return sortedKeys(kinds)
}

// curve joins the policies of a family, from the cheapest.
func (a *axes) curve(b *strings.Builder, family string, points []point) {
	color := colors[slices.Index(families(points), family)%len(colors)]
	var path []string
	for _, p := range sortedByCost(points) {
		if p.family != family {
			continue
		}
		x, y := a.at(p.cost, p.recall)
		path = append(path, fmt.Sprintf("%.1f %.1f", x, y))
		fmt.Fprintf(b, "  <circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"><title>%s %s: cost %.3f, recall %.3f</title></circle>\n",
			x, y, color, family, p.name, p.cost, p.recall)
	}
	fmt.Fprintf(b, "  <path d=\"M%s\" stroke=\"%s\" stroke-width=\"1.5\" fill=\"none\" opacity=\"0.6\"/>\n", strings.Join(path, " L"), color)
}

func sortedByCost(points []point) []point {
	out := slices.Clone(points)
	slices.SortStableFunc(out, func(p, q point) int { return int(math.Copysign(1, p.cost-q.cost)) })
	return out
}

// names draws the policies that ship, each beside its name, and what was possible,
// filled in; those that come to the same share one point.
func (a *axes) names(b *strings.Builder, points []point) {
	shipped := a.shipped(points)
	taken := make([]box, 0, 2*len(shipped))
	for _, p := range shipped {
		fill := "none"
		if p.bound {
			fill = "#1f2933"
		}
		fmt.Fprintf(b, "  <circle cx=\"%.1f\" cy=\"%.1f\" r=\"6\" fill=\"%s\" stroke=\"#1f2933\" stroke-width=\"2\"><title>%s: cost %.3f, recall %.3f</title></circle>\n",
			p.x, p.y, fill, p.name, p.cost, p.recall)
		taken = append(taken, box{p.x - 6, p.y - 6, 12, 12})
	}
	for _, p := range shipped {
		label := a.free(p.x, p.y, 7.6*float64(len(p.name)), taken)
		taken = append(taken, label)
		fmt.Fprintf(b, "  <text x=\"%.1f\" y=\"%.1f\" font-weight=\"bold\" stroke=\"#fbfaf6\" stroke-width=\"4\" paint-order=\"stroke\">%s</text>\n", label.x, label.y+11, p.name)
	}
}

// placed is a point in the picture.
type placed struct {
	point
	x, y float64
}

// shipped are what is no family's: the policies that ship and what was possible,
// from the cheapest.
func (a *axes) shipped(points []point) (out []placed) {
	for _, p := range sortedByCost(points) {
		if p.family != "" {
			continue
		}
		x, y := a.at(p.cost, p.recall)
		if last := len(out) - 1; last >= 0 && math.Hypot(out[last].x-x, out[last].y-y) < 2 {
			out[last].name += ", " + p.name
			continue
		}
		out = append(out, placed{p, x, y})
	}
	return out
}

// box is what a label or a mark takes up.
type box struct{ x, y, w, h float64 }

func (a box) overlaps(b box) bool {
	return a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h
}

// free is the place for a label beside a point that nothing takes up yet: to its
// right or, where the panel ends, to its left, and ever further below.
func (a *axes) free(x, y, wide float64, taken []box) box {
	for below := 0.0; ; below += lineHeight {
		for _, left := range []float64{x + 9, x - 9 - wide} {
			at := box{left, y - 7 + below, wide, lineHeight - 1}
			if at.x+wide <= float64(a.x+panelWidth+margin) && !slices.ContainsFunc(taken, at.overlaps) {
				return at
			}
		}
	}
}

// legend says what the lines are.
func legend(b *strings.Builder, all []*played) {
	points := make([]point, len(all))
	for i, p := range all {
		points[i].family = p.family()
	}
	x := margin + left
	for i, family := range families(points) {
		fmt.Fprintf(b, "\n  <circle cx=\"%d\" cy=\"%d\" r=\"3.5\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>", x, height-34, colors[i%len(colors)], x+10, height-30, family)
		x += 40 + 7*len(family)
	}
	fmt.Fprintf(b, "\n  <circle cx=\"%d\" cy=\"%d\" r=\"6\" fill=\"none\" stroke=\"#1f2933\" stroke-width=\"2\"/><text x=\"%d\" y=\"%d\">policies that ship; filled: possible for who knows the future</text>\n", x, height-34, x+12, height-30)
}
