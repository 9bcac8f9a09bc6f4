package span

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/content"
)

// maxScriptChars is how much of a command with inline input is shown, in characters.
const maxScriptChars = 120

// command describes a command line: by what it does to a file, if that is all.
func (d *callDetails) command(line string) {
	d.target = ""
	first, _, isScript := strings.Cut(line, "<<")
	if isScript && strings.Contains(first, "\n") {
		isScript = false
	}
	if verb, target := fileCommand(first, isScript); target != "" {
		d.verb, d.target = verb, target
		d.writes = verb == "write" || verb == "edit"
		return
	}
	if isScript {
		d.line = content.Clip(oneLine(line), maxScriptChars)
		return
	}
	d.line = content.Clip(oneLine(line), maxCommandBytes)
}

// fileCommand returns the file that a command reads or writes, if it does nothing else.
func fileCommand(line string, isScript bool) (verb, target string) {
	line = strings.TrimSpace(line)
	if into, rest, found := strings.Cut(line, "&& "); found && strings.HasPrefix(into, "cd ") {
		line = rest
	}
	words := strings.Fields(line)
	if len(words) < 2 {
		return "", ""
	}
	last := words[len(words)-1]
	if isScript {
		if words[0] == "cat" && len(words) == 3 && words[1] == ">" && isFileName(last) {
			return "write", last
		}
		return "", ""
	}
	if strings.ContainsAny(line, "|;&><\n`$") || !isFileName(last) {
		return "", ""
	}
	switch words[0] {
	case "cat", "head", "tail", "nl", "less", "more", "view", "open":
		return "read", last
	case "sed":
		if words[1] == "-n" {
			return "read", last
		}
		if words[1] == "-i" {
			return "edit", last
		}
	}
	return "", ""
}

func isFileName(word string) bool {
	return strings.ContainsAny(word, "./") && !strings.ContainsAny(word, "'\"*?(){}") && !strings.HasPrefix(word, "-")
}
