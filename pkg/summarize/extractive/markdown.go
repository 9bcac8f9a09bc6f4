package extractive

import (
	"strings"
)

// readMarkdown recognizes Markdown by headings, together with lists, fences, links or tables.
func readMarkdown(s source) (draft, bool) {
	lines := s.lines
	if !looksLikeMarkdown(lines) {
		return draft{}, false
	}
	o := &document{}
	for i := 0; i < len(lines); {
		i = o.readMarkdown(lines, i)
	}
	return o.draft("Markdown, "+counted(len(lines), "lines"), s.target), true
}

// maxJudgedLines is how many lines of a text are examined.
const maxJudgedLines = 5000

func looksLikeMarkdown(lines []string) bool {
	lines = lines[:min(len(lines), maxJudgedLines)]
	headings, others := 0, 0
	fenced := false
	for i, line := range lines {
		s := strings.TrimLeft(line, " ")
		if strings.HasPrefix(s, "```") {
			fenced = !fenced
		}
		switch {
		case fenced:
		case headingLevel(line) > 0 && standsAlone(lines, i):
			headings++
		case headingLevel(line) > 0 || parseDefinition(line).kind == definesFunction:
			headings-- // a comment in code
		case strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") || strings.HasPrefix(s, "```") || strings.Contains(s, "](") ||
			strings.HasPrefix(s, "| ") || strings.Contains(s, "**"):
			others++
		}
	}
	return headings > 1 && headings+others > 2 && (headings+others)*25 > len(lines)
}

// standsAlone reports whether a line is among blank lines or headings, unlike comments in code.
func standsAlone(lines []string, i int) bool {
	level := headingLevel(lines[i])
	free := func(k int) bool {
		if k < 0 || k >= len(lines) || strings.TrimSpace(lines[k]) == "" {
			return true
		}
		other := headingLevel(lines[k])
		return other > 0 && other != level
	}
	return free(i-1) && (free(i+1) || level > 1)
}

// headingLevel returns the level of a heading, or 0.
func headingLevel(line string) int {
	level := 0
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level > 6 || level == len(line) || line[level] != ' ' {
		return 0
	}
	return level
}

// readMarkdown reads the block that begins at a line, and returns where the next begins.
func (o *document) readMarkdown(lines []string, i int) (next int) {
	line := lines[i]
	level := headingLevel(line)
	switch {
	case level > 0:
		o.add(block{kind: heading, level: level, text: strings.TrimSpace(line[level:])})
	case strings.HasPrefix(strings.TrimLeft(line, " "), "```"):
		return o.readFence(lines, i)
	case strings.HasPrefix(line, "|") && i+1 < len(lines) && isTableRule(lines[i+1]):
		return o.readTable(lines, i)
	default:
		o.addLinks(line)
		o.add(block{kind: paragraph, text: strings.TrimSpace(line)})
	}
	return i + 1
}

func (o *document) readFence(lines []string, i int) (next int) {
	end := i + 1
	for end < len(lines) && !strings.HasPrefix(strings.TrimLeft(lines[end], " "), "```") {
		end++
	}
	o.add(block{kind: code, text: strings.Join(lines[i+1:end], "\n")})
	return end + 1
}

// isTableRule reports whether a line separates the head of a table from its rows.
func isTableRule(line string) bool {
	return strings.Contains(line, "--") && strings.Trim(line, "|-: \t") == ""
}

func (o *document) readTable(lines []string, i int) (next int) {
	rows := []string{lines[i]}
	end := i + 2
	for end < len(lines) && strings.HasPrefix(lines[end], "|") {
		rows = append(rows, lines[end])
		end++
	}
	o.addTable(rows, false)
	return end
}

// addLinks collects the links of a line.
func (o *document) addLinks(line string) {
	for {
		at := strings.Index(line, "](")
		if at < 0 {
			return
		}
		line = line[at+2:]
		if end := strings.IndexAny(line, ") "); end > 0 {
			o.addLink(line[:end], false)
		}
	}
}
