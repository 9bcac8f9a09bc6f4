package replay

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

func TestChart_ManyTurns_FitsTheWidth(t *testing.T) {
	var turns []turn
	for i := range 500 {
		turns = append(turns, turn{2, int64(200 * i), int64(100 * i)})
	}
	for _, ascii := range []bool{false, true} {
		got := chart(turns, ascii)
		for line := range strings.Lines(got[strings.Index(got, "\n")+1:]) {
			if n := utf8.RuneCountInString(line); n > chartWidth+5 {
				t.Errorf("a line of %d characters", n)
			}
		}
		if ascii && len(got) != utf8.RuneCountInString(got) {
			t.Error("not ASCII")
		}
		if !strings.ContainsAny(got, "░.") || !strings.ContainsAny(got, "█#") {
			t.Error(got)
		}
	}
	if got := chart(nil, true); !strings.Contains(got, "+\n") {
		t.Error(got)
	}
}

func TestProgress_Line_SaysWhatIsLeft(t *testing.T) {
	p := &progress{Sheet: &sheet.Sheet{ASCII: true}, total: 100}
	if got := p.line(time.Second); !strings.Contains(got, "0 of 100 builds, ? left") {
		t.Error(got)
	}
	for range 25 {
		p.step()
	}
	if got := p.line(10 * time.Second); !strings.Contains(got, "#######....") || !strings.Contains(got, "25 of 100 builds, 30s left") {
		t.Error(got)
	}
}

func TestProgress_NoTerminal_WritesLines(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b, nil, true)
	p.draw(time.Second)
	p.stop()
	if got := b.String(); !strings.HasSuffix(got, "left\n") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}

func TestMillis_Percentiles(t *testing.T) {
	var d []time.Duration
	for i := range 101 {
		d = append(d, time.Duration(100-i)*time.Millisecond)
	}
	if got := millis(d); got != (Millis{50, 95, 99}) {
		t.Error(got)
	}
}

// text is the report as a wide terminal without Unicode shows it.
func (r *Report) text() string {
	var b bytes.Buffer
	r.print(&sheet.Sheet{Out: &b, ASCII: true, Width: 120})
	return b.String()
}

func TestTally_Merge_FollowsTheTagsOfFigures(t *testing.T) {
	sum := newTally()
	for _, n := range []int{0, 3, 2} {
		o := newTally()
		o.Errors, o.TokensWith, o.CostWith, o.NewestKept = n, int64(n), float64(n), n
		o.Refused["reason"], o.LetGo.Events["event"], o.AtEnd.Refused["reason"] = n, n, n
		o.Compactions.Largest, o.Citations.Largest, o.Citations.Count, o.OwnCalls.Calls = float64(n), n, n, int64(n)
		sum.merge(o)
	}
	if sum.Errors != 5 || sum.TokensWith != 5 || sum.CostWith != 5 || sum.Citations.Count != 5 || sum.OwnCalls.Calls != 5 {
		t.Errorf("figures do not add up: %+v", sum.Report)
	}
	if sum.Refused["reason"] != 5 || sum.LetGo.Events["event"] != 5 || sum.AtEnd.Refused["reason"] != 5 {
		t.Errorf("maps do not add up: %+v", sum.Report)
	}
	if sum.NewestKept != 2 || sum.Compactions.Largest != 3 || sum.Citations.Largest != 3 {
		t.Errorf("least %d, largest %v and %d", sum.NewestKept, sum.Compactions.Largest, sum.Citations.Largest)
	}
}
