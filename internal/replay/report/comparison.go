package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
	"github.com/palimpsest-context/palimpsest/internal/policies"
)

// gone says what was let go under the policy.
func (r *Report) gone(s *sheet.Sheet) {
	if r.Title() == "" {
		return
	}
	say(s, "Let go under %s", r.Title())
	row(s, "events", "%s", cmp.Or(counts(r.LetGo.Events), "none"))
	for _, saved := range []struct {
		by     string
		tokens int64
	}{
		{"expiry", r.LetGo.SavedByExpiry}, {"retention", r.LetGo.SavedByRetention},
		{"pruning", r.LetGo.SavedByPruning}, {"compaction", r.LetGo.SavedByCompaction}, {"citing", r.LetGo.SavedByCiting},
		{"deduplication", r.LetGo.SavedByDeduplication},
	} {
		if saved.tokens != 0 {
			row(s, "saved by "+saved.by, "%d tokens over all builds, as the sidecar says", saved.tokens)
		}
	}
	row(s, "put off", "%s", cmp.Or(counts(r.LetGo.Deferred), "nothing"))
	if r.LetGo.Degraded > 0 {
		row(s, "done otherwise", "%d times something else than was asked for", r.LetGo.Degraded)
	}
	s.Line("")
}

// counts writes figures down, the largest first.
func counts(of map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
	})
	for i, key := range keys {
		keys[i] = fmt.Sprintf("%d %s", of[key], strings.ToLower(strings.ReplaceAll(key, "_", " ")))
	}
	return strings.Join(keys, ", ")
}

// comparison writes the policies side by side, and in shares of none where that
// was played too: one row each, over everything and for each file.
func (r *Report) comparison(s *sheet.Sheet) {
	if len(r.Against)+len(r.Caps)+len(r.Bounds) == 0 {
		return
	}
	all, none := r.All(), &Report{}
	if i := slices.IndexFunc(all, func(o *Report) bool { return o.Title() == policies.None }); i >= 0 {
		none = all[i]
	}
	s.Line("The same recordings in the same window")
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	cells(table, "", "tokens", "of", "", "of", "", "con-", "for-", "re-", "com-", "sum-", "own", "own", "build", "ms", "must")
	cells(table, "", "sent", "none", "cost", "none", "recall", "tent", "eign", "writes", "pacted", "maries", "calls", "cost", "p50", "p95", "be 0")
	for _, o := range all {
		cells(table, append(append([]string{o.label()}, o.against(&none.FileReport)...),
			short(o.Compactions.Count), short(o.Compactions.Summaries), short(o.OwnCalls.Calls), short(o.OwnCalls.Cost),
			short(o.BuildMS.P50), short(o.BuildMS.P95), short(len(o.Broken())))...)
		for _, one := range o.Caps {
			part(table, fmt.Sprintf("at %d", one.Cap), &one.FileReport, none)
		}
	}
	for i := range r.Bounds {
		part(table, r.Bounds[i].Name, &r.Bounds[i].FileReport, none)
	}
	_ = table.Flush()
	uncapped(s, all)
	r.byFile(s, all, none)
}

// part writes the cells that are shares of none, and leaves the others empty.
func part(w io.Writer, name string, f *FileReport, none *Report) {
	cells(w, append(append([]string{name}, f.against(&none.FileReport)...), make([]string, 7)...)...)
}

// uncapped says which policies --caps says nothing of.
func uncapped(s *sheet.Sheet, all []*Report) {
	if !slices.ContainsFunc(all, func(o *Report) bool { return len(o.Caps) > 0 || o.Cap > 0 }) {
		return
	}
	for _, o := range all {
		if len(o.Caps) == 0 && o.Cap == 0 {
			say(s, "%s caps no view: it was played once, as it is", o.label())
		}
	}
}

// byFile writes the policies side by side for each file, if there are several.
func (r *Report) byFile(s *sheet.Sheet, all []*Report, none *Report) {
	if len(r.Files) < 2 {
		s.Line("")
		return
	}
	s.Line("\nBy file")
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	cells(table, "", "", "tokens", "of", "", "of", "", "con-", "for-", "re-")
	cells(table, "", "", "sent", "none", "cost", "none", "recall", "tent", "eign", "writes")
	for i := range r.Files {
		file, with := label(r.Files[i].File), &FileReport{}
		if none.Files != nil {
			with = &none.Files[i]
		}
		for _, o := range all {
			cells(table, append([]string{file, o.label()}, o.Files[i].against(with)...)...)
			file = ""
		}
		for k := range r.Bounds {
			cells(table, append([]string{"", r.Bounds[k].Name}, r.Bounds[k].Files[i].against(with)...)...)
		}
	}
	_ = table.Flush()
	s.Line("")
}

// against are tokens and cost beside their shares of none, the recall of references, of content and of what others said, and rewrites.
func (f *FileReport) against(none *FileReport) []string {
	return []string{
		short(f.TokensWith), of(float64(f.TokensWith), float64(none.TokensWith)), short(f.CostWith), of(f.CostWith, none.CostWith),
		fmt.Sprintf("%.3f", f.ReferenceRecall), fmt.Sprintf("%.3f", f.ContentRecall), fmt.Sprintf("%.3f", f.ForeignContentRecall),
		short(f.Rewrites),
	}
}

func cells(w io.Writer, row ...string) { fmt.Fprintln(w, strings.Join(row, "\t")+"\t") }

// of is a share of the whole, if there is one.
func of(part, whole float64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", part/whole)
}

// short writes a number down with three digits.
func short[N int | int64 | float64](n N) string {
	v, units := float64(n), "kMG"
	unit := ""
	for v >= 999.5 && units != "" {
		v, unit, units = v/1000, units[:1], units[1:]
	}
	switch {
	case v >= 99.95 || unit == "" && v == math.Trunc(v):
		return fmt.Sprintf("%.0f%s", v, unit)
	case v >= 9.995:
		return fmt.Sprintf("%.1f%s", v, unit)
	default:
		return fmt.Sprintf("%.2f%s", v, unit)
	}
}

// label names what was played under in a table.
func (r *Report) label() string {
	name := label(cmp.Or(r.Title(), ownPolicy))
	switch {
	case len(r.Caps) > 0:
		return fmt.Sprintf("%s, mean of %d caps", name, len(r.Caps))
	case r.Cap > 0:
		return fmt.Sprintf("%s at %d", name, r.Cap)
	}
	return name
}

// label is the end of a file's path, its folder and its name; or a name.
func label(file string) string {
	if filepath.Base(file) == file {
		return file
	}
	return filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
}
