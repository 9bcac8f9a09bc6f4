package builds

import (
	"fmt"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/appends"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/histories"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/report"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

func TestPiecesOf_Shown_AreRunsOfTheList(t *testing.T) {
	shown := func(message int32, unit int, more ...func(*view.Shown)) view.Shown {
		s := view.Shown{Message: message, Unit: unit, Whole: true, Blocks: []provider.Block{{Role: "user", JSON: []byte("{}")}}}
		for _, m := range more {
			m(&s)
		}
		return s
	}
	cited := func(s *view.Shown) { s.Whole = false }
	renamed := func(s *view.Shown) { s.Renamed = true }
	summary := func(s *view.Shown) { s.Summary = 1 }
	place := func(message, first, end int32) histories.Place {
		return histories.Place{Message: message, First: first, End: end}
	}
	for name, c := range map[string]struct {
		shown  []view.Shown
		places []histories.Place
		want   string
	}{
		"one by one":              {[]view.Shown{shown(0, 0), shown(1, 1)}, []histories.Place{place(0, 0, 1), place(1, 1, 2)}, "whole 0 1"},
		"one is changed":          {[]view.Shown{shown(0, 0), shown(1, 1, cited)}, []histories.Place{place(0, 0, 1), place(1, 1, 2)}, "whole 0, changed 1"},
		"one has several":         {[]view.Shown{shown(0, 0)}, []histories.Place{place(0, 0, 3)}, "whole 0 1 2"},
		"several are one":         {[]view.Shown{shown(0, 0), shown(1, 1, cited)}, []histories.Place{place(0, 0, 1), place(1, 0, 1)}, "changed 0"},
		"several are one, apart":  {[]view.Shown{shown(0, 0), shown(-1, 0, summary), shown(5, 1)}, []histories.Place{place(0, 0, 1), place(5, 0, 1)}, "changed 0, summary, changed 0"},
		"a chain of both":         {[]view.Shown{shown(0, 0), shown(1, 1), shown(2, 2, cited)}, []histories.Place{place(0, 0, 2), place(1, 1, 3), place(2, 2, 4)}, "changed 0 1 2 3"},
		"not shown at all":        {[]view.Shown{shown(0, 0)}, []histories.Place{place(0, 0, 1), place(1, 1, 2)}, "whole 0"},
		"in another order":        {[]view.Shown{shown(0, 0), shown(2, 0), shown(1, 0), shown(3, 1)}, []histories.Place{place(0, 0, 1), place(1, 1, 2), place(2, 2, 3), place(3, 3, 4)}, "whole 0 1 2 3"},
		"a late result's place":   {[]view.Shown{shown(0, 0), shown(2, 0), shown(1, 1)}, []histories.Place{place(0, 0, 1), place(1, 1, 2), place(2, 2, 3)}, "whole 0 2 1"},
		"other ids, all whole":    {[]view.Shown{shown(0, 0, renamed), shown(1, 0)}, []histories.Place{place(0, 0, 1), place(1, 1, 2)}, "whole 0 1"},
		"other ids, one changed":  {[]view.Shown{shown(0, 0, renamed), shown(1, 0, cited)}, []histories.Place{place(0, 0, 1), place(1, 1, 2)}, "changed 0, changed 1"},
		"the list has other ids":  {[]view.Shown{shown(0, 0), shown(1, 0, cited)}, []histories.Place{{Message: 0, End: 1, Renamed: true}, place(1, 1, 2)}, "changed 0, changed 1"},
		"the list has other form": {[]view.Shown{shown(0, 0)}, []histories.Place{{Message: 0, End: 1, Changed: true}}, "changed 0"},
		"made up, and on record":  {[]view.Shown{shown(-1, 0), shown(3, 0)}, nil, "made up, recorded"},
	} {
		got := piecesOf(provider.Traits{}, &report.Result{Shown: c.shown}, &appends.HistoryResult{Places: c.places})
		if told := inShort(got); told != c.want {
			t.Errorf("%s: %s, not %s", name, told, c.want)
		}
	}
}

func TestPiecesOf_Leading_AreTheCallersOwn(t *testing.T) {
	r := &report.Result{Shown: []view.Shown{{Message: 0, Whole: true}, {Message: 1, Unit: 1, Whole: true}}, Manifest: conversation.Manifest{LeadingSystem: 1}}
	got := piecesOf(provider.Traits{}, r, &appends.HistoryResult{Leading: 2, Places: []histories.Place{{Message: 1, First: 2, End: 3}}})
	if told := inShort(got); told != "whole 0 1 2" {
		t.Error(told)
	}
}

func inShort(view []appends.ViewPiece) string {
	kinds := []string{"", "whole", "changed", "summary", "made up", "recorded"}
	var out []string
	for _, p := range view {
		out = append(out, strings.TrimSpace(kinds[p.Kind]+" "+strings.Trim(fmt.Sprint(p.Elements), "[]")))
	}
	return strings.Join(out, ", ")
}
