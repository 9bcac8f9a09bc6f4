package replay

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// compared says what was let go, and what that came to beside the same replay
// without the policy.
func (r *Report) compared(b *strings.Builder) {
	if r.Policy == "" {
		return
	}
	fmt.Fprintf(b, "Let go under %s\n", r.Policy)
	row(b, "events", cmp.Or(counts(r.LetGo.Events), "none"))
	row(b, "saved by expiry", fmt.Sprintf("%d tokens over all builds, as the sidecar says", r.LetGo.SavedByExpiry))
	if r.LetGo.SavedByRetention > 0 {
		row(b, "saved by retention", fmt.Sprintf("%d tokens over all builds, as the sidecar says", r.LetGo.SavedByRetention))
	}
	row(b, "put off", cmp.Or(counts(r.LetGo.Deferred), "nothing"))
	if r.LetGo.Degraded > 0 {
		row(b, "done otherwise", fmt.Sprintf("%d times something else than was asked for", r.LetGo.Degraded))
	}
	if r.None != nil {
		r.againstNone(b)
	}
	b.WriteByte('\n')
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

func (r *Report) againstNone(b *strings.Builder) {
	b.WriteString("\nAgainst none: the same recordings in the same window, without the policy\n")
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\ttokens\tcost\trewrites\tof none\trecall\tof none\t")
	line := func(name string, with, none *FileReport) {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%d\t%d\t%.1f %%\t%.1f %%\t\n", name,
			change(float64(with.TokensWith), float64(none.TokensWith)), change(with.CostWith, none.CostWith),
			with.Rewrites, none.Rewrites, 100*with.ReferenceRecall, 100*none.ReferenceRecall)
	}
	if len(r.Files) > 1 {
		for i := range r.Files {
			line(label(r.Files[i].File), &r.Files[i], &r.None.Files[i])
		}
	}
	line("all", r.total(), r.None.total())
	// A Builder takes everything.
	_ = table.Flush()
}

// label is the end of a file's path: its folder and its name.
func label(file string) string {
	return filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
}

func (r *Report) total() *FileReport {
	return &FileReport{TokensWith: r.TokensWith, CostWith: r.CostWith, Rewrites: r.Rewrites, ReferenceRecall: r.ReferenceRecall}
}
