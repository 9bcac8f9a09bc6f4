package extractive

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// match is a search result: a file, a line number, and the line.
type match struct {
	path string
	line int
	text string
}

// readMatches recognizes results of a file search: lines of "path:12:text", or of "path-12-text" around them.
func readMatches(s source) (draft, bool) {
	var found []match
	var rest []choice.Entry
	for i, line := range s.lines {
		if m, ok := parseMatch(line); ok {
			found = append(found, m)
		} else if line != "" && line != "--" {
			rest = append(rest, choice.Entry{Label: fmt.Sprintf("L%d: ", s.line+i+1), Text: line, MaxChars: 160})
		}
		if i == 200 && len(found) < 50 {
			return draft{}, false
		}
	}
	if len(found) < 5 || len(rest)*4 > len(found) || !mostlyDistinct(found) {
		return draft{}, false
	}
	d := draftMatches(found, s)
	d.surround(nil, failureLines(rest))
	return d, true
}

// mostlyDistinct reports whether most results have different locations; in logs, "path-12:" can be part of a time.
func mostlyDistinct(found []match) bool {
	places := map[string]bool{}
	for _, m := range found {
		places[fmt.Sprint(m.path, ":", m.line)] = true
	}
	return len(places)*2 > len(found)
}

// parseMatch parses a search result. The path has no spaces, and a dot or a slash.
func parseMatch(line string) (match, bool) {
	for _, sep := range []string{":", "-"} {
		for from := 0; ; {
			at := strings.Index(line[from:], sep)
			if at < 0 {
				break
			}
			at += from
			end := at + 1
			for end < len(line) && content.IsDigit(line[end]) {
				end++
			}
			if end > at+1 && end < len(line) && line[end:end+1] == sep && isFilePath(line[:at]) {
				n, err := strconv.Atoi(line[at+1 : end])
				return match{line[:at], n, line[end+1:]}, err == nil
			}
			from = at + 1
		}
	}
	return match{}, false
}

func isFilePath(s string) bool {
	return s != "" && len(s) < 250 && !strings.ContainsAny(s, " \t\"'()<>{}=") && strings.ContainsAny(s, "./") &&
		!strings.Contains(s, "://") && strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

// failureLines keeps of the lines that are not results those that report errors, and a few others.
func failureLines(rest []choice.Entry) (kept []choice.Entry) {
	for _, p := range rest {
		if level := facts.SeverityOf(p.Text); level >= facts.Failing || len(rest) < 5 {
			kept = append(kept, p)
		}
	}
	return kept[:min(len(kept), maxBeside)]
}

// draftMatches groups results by file: each file with its count, and below it the most informative lines.
func draftMatches(found []match, s source) draft {
	count := map[string]int{}
	for _, m := range found {
		count[m.path]++
	}
	d := draft{
		title: fmt.Sprintf("Search results, %s in %s", counted(len(found), "lines"), counted(len(count), "files")),
		total: len(found), unit: "lines",
	}
	all := make([]choice.Unit, len(found))
	seen := map[string]bool{}
	for i, m := range found {
		all[i] = choice.Unit{Text: m.text, Line: m.line}
		if !seen[m.path] {
			seen[m.path] = true
			label := fmt.Sprintf("(%s) ", grouped(count[m.path]))
			d.entries = append(d.entries, choice.Entry{Label: label, Text: m.path, MaxChars: 250, Order: 2 * i, Score: 800 - float64(len(seen))/100, Whole: true})
		}
	}
	boost := func(i int) float64 { return lineBoost(all[i].Text) }
	for rank, i := range choice.Cover(all, boost, 10+s.target/25) {
		d.entries = append(d.entries, choice.Entry{
			Label: fmt.Sprintf("%d: ", all[i].Line), Text: strings.TrimSpace(all[i].Text), MaxChars: max(90, s.target/6), Order: 2*i + 1,
			Score: 500 - float64(rank), Represents: 1,
		})
	}
	var text strings.Builder
	for _, u := range all {
		text.WriteString(u.Text + "\n")
	}
	d.names, d.mentionShare = rankedNames(text.String()), 15
	return d
}
