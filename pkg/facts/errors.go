package facts

import (
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// errorLine takes an error message, from the word that announces it to the end of its line, or an exit code.
func (w *mentionScanner) errorLine(start, end int) {
	if start < w.errorEnd {
		return // the line was taken
	}
	if stop := w.exitCodeEnd(start, end); stop > end {
		w.errorEnd = stop
		w.found(conversation.FactError, Clean(w.text[start:stop], MaxText))
		return
	}
	if !strings.HasPrefix(w.text[end:], ": ") || !isFailure(w.text[start:end]) {
		return
	}
	line := w.text[start:min(len(w.text), start+4*MaxText)]
	for _, stop := range []string{"\n", "\r", `\n`} {
		line, _, _ = strings.Cut(line, stop)
	}
	w.errorEnd = start + len(line)
	if text := Clean(line, MaxText); len(text) > end-start+len(": x") {
		w.found(conversation.FactError, text)
	}
}

// isFailure reports whether a word announces an error.
func isFailure(word string) bool {
	if len(word) > 80 {
		return false
	}
	switch lower := strings.ToLower(word); lower {
	case "fatal", "panic", "failed", "fail", "failure", "err":
		return true
	default:
		return strings.HasSuffix(lower, "error") || strings.HasSuffix(lower, "exception")
	}
}

// exitCodeEnd returns where the exit code of a failed program ends, if the word begins such a phrase.
func (w *mentionScanner) exitCodeEnd(start, end int) int {
	if end-start > len("returncode") {
		return 0
	}
	behind := w.text[end:min(len(w.text), end+len(" with status code: -1234567890"))]
	rest := behind
	switch strings.ToLower(w.text[start:end]) {
	case "returncode", "exitcode", "exit_code":
	case "exit", "exited":
		words := strings.TrimPrefix(behind, " with")
		words = strings.TrimPrefix(words, " status")
		rest = strings.TrimPrefix(words, " code")
		if len(rest) == len(strings.TrimPrefix(behind, " with")) {
			return 0
		}
	default:
		return 0
	}
	rest = strings.TrimLeft(rest, " :=>\"")
	digits := len(rest) - len(strings.TrimLeft(rest, "-0123456789"))
	if strings.Trim(rest[:digits], "-0") == "" {
		return 0
	}
	return end + len(behind) - len(rest) + digits
}
