package extractive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

// codeLine is a line of a source file.
type codeLine struct {
	choice.Unit
	definition
	// report is how much the line looks like an error report among code; 0 if not at all.
	report int
	// shown is true if the line is already offered.
	shown bool
}

// codeReader offers what an extract of a source file may show.
type codeReader struct {
	lines   []codeLine
	units   []choice.Unit
	target  int
	entries []choice.Entry
}

// readCode recognizes source code by how its lines begin and end.
func readCode(s source) (draft, bool) {
	listed := slices.Clone(s.units)
	numbered := stripNumbers(listed)
	if !looksLikeCode(listed) {
		return draft{}, false
	}
	r := &codeReader{target: s.target, units: listed}
	for i, u := range listed {
		r.lines = append(r.lines, codeLine{Unit: u, definition: parseDefinition(u.Text), report: errorReportScore(listed, i)})
	}
	r.addReports()
	r.addDefinitions()
	r.addInformative()
	title := fmt.Sprintf("%s, %s", guessLanguage(s.text), counted(len(s.lines), "lines"))
	if numbered && len(listed) > 0 {
		title += fmt.Sprintf(" (%d to %d)", listed[0].Line, listed[len(listed)-1].Line)
	}
	d := draft{title: title + r.counts(), entries: r.entries, names: rankedNames(s.text), mentionShare: 38}
	return d, true
}

// stripNumbers removes and uses line numbers that a tool added, and reports whether there were any.
func stripNumbers(all []choice.Unit) bool {
	sample := all[:min(len(all), 1000)]
	numbered := 0
	for _, u := range sample {
		if _, _, ok := numberedLine(u.Text); ok {
			numbered++
		}
	}
	if numbered*10 < len(sample)*8 {
		return false
	}
	before := 0
	for i, u := range all {
		n, rest, ok := numberedLine(u.Text)
		// What begins with a number can be another line, such as a date, among the numbered ones.
		if ok && n > before && (n == before+1 || numberContinues(n, all[i+1:])) {
			all[i], before = choice.Unit{Text: rest, Line: n}, n
		} else {
			all[i].Line = before
		}
	}
	return true
}

// numberContinues reports whether a line numbered n may precede the next ones.
func numberContinues(n int, next []choice.Unit) bool {
	for _, u := range next[:min(len(next), 4)] {
		if m, _, ok := numberedLine(u.Text); ok {
			return m > n
		}
	}
	return len(next) == 0
}

// numberedLine parses a line such as "12: x", "12-x", "  12\tx" or "12→x".
func numberedLine(line string) (n int, rest string, ok bool) {
	s := strings.TrimLeft(line, " ")
	end := 0
	for end < len(s) && end < 7 && content.IsDigit(s[end]) {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return 0, "", false
	}
	for _, mark := range []string{":", "-", "\t", "|", "→", " |", " "} {
		if rest, found := strings.CutPrefix(s[end:], mark); found {
			return n, rest, mark != " " || strings.HasPrefix(line, " ")
		}
	}
	return n, "", end > 0 && end == len(s)
}

// looksLikeCode reports whether most lines begin or end as only code does.
func looksLikeCode(all []choice.Unit) bool {
	if len(all) < 5 {
		return false
	}
	marked, telling, dated := 0, 0, 0
	step := max(1, len(all)/2000)
	n := 0
	for i := 0; i < len(all); i += step {
		n++
		s := strings.TrimSpace(all[i].Text)
		if s == "" {
			continue
		}
		if startsLikeCode(s) {
			telling++
			marked++
		} else if strings.IndexByte("{}();,:[]'\"\\", s[len(s)-1]) >= 0 && len(s) < 200 {
			marked++
		}
		if content.IsDigit(s[0]) || content.IsBareTag(s) || strings.HasPrefix(s, "File \"") {
			dated++
		}
	}
	return marked*100 >= n*50 && telling*100 >= n*10 && dated*5 < n
}

// startsLikeCode reports whether a line begins like a statement or a comment of a common language.
func startsLikeCode(s string) bool {
	word := facts.LeadingName(s)
	switch word {
	case "def", "class", "import", "from", "return", "if", "elif", "else", "for", "while", "try", "except", "raise", "with", "yield",
		"assert", "async", "await", "func", "package", "type", "var", "const", "let", "function", "export", "public", "private",
		"protected", "static", "struct", "enum", "interface", "impl", "fn", "pub", "use", "mod", "match", "switch", "case", "throw",
		"catch", "finally", "namespace", "using", "template", "typedef", "extern", "void", "int", "self", "this", "end", "require",
		"module", "SELECT", "CREATE", "INSERT", "lambda", "pass", "break", "continue", "defer", "go", "abstract", "final", "override":
		return len(s) == len(word) || s[len(word)] != ':' || word == "else" || word == "try" || word == "finally"
	}
	for _, mark := range []string{"//", "/*", "* ", "*/", "# ", "#include", "#define", "#if", "@", "\"\"\"", "'''", "}", "{", "<!--"} {
		if strings.HasPrefix(s, mark) {
			return true
		}
	}
	rest := strings.TrimLeft(s[len(word):], " ")
	return word != "" && (strings.HasPrefix(rest, "= ") || strings.HasPrefix(rest, ":= ") || strings.HasPrefix(s[len(word):], "(") && strings.HasSuffix(s, ")"))
}

