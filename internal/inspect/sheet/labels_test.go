package sheet

import (
	"bytes"
	"strings"
	"testing"
)

func TestLabels_Block_ShowsTheFirstAndSome(t *testing.T) {
	var out bytes.Buffer
	l := &Labels{Sheet: New(&out, false, true), Indent: 2, LabelWidth: 10}
	l.Block("label", []string{"a", "b", "c", "d", "e", "f"}, 2, 4, 5)
	if got := strings.Join(strings.Fields(out.String()), " "); got != "label a b ~ e" {
		t.Errorf("%q", got)
	}
}

func TestLabels_Narrow_StaysInside(t *testing.T) {
	t.Setenv("COLUMNS", "60")
	var out bytes.Buffer
	l := &Labels{Sheet: New(&out, false, false), Indent: 2, LabelWidth: 10}
	l.Rule("turn 1")
	l.Row("tool", Red, "%s", strings.Repeat("a long word ", 30))
	l.Wrapped("agent", Cyan, "%s", strings.Repeat("a long word ", 30))
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 60 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("colors in a pipe")
	}
}

func TestCutStart_KeepsTheEnd(t *testing.T) {
	if got := CutStart("abcdef", 4); got != "…def" || CutStart("abc", 4) != "abc" {
		t.Errorf("%q", got)
	}
}
