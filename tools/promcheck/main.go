// Command promcheck reads a dashboard for Grafana and rules for Prometheus with Prometheus's own parsers, and holds each query to the metrics
// and labels that a page of docs lists. It is a module of its own, so that Prometheus stays out of the sidecar's.
//
//	promcheck METRICS.md RULES.yaml DASHBOARD.json...
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: promcheck METRICS.md RULES.yaml DASHBOARD.json...")
		os.Exit(2)
	}
	n, err := run(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("promcheck: %d queries are sound\n", n)
}

// query is an expression, and where it stands.
type query struct{ where, text string }

func run(page, rules string, dashboards []string) (int, error) {
	known, err := readMetrics(page)
	if err != nil {
		return 0, err
	}
	c := &checker{known: known, parser: parser.NewParser(parser.Options{})}
	all, err := c.rules(rules)
	if err != nil {
		return 0, err
	}
	for _, d := range dashboards {
		found, err := queriesOf(d)
		if err != nil {
			return 0, err
		}
		all = append(all, found...)
	}
	var faults []error
	for _, q := range all {
		faults = append(faults, c.check(q))
	}
	return len(all), errors.Join(faults...)
}

// metric is a row of the page.
type metric struct {
	kind   string
	labels []string
}

var row = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\| ([^|]*) \\|")

func readMetrics(page string) (map[string]metric, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	known := map[string]metric{}
	for _, r := range row.FindAllStringSubmatch(string(text), -1) {
		m := metric{kind: r[2]}
		for l := range strings.SplitSeq(r[3], ",") {
			if l = strings.Trim(l, " `"); l != "" {
				m.labels = append(m.labels, l)
			}
		}
		known[r[1]] = m
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("%s lists no metric", page)
	}
	return known, nil
}

type checker struct {
	known  map[string]metric
	parser parser.Parser
}

// rules are the expressions of a file of rules that Prometheus would take.
func (c *checker) rules(name string) (out []query, err error) {
	groups, faults := rulefmt.ParseFile(name, false, model.UTF8Validation, c.parser, slog.New(slog.DiscardHandler))
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s: %w", name, errors.Join(faults...))
	}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			out = append(out, query{name + ": " + r.Alert + r.Record, r.Expr})
		}
	}
	return out, nil
}

// dashboard is what is read of one.
type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
	Templating struct {
		List []struct {
			Name, Type string
			Query      json.RawMessage
		}
	}
}

var labelValues = regexp.MustCompile(`^label_values\(([a-z_]+), ([a-z_]+)\)$`)

func queriesOf(name string) (out []query, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, p := range d.Panels {
		for _, t := range p.Targets {
			out = append(out, query{name + ": " + p.Title, t.Expr})
		}
	}
	for _, v := range d.Templating.List {
		var asked struct{ Query string }
		if v.Type != "query" {
			continue
		}
		if err := json.Unmarshal(v.Query, &asked); err != nil {
			return nil, fmt.Errorf("%s: variable %s: %w", name, v.Name, err)
		}
		parts := labelValues.FindStringSubmatch(asked.Query)
		if parts == nil {
			return nil, fmt.Errorf("%s: variable %s asks %q", name, v.Name, asked.Query)
		}
		out = append(out, query{name + ": variable " + v.Name, fmt.Sprintf("count by (%s) (%s)", parts[2], parts[1])})
	}
	return out, nil
}

// What Grafana fills in.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$job", "x", "$namespace", "x")

// added are the labels that Prometheus adds to what it scrapes, and that of a histogram's buckets.
var added = []string{"job", "instance", "le", model.MetricNameLabel}

func (c *checker) check(q query) error {
	expr, err := c.parser.ParseExpr(variables.Replace(q.text))
	if err != nil {
		return fmt.Errorf("%s: %w: %s", q.where, err, q.text)
	}
	var faults []error
	var labels []string
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		s, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		m, err := c.find(s.Name)
		faults = append(faults, err)
		for _, l := range s.LabelMatchers {
			if err == nil && !slices.Contains(m.labels, l.Name) && !slices.Contains(added, l.Name) {
				faults = append(faults, fmt.Errorf("%s has no label %s", s.Name, l.Name))
			}
		}
		labels = append(labels, m.labels...)
		return nil
	})
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if a, ok := n.(*parser.AggregateExpr); ok {
			for _, l := range a.Grouping {
				if !slices.Contains(labels, l) && !slices.Contains(added, l) {
					faults = append(faults, fmt.Errorf("nothing has the label %s", l))
				}
			}
		}
		return nil
	})
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("%s: %w: %s", q.where, err, q.text)
	}
	return nil
}

// find finds a metric by the name of one of its series. What the Go runtime and the process report is not listed.
func (c *checker) find(name string) (metric, error) {
	if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") {
		return metric{}, nil
	}
	if m, ok := c.known[name]; ok && m.kind != "histogram" {
		return m, nil
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if whole, ok := strings.CutSuffix(name, suffix); ok && c.known[whole].kind == "histogram" {
			return c.known[whole], nil
		}
	}
	return metric{}, fmt.Errorf("there is no metric %s", name)
}