// guessLanguage guesses the programming language from the start of a text.
func guessLanguage(text string) string {
	sample := text[:min(len(text), 30_000)]
	best, most := "Code", 1
	for _, l := range []struct {
		name  string
		marks []string
	}{
		{"Python code", []string{"def ", "self.", "elif ", "    return ", "import ", "None", "\"\"\""}},
		{"Go code", []string{"\nfunc ", ":= ", "package ", "err != nil", "\ttype "}},
		{"TypeScript or JavaScript code", []string{"const ", "=> ", "function ", "export ", "import {", "===", "this."}},
		{"Rust code", []string{"fn ", "let mut ", "impl ", "pub ", "-> ", "::new("}},
		{"Java or C# code", []string{"public ", "private ", "void ", "new ", "final ", "@Override", "namespace "}},
		{"C or C++ code", []string{"#include", "#define", "->", "std::", "void ", "nullptr", "NULL"}},
	} {
		n := 0
		for _, mark := range l.marks {
			n += strings.Count(sample, mark)
		}
		if n > most {
			best, most = l.name, n
		}
	}
	return best
}

// counts describes how many types and functions the code defines.
func (r *codeReader) counts() (text string) {
	types, functions := 0, 0
	for i := range r.lines {
		switch r.lines[i].kind {
		case definesType:
			types++
		case definesFunction:
			functions++
		}
	}
	if types > 0 {
		text = ", " + counted(types, "types")
	}
	if functions > 0 {
		text += ", " + counted(functions, "functions")
	}
	return text
}

// reportShare is the percentage of an extract for error reports among code.
const reportShare = 45

// addReports offers the lines that are error reports rather than code.
func (r *codeReader) addReports() {
	var reports []int
	for i := range r.lines {
		if r.lines[i].report > 0 {
			reports = append(reports, i)
		}
	}
	slices.SortStableFunc(reports, func(a, b int) int { return r.lines[b].report - r.lines[a].report })
	room := r.target * reportShare / 100
	for k, i := range reports {
		if room -= len(strings.TrimSpace(r.lines[i].Text)) + 7; room < 0 && k > 0 {
			return
		}
		r.add(i, r.target*6/10, 2000-float64(k))
		r.lines[i].shown = true
	}
}

func (r *codeReader) add(i, most int, worth float64) {
	l := r.lines[i]
	r.entries = append(r.entries, choice.Entry{
		Label: fmt.Sprintf("L%d: ", l.Line), Text: strings.TrimSpace(l.Text), MaxChars: most, Order: i, Score: worth,
	})
}

// The percentages of an extract for definitions shown as lines, and for the names of others.
const (
	lineShare = 22
	nameShare = 32
)

// addDefinitions offers what the code defines: the lines of as many definitions as fit, outer ones first, and the names of the others with
// their line numbers.
func (r *codeReader) addDefinitions() {
	room := r.target * lineShare / 100
	shown := map[int]bool{}
	for depth := 0; depth <= 2; depth++ {
		for i := range r.lines {
			l := &r.lines[i]
			size := len("L1234: ") + min(len(strings.TrimSpace(l.Text)), 140)
			if l.kind == 0 || l.kind == imports || min(l.depth, 2) != depth || size > room || l.shown {
				continue
			}
			room -= size
			shown[i] = true
			r.add(i, 140, 900-float64(len(shown))/100)
		}
	}
	r.addOtherNames(shown)
}

func (r *codeReader) addOtherNames(shown map[int]bool) {
	var parts []string
	size := 0
	for i := range r.lines {
		l := &r.lines[i]
		if (l.kind != definesType && l.kind != definesFunction) || shown[i] || size > r.target {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s L%d", l.name, l.Line))
		size += len(parts[len(parts)-1]) + 2
	}
	if len(parts) > 0 {
		r.entries = append(r.entries, choice.Entry{
			Label: "Also defines: ", Text: strings.Join(parts, ", "), MaxChars: r.target * nameShare / 100, Order: len(r.lines), Score: 850,
		})
	}
}

// addInformative offers the lines that say most about what the code does.
func (r *codeReader) addInformative() {
	boost := func(i int) float64 { return r.lines[i].boost() }
	for rank, i := range choice.Cover(r.units, boost, 10+r.target/25) {
		r.add(i, max(100, min(200, r.target/5)), 500-float64(rank))
	}
}

// boost weighs a line of code: comments, and what is raised or returned, say what it is for.
func (l *codeLine) boost() float64 {
	s := strings.TrimSpace(l.Text)
	switch {
	case l.kind != 0 && l.kind != imports || l.shown || len(s) < 8:
		return 0 // offered already, or a bracket
	case l.kind == imports:
		return 0.8
	case strings.Contains(s, "TODO") || strings.Contains(s, "FIXME"):
		return 2
	case strings.HasPrefix(s, "#") || strings.HasPrefix(s, "//") || strings.HasPrefix(s, "*") || strings.HasPrefix(s, "\"\"\""):
		return 1.3
	case strings.HasPrefix(s, "raise ") || strings.HasPrefix(s, "throw ") || strings.HasPrefix(s, "return "):
		return 1.2
	}
	return 1
}
