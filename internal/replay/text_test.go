package replay

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
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
	p := &progress{total: 100, ascii: true}
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
