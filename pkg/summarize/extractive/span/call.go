package span

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/content"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

// callDetails is what a call's arguments say about its action.
type callDetails struct {
	tool string
	// verb is what it does to its target: the tool's name, or what an argument says.
	verb string
	// target is the file or address that it is about; empty if neither.
	target string
	// line is the command that it runs, or its arguments in brief.
	line string
	// writes is true if its name says that it changes something.
	writes bool
}

// Limits on what is shown of a command, of an argument's value, and of a target, in bytes.
const (
	maxCommandBytes = 200
	maxValueBytes   = 80
	maxTargetBytes  = 200
)

func newCallDetails(tool, arguments string, members []member) callDetails {
	d := callDetails{tool: tool, verb: tool}
	var brief []string
	command := ""
	for _, m := range members {
		switch {
		case d.target == "" && isTargetKey(m.key) && isTarget(m.value):
			d.target = m.value
		case command == "" && isCommandKey(m.key):
			command = m.value
		case m.value != "":
			brief = append(brief, m.key+"="+content.Clip(oneLine(m.value), maxValueBytes))
		}
	}
	switch {
	case command != "" && d.target != "" && !strings.ContainsAny(command, " \n"):
		d.verb = command // of an editor: view, create
	case command != "":
		d.command(command)
	case len(brief) > 0 && d.target == "":
		d.line = content.Clip(strings.Join(brief, ", "), maxCommandBytes)
	case len(members) == 0 && arguments != "{}":
		d.line = content.Clip(oneLine(arguments), maxCommandBytes)
	}
	d.writes = d.writes || isMutating(d.verb)
	return d
}

// member is a member of a call's arguments: a text, or JSON.
type member struct{ key, value string }

// parseMembers returns the members of an object, in order; nil if the text is not one.
func parseMembers(arguments string) (all []member) {
	decoder := json.NewDecoder(strings.NewReader(arguments))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('{') {
		return nil
	}
	for decoder.More() {
		key, err := decoder.Token()
		name, isText := key.(string)
		var raw json.RawMessage
		if err != nil || !isText || decoder.Decode(&raw) != nil {
			return all
		}
		all = append(all, member{summarize.Filter(name), argumentText(raw)})
	}
	return all
}

func argumentText(raw json.RawMessage) string {
	var text string
	var words []string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return summarize.Filter(text)
	case json.Unmarshal(raw, &words) == nil:
		return summarize.Filter(strings.Join(words, " "))
	case string(raw) == "null":
		return ""
	}
	return string(raw)
}

func isTargetKey(key string) bool {
	switch strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key)) {
	case "path", "file", "filepath", "filename", "targetfile", "absolutepath", "relativepath", "notebookpath", "url", "uri", "dir", "directory", "folder":
		return true
	}
	return false
}

func isTarget(value string) bool {
	return value != "" && len(value) <= maxTargetBytes && !strings.ContainsAny(value, "\n\t")
}

func isCommandKey(key string) bool {
	switch strings.ToLower(key) {
	case "command", "cmd", "commands", "script", "code":
		return true
	}
	return false
}

// isMutating reports whether a tool's name says that it changes something.
func isMutating(name string) bool {
	for _, word := range content.NameWords(strings.Map(withoutDigits, name)) {
		switch word {
		case "write", "edit", "create", "update", "delete", "remove", "insert", "replace", "patch", "apply", "append", "move", "rename",
			"save", "set", "add", "cancel", "book", "modify", "send", "submit", "exchange", "return", "put", "post", "mkdir", "upload",
			"transfer", "pay", "refund", "commit", "push", "deploy", "install", "str", "undo", "enable", "disable", "grant", "reset":
			return true
		}
	}
	return false
}

// withoutDigits puts spaces in place of digits: edit2 is an edit.
func withoutDigits(r rune) rune {
	if unicode.IsDigit(r) {
		return ' '
	}
	return r
}

// describe returns the call as a line.
func (a *action) describe() string {
	what := a.tool
	if a.verb != a.tool {
		what += " " + a.verb
	}
	if a.target != "" {
		what += " " + a.target
	}
	if a.line != "" {
		what += " " + a.line
	}
	return what
}

func (a *action) describeWithOutcome() string {
	switch {
	case a.open:
		return a.describe() + " -> no result"
	case a.failed:
		return a.describe() + " -> failed: " + a.outcome
	case a.outcome != "":
		return a.describe() + " -> " + a.outcome
	}
	return a.describe()
}

// What is examined of a result for its outcome, in bytes, and what is shown of it, in characters.
const (
	outcomeWindow   = 8000
	maxFailureChars = 240
	maxOutcomeChars = 100
)

// outcomeOf returns the outcome of a call: its error message, or its result if that is short.
func outcomeOf(text string, failed bool) (outcome string, _ bool) {
	text = strings.TrimSpace(text)
	ends := text
	if len(text) > 2*outcomeWindow {
		ends = strings.ToValidUTF8(text[:outcomeWindow], "") + "\n" + strings.ToValidUTF8(text[len(text)-outcomeWindow:], "")
	}
	if failed || reportsFailure(ends) {
		return content.Clip(oneLine(gravestLine(ends)), maxFailureChars), true
	}
	if text = withoutTags(text); utf8.RuneCountInString(text) <= maxOutcomeChars {
		return text, false
	}
	return "", false
}

// withoutTags returns a result on one line, without the tags that a tool puts around it.
func withoutTags(text string) string {
	if len(text) > outcomeWindow {
		return text
	}
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); !content.IsBareTag(line) && line != "<returncode>0</returncode>" {
			kept = append(kept, line)
		}
	}
	return oneLine(strings.Join(kept, " "))
}

// reportsFailure reports whether a result shows a non-zero exit status, or begins like an error report.
func reportsFailure(text string) bool {
	lower := strings.ToLower(text[:min(len(text), 200)] + "\n" + text[max(0, len(text)-200):])
	for _, mark := range []string{"<returncode>", "exit code", "exit code:", "exited with code", "exit status", "returncode:"} {
		if _, after, found := strings.Cut(lower, mark); found {
			after = strings.TrimLeft(after, " :=")
			if after != "" && '1' <= after[0] && after[0] <= '9' {
				return true
			}
		}
	}
	first, _, _ := strings.Cut(text, "\n")
	return facts.BeginsAsReport(first) && facts.SeverityOf(first) == facts.Grave
}

// gravestLine returns the line that says most about a failure: the last of the most severe.
func gravestLine(text string) string {
	best, worst := "", facts.Severity(-1)
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || content.IsBareTag(line) {
			continue
		}
		level := facts.LineSeverity(line)
		if facts.BeginsAsReport(line) {
			level++
		}
		if level >= worst {
			best, worst = line, level
		}
	}
	return best
}
