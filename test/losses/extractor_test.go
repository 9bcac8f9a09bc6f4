package losses

import (
	"regexp"
	"strings"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// told is what a message says, as a view showed it: what a summary over the message can know of.
type told struct {
	role  conversation.Role
	index int32
	parts []conversation.Part
}

// The kinds of what must not be lost.
const (
	openCalls = "open calls"
	rules     = "rules"
	paths     = "paths"
	ids       = "ids"
)

// found is something that a summary must not lose.
type found struct {
	kind, text string
	count      int
	more       string // what else must be there, of a call: the beginning of its arguments
}

// extract finds what a stretch of conversation must not lose.
func extract(span []told) []found {
	out := append(unanswered(span), rulesIn(span)...)
	counts, order, kinds := map[string]int{}, []string{}, map[string]string{}
	for _, m := range span {
		for _, text := range textsOf(m.parts) {
			names := namesIn(text)
			for _, kind := range []string{paths, ids} {
				for _, n := range names[kind] {
					if counts[n]++; counts[n] == 1 {
						order, kinds[n] = append(order, n), kind
					}
				}
			}
		}
	}
	for _, n := range order {
		if counts[n] > 1 {
			out = append(out, found{kind: kinds[n], text: n, count: counts[n]})
		}
	}
	return out
}

// unanswered are the calls that no result in the stretch answers. A result answers the latest open call with its id.
func unanswered(span []told) []found {
	var open []*conversation.ToolCall
	for _, m := range span {
		for i := range m.parts {
			if c := m.parts[i].Call; c != nil {
				open = append(open, c)
			}
			r := m.parts[i].Result
			for k := len(open) - 1; r != nil && k >= 0; k-- {
				if open[k].CallID == r.CallID {
					open = append(open[:k:k], open[k+1:]...)
					break
				}
			}
		}
	}
	var out []found
	for _, c := range open {
		out = append(out, found{kind: openCalls, text: c.Name, count: 1, more: firstValue(c.Arguments.Inline)})
	}
	return out
}

var quoted = regexp.MustCompile(`:\s*"((?:[^"\\]|\\.)*)"`)

// firstValue is the beginning of the first text among a call's arguments: what tells it from other calls of its tool.
func firstValue(arguments string) string {
	m := quoted.FindStringSubmatch(arguments)
	if m == nil {
		return ""
	}
	value, _, _ := strings.Cut(m[1], `\`)
	return firstChars(value, 40)
}

func firstChars(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// textsOf is everything that parts say in words.
func textsOf(parts []conversation.Part) []string {
	var out []string
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case conversation.PartText:
			out = append(out, p.Text.Inline)
		case conversation.PartToolCall:
			out = append(out, p.Call.Arguments.Inline)
		case conversation.PartToolResult:
			out = append(out, p.Result.Text.Inline)
		}
	}
	return out
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?]["')\]]*(?:\s+|$)|\n+`)
	ruleWords   = regexp.MustCompile(`(?i)\b(?:must|never|always)\b`)
)

// rulesIn are the user's sentences that say what must, or must never, be done; each once.
func rulesIn(span []told) []found {
	seen := map[string]bool{}
	var out []found
	for _, m := range span {
		if m.role != conversation.RoleUser {
			continue
		}
		for _, text := range textsOf(m.parts) {
			for _, s := range sentencesOf(text) {
				if ruleWords.MatchString(s) && !seen[plain(s)] {
					seen[plain(s)] = true
					out = append(out, found{kind: rules, text: s, count: 1})
				}
			}
		}
	}
	return out
}

func sentencesOf(text string) []string {
	var out []string
	for at := 0; at < len(text); {
		end := len(text)
		if m := sentenceEnd.FindStringIndex(text[at:]); m != nil {
			end = at + m[1]
		}
		if s := strings.TrimSpace(text[at:end]); s != "" {
			out = append(out, s)
		}
		at = end
	}
	return out
}

// plain is a text in which only words count: white space, letter case and markup may differ where it is told again.
func plain(s string) string {
	s = strings.NewReplacer("*", " ", "`", " ", "#", " ", "\"", " ", "\\n", " ").Replace(strings.ToLower(s))
	return strings.TrimRight(strings.TrimLeft(strings.Join(strings.Fields(s), " "), "-+> "), ".!?:;,)] ")
}

var (
	address  = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'<>\\)\]]+`)
	escape   = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[ntr"\\])`)
	slashed  = regexp.MustCompile(`(?:~|\.{1,2})?/?(?:[A-Za-z0-9_.@+-]+/)+[A-Za-z0-9_.@+-]+|/[A-Za-z0-9_.@+-]+`)
	bareFile = regexp.MustCompile(`[A-Za-z0-9_-]+\.(?:go|py|tsx?|jsx?|json|md|ya?ml|toml|txt|sh|rs|c|h|cpp|java|html|css|cfg|ini|sql|lock|xml|csv)\b`)
	word     = regexp.MustCompile(`[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*`)
	digit    = regexp.MustCompile(`[0-9]`)
	letter   = regexp.MustCompile(`[A-Za-z]`)
	ext      = regexp.MustCompile(`\.[A-Za-z][A-Za-z0-9]{0,5}$`)
	// speech is what has digits and is still a word or a number with its unit: utf8, line2, 24bit, 256-color, 77-def, 2024-05-01.
	speech = regexp.MustCompile(`^(?:[A-Za-z]+[0-9]{1,2}|v?[0-9]+[-_]?[A-Za-z]+(?:-[A-Za-z]+)*|[0-9]{4}-[0-9]{2}-[0-9]{2}.*|` +
		`(?i:utf|sha|md|base|u?int|float|python|py|es|http|ipv)[-_]?[0-9]+.*)$`)
)

// namesIn are the paths and the ids in a text, each as often as it is said.
func namesIn(text string) map[string][]string {
	text = escape.ReplaceAllString(address.ReplaceAllString(text, " "), " ")
	out := map[string][]string{}
	for _, p := range slashed.FindAllString(text, -1) {
		if p = strings.TrimRight(p, ".,-+"); isPath(p) {
			out[paths] = append(out[paths], p)
		}
	}
	text = slashed.ReplaceAllString(text, " ")
	out[paths] = append(out[paths], bareFile.FindAllString(text, -1)...)
	for _, at := range word.FindAllStringIndex(text, -1) {
		if w := text[at[0]:at[1]]; isID(w) && !dotted(text, at) {
			out[ids] = append(out[ids], w)
		}
	}
	return out
}

// isPath says whether something with slashes names a file or a folder: it has an extension, or is absolute, or is deep.
func isPath(s string) bool {
	name := s[strings.LastIndexByte(s, '/')+1:]
	if strings.HasPrefix(name, ".") || !letter.MatchString(name) || len(s) < 5 {
		return false
	}
	slashes := strings.Count(s, "/")
	return ext.MatchString(name) || strings.HasPrefix(s, "/") && slashes > 1 || slashes > 2
}

// dotted says whether a word is a piece of something with points in it: a number, a version, an attribute.
func dotted(text string, at []int) bool {
	before := at[0] > 0 && text[at[0]-1] == '.'
	return before || at[1]+1 < len(text) && text[at[1]] == '.' && word.MatchString(text[at[1]+1:at[1]+2])
}

// isID says whether a word is one that only a machine would give: letters and digits mixed, or many digits.
func isID(s string) bool {
	n := len(digit.FindAllString(s, -1))
	if n == len(s) {
		return n >= 7
	}
	return n > 0 && len(s) >= 5 && letter.MatchString(s) && !speech.MatchString(s)
}
