package report

import (
	"fmt"
	"strings"
)

// chart draws the mean context of each turn: solid with the sidecar, light what
// it would be without.
func chart(turns []turn, ascii bool) string {
	columns := squeeze(turns)
	highest := int64(1)
	for _, c := range columns {
		highest = max(highest, c.without, c.with)
	}
	eighths, light := []rune(" ▁▂▃▄▅▆▇█"), '░'
	if ascii {
		eighths, light = []rune("     ####"), '.'
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Mean context by turn, 1 to %d, top line %d tokens (%c with the sidecar, %c without)\n", len(turns), highest, eighths[8], light)
	for line := chartHeight - 1; line >= 0; line-- {
		b.WriteString("  |")
		for _, c := range columns {
			b.WriteRune(cell(c, highest, line, eighths, light))
		}
		b.WriteByte('\n')
	}
	b.WriteString("  +" + strings.Repeat("-", len(columns)) + "\n")
	return b.String()
}

// cell is one character of the chart: lines count from the bottom.
func cell(c turn, highest int64, line int, eighths []rune, light rune) rune {
	level := func(tokens int64) int { return int(tokens*chartHeight*8/highest) - 8*line }
	if filled := min(8, level(c.with)); filled > 0 && eighths[filled] != ' ' {
		return eighths[filled]
	}
	if level(c.without) >= 4 {
		return light
	}
	return ' '
}

// squeeze averages turns into at most chartWidth columns.
func squeeze(turns []turn) []turn {
	width := min(chartWidth, len(turns))
	out := make([]turn, width)
	for i := range out {
		var sum turn
		for _, t := range turns[i*len(turns)/width : (i+1)*len(turns)/width] {
			sum.builds += t.builds
			sum.without += t.without
			sum.with += t.with
		}
		n := int64(max(1, sum.builds))
		out[i] = turn{1, sum.without / n, sum.with / n}
	}
	return out
}
